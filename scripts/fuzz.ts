/**
 * Sends the service what is almost right: mutated bodies, heads of requests, frames and answers of the kernel, and thread
 * files; and looks for crashes, unexplained 5xx, streams that break the rules, hangs and growth (docs/reliability.md).
 *
 *   deno run -A scripts/fuzz.ts [--cases 100000 | --seconds 60] [--seed 1] [--only bodies|headers|frames|files]
 *
 * A case that fails is printed with the seed that repeats it alone: --seed S --cases 1 --only KIND. Exit code 1 then.
 */
import { parseArgs } from "node:util";
import { collectGarbage } from "../tests/support/collect_garbage.ts";
import { hastyClock } from "../tests/support/hasty_clock.ts";
import { seeded } from "../tests/support/random.ts";
import { startServer, type TestServer } from "../tests/support/server.ts";
import { askPermission, type StandInKernel, startStandIn } from "../tests/support/stand_in_kernel.ts";
import { FUZZ_CASES } from "./fuzz_cases.ts";

const MIB = 1024 * 1024;
/** A case that takes longer hangs. */
const HANG_MS = 15_000;
const TIDY_AFTER = 500;
const TOLD_AFTER = 5_000;
const GROWTH_BYTES = 32 * MIB;
const MOST_PROBLEMS = 10;

const options = parseArgs({
  options: {
    cases: { type: "string" },
    seconds: { type: "string" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
  },
}).values;

const problems: string[] = [];
globalThis.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  problems.push(`unhandled rejection: ${event.reason instanceof Error ? event.reason.stack : event.reason}`);
});
await fuzz();
for (const problem of problems.slice(0, MOST_PROBLEMS)) say(`FAILED: ${problem}`);
say(problems.length === 0 ? "fuzz passed" : `${problems.length} problems`);
Deno.exit(problems.length === 0 ? 0 : 1);

async function fuzz(): Promise<void> {
  const until = performance.now() + Number(options.seconds ?? Infinity) * 1_000;
  const most = Number(options.cases ?? (options.seconds === undefined ? 100_000 : Infinity));
  const kinds = Object.entries(FUZZ_CASES).filter(([name]) => options.only === undefined || options.only === name);
  if (kinds.length === 0) throw new RangeError(`--only: one of ${Object.keys(FUZZ_CASES).join(", ")}`);
  const kernel = startStandIn();
  const server = await startServer(kernel.url, { edges: { clock: hastyClock(), bodyMs: 1_000 } });
  kernel.turn(askPermission());
  await (await server.run("template", "run-0")).last();
  const counts = new Map<string, number>();
  const first = Number(options.seed);
  const began = performance.now();
  let number = 0;
  let warm: Look | undefined;
  for (; number < most && performance.now() < until && problems.length < MOST_PROBLEMS; number++) {
    const [name, tryCase] = kinds[number % kinds.length] ?? [];
    if (name === undefined || tryCase === undefined) break;
    const seed = first + number;
    const wrong = await within(tryCase({ server, kernel, random: seeded(seed), number }));
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const faults = [wrong, ...kernel.forget().map((error) => `a script of ours failed: ${error}`), ...failures(server)];
    for (const fault of faults) if (fault !== undefined) problems.push(`${name}, --seed ${seed}: ${fault}`);
    if ((number + 1) % TIDY_AFTER !== 0) continue;
    const look = await tidy(server, kernel);
    if ((number + 1) % TOLD_AFTER === 0) say(`${number + 1} cases`);
    // The first tidying up comes before everything has been used.
    if (number + 1 === 4 * TIDY_AFTER) warm = look;
    if (warm) compare(warm, look, number + 1);
  }
  const look = await tidy(server, kernel);
  const seconds = (performance.now() - began) / 1_000;
  say(
    `${number} cases in ${seconds.toFixed(0)} s: ${[...counts].map(([name, count]) => `${count} ${name}`).join(", ")}`,
  );
  say(
    `heap ${mib(warm?.heapBytes ?? look.heapBytes)} MiB warm, ${mib(look.heapBytes)} MiB at the end; files ${
      warm?.files ?? look.files
    } and ${look.files}; seeds ${first} to ${first + number - 1}`,
  );
}

async function within(trying: Promise<string | undefined>): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve(`no end within ${HANG_MS} ms`), HANG_MS);
  try {
    return await Promise.race([trying, promise]);
  } catch (error) {
    return error instanceof Error ? error.stack ?? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}

/** What the service itself has called a failure of its own. */
function failures({ complaints }: TestServer): string[] {
  return complaints.splice(0).filter((line) => /^(a request failed|a run failed|a run's end failed)/.test(line));
}

interface Look {
  readonly heapBytes: number;
  readonly files: number;
}

/** Waits until nothing is under way, removes the thread files, and looks at what is held. */
async function tidy(server: TestServer, kernel: StandInKernel): Promise<Look> {
  const { runs, aftermath, registry } = server.services;
  const settled = (async () => {
    while (runs.size > 0) await Promise.all([...runs].map(({ finished }) => finished));
    await aftermath.settled();
  })();
  const late = await within(settled.then(() => undefined));
  if (late !== undefined) problems.push(`${runs.size} runs and ${aftermath.size} cancellations do not end: ${late}`);
  if (registry.size > 0) problems.push(`${registry.size} threads are not free`);
  for await (const { name } of Deno.readDir(server.threads)) {
    if (name !== "template.json") await Deno.remove(`${server.threads}/${name}`, { recursive: true });
  }
  await kernel.closeIdle();
  collectGarbage();
  const files = (await Array.fromAsync(Deno.readDir("/proc/self/fd"))).length;
  return { heapBytes: Deno.memoryUsage().heapUsed, files };
}

function compare(warm: Look, look: Look, cases: number): void {
  if (look.heapBytes > warm.heapBytes + GROWTH_BYTES) {
    problems.push(`the heap grew from ${mib(warm.heapBytes)} to ${mib(look.heapBytes)} MiB after ${cases} cases`);
  }
  if (look.files > warm.files + 20) problems.push(`open files grew from ${warm.files} to ${look.files}`);
}

function mib(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
