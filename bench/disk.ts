/** What a turn does to the disk: files that are replaced, and folders that are looked through. */
import { type Bench, withTargets } from "./bench.ts";
import type { TurnsJob } from "./load.ts";
import type { Target } from "./programs.ts";
import type { Figure } from "./report.ts";

const TURNS = 20;

/** Replacements of files in a turn of 4 deltas and in one of 400; reads of a folder in 20 turns, where strace can tell. */
export async function disk(bench: Bench): Promise<Figure[]> {
  const { ours, say } = bench;
  return await withTargets(bench, [ours], async ([target]) => {
    if (!target) return [];
    const short = await replacements(bench, target, 4);
    const long = await replacements(bench, target, 400);
    const scans = await folderReads(bench, target);
    if (scans === undefined) say("strace is not at hand: whether a turn looks through a folder was not measured");
    return [
      { name: "ordinary turn", unit: "disk writes", values: { ours: [short] }, goals: [{ most: 3 }] },
      { name: "396 deltas more", unit: "disk writes", values: { ours: [long - short] }, goals: [{ most: 0 }] },
      ...(scans === undefined ? [] : [{
        name: "20 threads looked up",
        unit: "reads of a folder",
        values: { ours: [scans] },
        goals: [{ most: 0 }],
      }]),
    ];
  });
}

function turns({ folder }: Bench, { url }: Target, frames: number): TurnsJob {
  const script = { wire: "text", frames, write: 4, gapMs: 0 } as const;
  return { job: "turns", url, cwd: folder, turns: TURNS, threads: "each", side: 1, script };
}

/** Files that were put in place, a turn: each replacement renames a temporary file. */
async function replacements(bench: Bench, target: Target, frames: number): Promise<number> {
  const watcher = Deno.watchFs(`${target.state}/threads`);
  let renamed = 0;
  const watching = (async () => {
    for await (const { kind, paths } of watcher) {
      if (kind === "rename" && paths.length === 2) renamed++;
      if (paths.some((path) => path.endsWith("/the-end"))) return;
    }
  })();
  await bench.load.run(turns(bench, target, frames));
  // What was written is told in its order: a file of our own comes last.
  await Deno.writeTextFile(`${target.state}/threads/the-end`, "");
  await watching;
  watcher.close();
  await Deno.remove(`${target.state}/threads/the-end`);
  return renamed / TURNS;
}

/** How often a folder was read; undefined when strace does not work here. */
async function folderReads(bench: Bench, target: Target): Promise<number | undefined> {
  const trace = `${bench.folder}/trace`;
  const args = ["-f", "-e", "trace=getdents64,rename,renameat2", "-p", String(target.pid), "-o", trace];
  let strace: Deno.ChildProcess;
  try {
    strace = new Deno.Command("strace", { args, stdin: "null", stdout: "null", stderr: "piped" }).spawn();
  } catch {
    return undefined;
  }
  // Its first words say that it has taken hold, or why it has not.
  const reader = strace.stderr.getReader();
  const { value } = await reader.read();
  const held = new TextDecoder().decode(value).includes("attached");
  if (held) await bench.load.run(turns(bench, target, 4));
  if (held) strace.kill("SIGINT");
  while (!(await reader.read()).done);
  await strace.status;
  const seen = await Deno.readTextFile(trace);
  // It must have seen the turns' replacements, or what it has not seen says nothing.
  return held && seen.includes("rename") ? seen.split("getdents64(").length - 1 : undefined;
}
