/** The program as an operator has it: a process with flags, permissions and an environment, and what it tells. */
import assert from "node:assert/strict";

export interface ProgramOptions {
  readonly args?: readonly string[];
  /** Permission flags for deno; all by default. */
  readonly permissions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Path below the project. */
  readonly script?: string;
  /** How many files it may have open; as many as the tests may by default. */
  readonly files?: number;
}

export interface Program extends AsyncDisposable {
  readonly pid: number;
  /** Standard output and standard error so far. */
  output(): string;
  /** Standard output alone. */
  standardOutput(): string;
  /** The first match in the output; fails when the program ends without one. */
  told(pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: Deno.Signal): void;
  /** The exit code, when all output is read. */
  readonly ended: Promise<number>;
}

const PROJECT = new URL("../../", import.meta.url).pathname;
/** What deno itself needs; nothing that the service reads comes from outside of a test. */
const KEPT = ["PATH", "HOME", "DENO_DIR", "XDG_CACHE_HOME", "DENO_TLS_CA_STORE", "TMPDIR"];

/** Starts the program. */
export function startProgram(options: ProgramOptions = {}): Program {
  const { args = [], permissions = ["-A"], env = {}, script = "main.ts", files } = options;
  const kept = KEPT.flatMap((name) => Deno.env.has(name) ? [[name, Deno.env.get(name) ?? ""]] : []);
  const config = ["--config", `${PROJECT}deno.json`];
  const command = [
    Deno.execPath(),
    "run",
    "--no-prompt",
    "--quiet",
    ...permissions,
    ...config,
    PROJECT + script,
    ...args,
  ];
  const [name = "", ...rest] = files === undefined
    ? command
    : ["sh", "-c", `ulimit -n ${files}; exec "$@"`, "sh", ...command];
  const child = new Deno.Command(name, {
    args: rest,
    env: { ...Object.fromEntries(kept), ...env },
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  return watch(child);
}

/** Runs the program to its end. */
export async function runProgram(options: ProgramOptions = {}): Promise<{ code: number; output: string }> {
  await using program = startProgram(options);
  return { code: await program.ended, output: program.output() };
}

function watch(child: Deno.ChildProcess): Program {
  let output = "";
  let standardOutput = "";
  let isOver = false;
  const watchers = new Set<() => void>();
  const changed = (): void => watchers.forEach((watcher) => watcher());

  async function read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      output += piece;
      if (stream === child.stdout) standardOutput += piece;
      changed();
    }
  }

  const ended = (async () => {
    await Promise.all([read(child.stdout), read(child.stderr)]);
    const { code } = await child.status;
    isOver = true;
    changed();
    return code;
  })();

  return {
    pid: child.pid,
    ended,
    output: () => output,
    standardOutput: () => standardOutput,
    signal: (name) => child.kill(name),
    async told(pattern) {
      while (true) {
        const found = pattern.exec(output);
        if (found) return found;
        assert.ok(!isOver, `the program ended without ${pattern}: ${output}`);
        const { promise, resolve } = Promise.withResolvers<void>();
        watchers.add(resolve);
        await promise;
        watchers.delete(resolve);
      }
    },
    async [Symbol.asyncDispose]() {
      if (!isOver) child.kill("SIGTERM");
      await ended;
    },
  };
}

/** The URL that a service tells when it listens. */
export async function urlOf(program: Program): Promise<string> {
  const [, url = ""] = await program.told(/listening url=(\S+)/);
  return url;
}
