/** Turns one after the other: what a long thread, and many threads, cost. */
import { type Bench, type Values, withTargets } from "./bench.ts";
import { median } from "./figures.ts";
import type { TurnsJob } from "./load.ts";
import { IS_KNOWN, memoryOf } from "./process.ts";
import type { Target } from "./programs.ts";
import type { Figure } from "./report.ts";

const AT_EACH_END = 50;
const WARM_UP_TURNS = 300;
/** With these V8's heap has grown to what turns take, whatever their threads are: what comes on top of it is kept. */
const SETTLING_TURNS = 2_000;
/** Memory is looked at when the garbage of the last turns had time to go. */
const SETTLE_MS = 3_000;

const script = { wire: "text", frames: 4, write: 4, gapMs: 0 } as const;

function turnsJob({ folder }: Bench, { url }: Target, turns: number, threads: TurnsJob["threads"], side = 1): TurnsJob {
  return { job: "turns", url, cwd: folder, turns, threads, side, script };
}

export function turns600(bench: Bench): Promise<Figure[]> {
  return longThread(bench, 600, 1.2);
}

export function turns2000(bench: Bench): Promise<Figure[]> {
  return longThread(bench, 2_000, 1.5);
}

/** The last 50 turns of a thread against its first 50. */
async function longThread(bench: Bench, turns: number, most: number): Promise<Figure[]> {
  const { ours, python, load, quick } = bench;
  const first: Values = {};
  const last: Values = {};
  const growth: Values = {};
  // Nothing hangs on its figures here, and its turns take a minute.
  await withTargets(bench, [ours, turns <= 600 && !quick ? python : undefined], async (targets) => {
    for (const target of targets) await load.run(turnsJob(bench, target, WARM_UP_TURNS, "each"));
    for (let at = 0; at < (quick ? 1 : 5); at++) {
      for (const target of targets) {
        if (target.name === "python" && at > 0) continue;
        const times = (await load.run(turnsJob(bench, target, turns, "one"))).turns;
        const ends = [median(times.slice(0, AT_EACH_END)), median(times.slice(-AT_EACH_END))] as const;
        (first[target.name] ??= []).push(ends[0]);
        (last[target.name] ??= []).push(ends[1]);
        (growth[target.name] ??= []).push(ends[1] / ends[0]);
      }
    }
  });
  const name = `${turns.toLocaleString("en")} turns in a thread`;
  return [
    { name, unit: "first 50: ms", values: first },
    { name, unit: "last 50: ms", values: last },
    { name, unit: "last ÷ first", values: growth, goals: [{ most }] },
  ];
}

/** What stays in memory of threads that were touched once. */
export async function manyThreads(bench: Bench): Promise<Figure[]> {
  if (!IS_KNOWN) return [];
  const { ours, load, quick } = bench;
  const threads = quick ? 2_000 : 10_000;
  return await withTargets(bench, [ours], async ([target]) => {
    if (!target) return [];
    await load.run(turnsJob(bench, target, SETTLING_TURNS, "each", 8));
    await settle();
    const before = memoryOf(target.pid);
    await load.run(turnsJob(bench, target, threads, "each", 8));
    await settle();
    const more = [memoryOf(target.pid) - before];
    const name = `${threads.toLocaleString("en")} threads touched`;
    return [{ name, unit: "MiB more", values: { ours: more }, goals: [{ most: 20 }] }];
  });
}

function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}
