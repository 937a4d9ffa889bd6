/**
 * The tree as docs/architecture.md draws it: who may import whom, and which files reach outside of the program. Both
 * tables are exact: what is not in them fails, and so does an entry that is no longer used.
 */
import assert from "node:assert/strict";
import { dirname, join, relative } from "node:path";
import config from "../deno.json" with { type: "json" };

const ROOT = join(import.meta.dirname ?? "", "..");
const MAX_LINES = 350;

/** Pure words, values and rules, which everything else may use; each imports only those before it. */
const BASE: readonly string[] = [
  "json.ts",
  "language",
  "limits.ts",
  "linked_abort.ts",
  "loopback.ts",
  "start_failure.ts",
  "version.ts",
  "sha256.ts",
  "digest.ts",
  "errors.ts",
  "redact.ts",
];

/**
 * Folders and files of src/, and what each imports beside the base: only what stands above it, so that imports go one way.
 * The longest name that fits a file is its place; `demo` is the kernel in demo/.
 */
const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  "clock.ts": [],
  "log.ts": [],
  "signals.ts": [],

  // What the stations hand to each other.
  "thread": [],
  "request/run_request.ts": [],
  "kernel/wire.ts": [],
  "mapping/event.ts": [],
  "mapping/interrupt.ts": ["mapping/event.ts", "thread"],

  // The stations, which do not know each other.
  "request": ["request/run_request.ts"],
  "admission": ["mapping/interrupt.ts", "request/run_request.ts", "thread"],
  "store": ["clock.ts", "thread"],
  "kernel": ["clock.ts", "kernel/wire.ts", "log.ts", "request/run_request.ts"],
  "mapping": ["kernel/wire.ts", "mapping/event.ts", "thread"],
  "stream": ["mapping/event.ts"],
  "console": [],

  // What joins them.
  "telemetry.ts": ["kernel", "log.ts", "thread"],
  "kernel/aftermath.ts": ["clock.ts", "kernel", "kernel/wire.ts", "log.ts", "telemetry.ts"],
  "run": [
    "admission",
    "clock.ts",
    "kernel",
    "kernel/aftermath.ts",
    "kernel/wire.ts",
    "log.ts",
    "mapping",
    "mapping/interrupt.ts",
    "request/run_request.ts",
    "stream",
    "telemetry.ts",
    "thread",
  ],
  "app.ts": ["console", "log.ts", "request", "request/run_request.ts", "run"],

  // The program around it.
  "idle.ts": ["clock.ts", "thread"],
  "config": [],
  "kernel/open.ts": ["config", "demo", "kernel", "log.ts"],
  "config/doctor.ts": ["clock.ts", "config", "kernel", "kernel/open.ts", "log.ts", "request", "store"],
  "server.ts": ["app.ts", "log.ts", "run"],
  "service.ts": [
    "app.ts",
    "clock.ts",
    "config",
    "idle.ts",
    "kernel",
    "kernel/aftermath.ts",
    "log.ts",
    "request",
    "run",
    "store",
    "telemetry.ts",
    "thread",
  ],
  "start.ts": ["config", "idle.ts", "kernel/open.ts", "log.ts", "server.ts", "service.ts", "store"],
};

/** What a file can do that does not hang on its arguments alone. */
const POWERS = {
  deno: /\bDeno\./,
  fetch: /\bfetch\(/,
  timer: /\b(?:set|clear)(?:Timeout|Interval)\b/,
  time: /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/,
  chance: /\brandomUUID\b|\bMath\.random\b|\bgetRandomValues\b/,
  worker: /\bnew Worker\(/,
};

/** The edges. Every other file of src/ is pure: it takes data and gives data, or acts through what it is handed. */
const EDGES: Readonly<Record<string, readonly (keyof typeof POWERS)[]>> = {
  "clock.ts": ["timer", "time", "chance"],
  "config/doctor.ts": ["deno", "time", "chance"],
  "config/permissions.ts": ["deno"],
  "config/read.ts": ["deno"],
  "config/surroundings.ts": ["deno"],
  "kernel/child.ts": ["deno", "timer", "chance"],
  "kernel/client.ts": ["deno", "fetch", "chance"],
  "kernel/health.ts": ["fetch", "timer"],
  "log.ts": ["deno", "timer"],
  "request/body.ts": ["timer"],
  "request/image.ts": ["timer", "worker"],
  "request/workspace.ts": ["deno"],
  "server.ts": ["deno"],
  "signals.ts": ["deno"],
  "start.ts": ["deno"],
  "store/atomic_file.ts": ["deno"],
  "store/lock.ts": ["deno"],
  "store/state_directory.ts": ["deno"],
  "store/thread_files.ts": ["deno"],
  "stream/response.ts": ["timer", "time"],
  "telemetry.ts": ["deno", "time"],
};

/** Modules of Node that compute and do nothing else. */
const PURE_NODE: readonly string[] = ["node:buffer", "node:crypto", "node:path", "node:util", "node:zlib"];

/** For a pure module that is to be loaded at its first use. */
const LOADER: Readonly<Record<string, string>> = { "src/sha256.ts": "node:process" };

interface Source {
  /** Its path below the root, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The text without comments. */
  readonly code: string;
}

async function* sourcesBelow(folder: string): AsyncGenerator<Source> {
  for await (const entry of Deno.readDir(join(ROOT, folder))) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory && entry.name !== "node_modules") yield* sourcesBelow(path);
    else if (/\.tsx?$/.test(entry.name)) yield await source(path);
  }
}

async function source(path: string): Promise<Source> {
  const text = await Deno.readTextFile(join(ROOT, path));
  // Comments begin lines here; anything else that looks like one may be part of a regular expression.
  const code = text.replace(/^\s*(?:\/\*[\s\S]*?\*\/|\/\/.*)$/gm, "");
  return { path, text, code };
}

async function sourcesIn(...folders: string[]): Promise<Source[]> {
  return (await Promise.all(folders.map((folder) => Array.fromAsync(sourcesBelow(folder))))).flat();
}

/** The modules that a file imports, those of the repository as paths below its root. */
function imports({ path, code }: Source): string[] {
  const found = code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g);
  return [...found].map(([, module = ""]) =>
    module.startsWith(".") ? relative(ROOT, join(ROOT, dirname(path), module)).replaceAll("\\", "/") : module
  );
}

const PLACES: readonly string[] = [...BASE, ...Object.keys(IMPORTS)];

/** Where a file stands in the tables: its place in src/, or the folder beside src/ that it lies in. */
function placeOf(path: string): string {
  if (!path.startsWith("src/")) return path.split("/")[0] ?? path;
  const inside = path.slice("src/".length);
  const fitting = PLACES.filter((place) => inside === place || inside.startsWith(`${place}/`));
  return fitting.sort((a, b) => b.length - a.length)[0] ?? `nowhere: ${path}`;
}

/** The other places that a place imports. */
function neighbours(files: readonly Source[], place: string): string[] {
  const modules = files.filter(({ path }) => placeOf(path) === place).flatMap(imports);
  const local = modules.filter((module) => /\.[a-z]+$/.test(module) && module.includes("/") && !module.startsWith("@"));
  return sorted(local.map(placeOf).filter((other) => other !== place));
}

function sorted(values: Iterable<string>): string[] {
  return [...new Set(values)].sort();
}

/** Everything that somebody wrote here, in whatever folder. */
async function allSources(): Promise<Source[]> {
  const made = ["dist", "node_modules"];
  const folders = await Array.fromAsync(Deno.readDir(ROOT), ({ name, isDirectory }) => {
    return isDirectory && !name.startsWith(".") && !made.includes(name) ? [name] : [];
  });
  return [...await sourcesIn(...folders.flat()), await source("main.ts")];
}

Deno.test("every file of src has a place, and every place has files", async () => {
  const places = (await sourcesIn("src")).map(({ path }) => placeOf(path));
  assert.deepEqual(sorted(places), sorted(PLACES));
});

Deno.test("what everything may use imports only what stands before it", async () => {
  const files = await sourcesIn("src");
  for (const [at, place] of BASE.entries()) {
    const above = neighbours(files, place).filter((other) => !BASE.slice(0, at).includes(other));
    assert.deepEqual(above, [], place);
  }
});

Deno.test("each place imports what its row says, nothing else, and nothing below it", async () => {
  const files = await sourcesIn("src");
  const known = [...BASE, "demo"];
  for (const [place, row] of Object.entries(IMPORTS)) {
    assert.deepEqual(neighbours(files, place).filter((other) => !BASE.includes(other)), sorted(row), place);
    assert.deepEqual(row.filter((other) => !known.includes(other)), [], `${place} imports what stands below it`);
    known.push(place);
  }
});

Deno.test("no file imports itself by way of others", async () => {
  const files = await sourcesIn("src", "demo");
  const graph = new Map(files.map((file) => [file.path, imports(file)]));
  const done = new Set<string>();
  function visit(path: string, way: readonly string[]): void {
    assert.ok(!way.includes(path), [...way, path].join(" → "));
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...way, path]);
    done.add(path);
  }
  for (const path of graph.keys()) visit(path, []);
});

Deno.test("only the edges reach clock, chance, disk, network and the system, each only what it needs", async () => {
  const actual = (await sourcesIn("src")).flatMap(({ path, code }): [string, string[]][] => {
    const powers = Object.entries(POWERS).filter(([, names]) => names.test(code)).map(([power]) => power);
    return powers.length > 0 ? [[path.slice("src/".length), powers]] : [];
  });
  assert.deepEqual(Object.fromEntries(actual), EDGES);
});

Deno.test("no file goes around the edges: no globals by other names, no modules of Node that do I/O", async () => {
  for (const file of await sourcesIn("src")) {
    const { path, code } = file;
    assert.doesNotMatch(code, /\bglobalThis\b|\beval\(|\bnew Function\(|\bWebSocket\b/, path);
    const node = imports(file).filter((module) => module.startsWith("node:") && !PURE_NODE.includes(module));
    assert.deepEqual(node, path in LOADER ? [LOADER[path]] : [], path);
    if (path in LOADER) {
      assert.deepEqual(code.match(/\bgetBuiltinModule\([^)]*\)/g), ['getBuiltinModule("node:crypto")']);
    }
  }
});

Deno.test("no finding of lint, formatter or compiler is silenced", async () => {
  const silencers = ["lint", "fmt", "coverage"].map((tool) => `deno-${tool}-ignore`)
    .concat(["ignore", "expect-error", "nocheck"].map((directive) => `@ts-${directive}`));
  const silenced = (await allSources())
    .filter(({ text }) => silencers.some((silencer) => text.includes(silencer)));
  assert.deepEqual(silenced.map(({ path }) => path), []);
});

Deno.test("nothing follows several signals but by way of linked_abort.ts, since Deno may forget one that does", async () => {
  for (const { path, code } of await sourcesIn("src", "demo")) {
    assert.doesNotMatch(code, /AbortSignal\.(any|timeout)/, path);
  }
});

Deno.test("a file has at most 350 lines", async () => {
  const long = (await allSources())
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split("\n").length }))
    .filter(({ lines }) => lines > MAX_LINES);
  assert.deepEqual(long, []);
});

Deno.test("a file is named after its idea, in lower case, and hands on nothing that is not its own", async () => {
  const vague = /(^|_)(utils?|helpers?|common|types|misc|shared|index|mod)$/;
  for (const { path, code } of await sourcesIn("src", "demo")) {
    const name = path.split("/").at(-1)?.replace(/\.tsx?$/, "") ?? "";
    assert.match(name, /^[a-z0-9]+(_[a-z0-9]+)*$/, path);
    assert.doesNotMatch(name, vague, path);
    assert.doesNotMatch(code, /^export \*/m, `${path} is a barrel`);
  }
});

Deno.test("every package is one of npm in exactly one version", () => {
  for (const [name, target] of Object.entries(config.imports)) {
    assert.match(target, /^npm:(@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+(\/[\w./-]+)?$/, name);
  }
});
