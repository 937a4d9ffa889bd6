/**
 * Measures the server against a bare pipe and, where it is installed, the Python adapter, in one run on one machine
 * (docs/performance.md). Prints a table and JSON; ends with `N passed, N failed`, and code 1 when a goal was missed.
 *
 *   --quick             within a minute; half of a goal is enough
 *   --only SCENARIO     one scenario; may be repeated
 *   --executable PATH   also measures the start of this executable; all files lie on a disk then
 *
 * Files are in memory (/dev/shm), or where TMPDIR says: then the disk is measured, too. PYTHON_ADAPTER names the command of
 * the Python adapter; the default is `iac-code agui`, when there is one.
 */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Bench, Scenario } from "./bench.ts";
import { disk } from "./disk.ts";
import { memory, paced20, paced200 } from "./paced.ts";
import {
  executable,
  OURS,
  PIPE,
  pythonAdapter,
  SCRIPT_PIPE,
  startKernel,
  startLoad,
  type TargetKind,
} from "./programs.ts";
import { type Figure, judge, table } from "./report.ts";
import { start } from "./start.ts";
import { burst, fifty, mixed } from "./throughput.ts";
import { manyThreads, turns2000, turns600 } from "./turns.ts";

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  start,
  memory,
  burst,
  fifty,
  mixed,
  paced20,
  paced200,
  turns600,
  turns2000,
  threads: manyThreads,
  disk,
};
/** Left out of `--quick`: what they show, others show in less time. */
const SLOW = new Set(["paced20", "turns2000"]);
const IN_MEMORY = "/dev/shm";

function say(line: string): void {
  const bytes = new TextEncoder().encode(`${line}\n`);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

/**
 * Where all files of a measurement lie: in memory, where there is such a folder, since the servers are compared with a pipe
 * that writes none, and disks differ by a hundred times. TMPDIR names another place. An executable has not all permissions,
 * which Deno asks for below /dev.
 */
async function makeFolder(hasExecutable: boolean): Promise<string> {
  const isElsewhere = Deno.env.has("TMPDIR") || hasExecutable || !existsSync(IN_MEMORY);
  const made = await Deno.makeTempDir({ prefix: "agui-bench-", ...(!isElsewhere && { dir: IN_MEMORY }) });
  say(`thread files are in ${made}`);
  return await Deno.realPath(made);
}

async function findPython(): Promise<TargetKind | undefined> {
  const words = (Deno.env.get("PYTHON_ADAPTER") ?? "iac-code agui").split(" ");
  const [command = "", ...args] = words;
  try {
    const { success } = await new Deno.Command(command, { args: [...args, "--help"], stdout: "null", stderr: "null" })
      .output();
    if (success) return pythonAdapter(words);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  say("the Python adapter is not installed: PYTHON_ADAPTER can name its command");
  return undefined;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      executable: { type: "string" },
    },
  });
  const { quick, only } = values;
  const unknown = only.filter((name) => !Object.hasOwn(SCENARIOS, name));
  if (unknown.length > 0) {
    say(`unknown: ${unknown.join(", ")}; there are ${Object.keys(SCENARIOS).join(", ")}`);
    return 2;
  }
  const folder = await makeFolder(values.executable !== undefined);
  const kernel = await startKernel();
  const load = startLoad();
  const compiled = values.executable === undefined ? undefined : executable(await Deno.realPath(values.executable));
  const python = await findPython();
  const bench: Bench = {
    load,
    kernel: kernel.url,
    folder,
    quick,
    ours: OURS,
    pipe: PIPE,
    scriptPipe: SCRIPT_PIPE,
    python,
    executable: compiled,
    say,
  };
  const names = only.length > 0 ? only : Object.keys(SCENARIOS).filter((name) => !quick || !SLOW.has(name));
  const figures: Figure[] = [];
  try {
    for (const name of names) {
      say(`measuring ${name} …`);
      figures.push(...await SCENARIOS[name]?.(bench) ?? []);
    }
  } finally {
    await load.stop();
    await kernel.stop();
    await Deno.remove(folder, { recursive: true });
  }
  return report(figures, quick);
}

function report(figures: readonly Figure[], quick: boolean): number {
  const rows = figures.map((figure) => judge(figure, quick ? 2 : 1));
  const goals = rows.flatMap((row) => row.goals).filter(({ passed }) => passed !== undefined);
  const failed = goals.filter(({ passed }) => passed === false).length;
  say(`\n${table(rows)}\n`);
  if (quick) say("--quick: half of a goal is enough");
  say(JSON.stringify(rows));
  say(`\n${goals.length - failed} passed, ${failed} failed`);
  return failed > 0 ? 1 : 0;
}

Deno.exit(await main());
