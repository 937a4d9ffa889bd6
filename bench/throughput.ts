/** Streams that go as fast as they are taken: burst, 50 side by side, the mixed wire. */
import { type Bench, repeat, withTargets } from "./bench.ts";
import type { StreamsJob } from "./load.ts";
import { cpuOf, IS_KNOWN } from "./process.ts";
import type { Target } from "./programs.ts";
import type { Figure, Goal } from "./report.ts";
import type { Script } from "./wire.ts";

const GOALS: readonly Goal[] = [{ to: "pipe", least: 0.4 }, { to: "python", least: 8 }];
const EVENTS = 20_000;
/** Runs of the job that are measured as one: a single one is over in 50 ms, too soon for a clock of 10 ms and a busy machine. */
const IN_A_ROW = 5;
const IN_A_ROW_QUICK = 2;
/** With these, 400,000 events have passed before anything counts; with `--quick` 160,000. */
const WARM_UPS = 4;

export function burst(bench: Bench): Promise<Figure[]> {
  return throughput(bench, "burst 1 × 20,000", 1, "text");
}

export function fifty(bench: Bench): Promise<Figure[]> {
  return throughput(bench, "50 × 400", 50, "text");
}

export function mixed(bench: Bench): Promise<Figure[]> {
  return throughput(bench, "mixed wire", 1, "mixed");
}

async function throughput(bench: Bench, name: string, streams: number, wire: Script["wire"]): Promise<Figure[]> {
  const { ours, pipe, scriptPipe, python } = bench;
  return await withTargets(bench, [ours, pipe, scriptPipe, python], async (targets) => {
    const values = await repeat(bench, targets, (target) => measure(bench, target, streams, wire), WARM_UPS);
    const unit = wire === "mixed" ? "frames/s" : "events/s";
    const rates: Figure = { name, unit, values: values.rate, goals: GOALS };
    return [rates, ...(IS_KNOWN ? [{ name, unit: "CPU s per 10,000", values: values.cpu }] : [])];
  });
}

async function measure({ load, folder, quick }: Bench, target: Target, streams: number, wire: Script["wire"]) {
  // Slower by an order of magnitude: a rate shows with less.
  const isSlow = target.name === "python";
  const events = isSlow && quick ? EVENTS / 5 : EVENTS;
  const runs = isSlow ? 1 : quick ? IN_A_ROW_QUICK : IN_A_ROW;
  const script: Script = { wire, frames: events / streams, write: 64, gapMs: 0 };
  const job: StreamsJob = { job: "streams", url: target.url, cwd: folder, streams, overMs: 0, script };
  const before = IS_KNOWN ? cpuOf(target.pid) : 0;
  let ms = 0;
  for (let run = 0; run < runs; run++) {
    const result = await load.run(job);
    if (result.records < events) throw new Error(`${target.name} lost events: ${result.records} of ${events}`);
    ms += result.ms;
  }
  const cpu = IS_KNOWN ? (cpuOf(target.pid) - before) / (events * runs) * 10_000 : NaN;
  return { rate: events * runs / ms * 1000, cpu };
}
