/** Streams with a delta every 20 ms, as a model speaks: latency, first byte, memory. */
import { type Bench, repeat, withTargets } from "./bench.ts";
import type { StreamsJob } from "./load.ts";
import { cpuOf, IS_KNOWN, memoryOf, withPeakMemory } from "./process.ts";
import type { Target } from "./programs.ts";
import type { Figure, Goal } from "./report.ts";

const GAP_MS = 20;
/**
 * A little less than all of the time over which the streams begin. With all of it, each would begin a multiple of half a gap
 * after the first, and 100 deltas come at the same moment, which no 200 models do.
 */
const SPREAD = 0.995;
/** Runs as fast as they go, before paced ones, for what V8 has to see often. */
const WARM_UP_RUNS = 20;
const TO_PIPE: readonly Goal[] = [{ to: "pipe", most: 2 }];

export function paced20(bench: Bench): Promise<Figure[]> {
  return paced(bench, 20, 500, []);
}

export function paced200(bench: Bench): Promise<Figure[]> {
  return paced(bench, 200, 2_000, TO_PIPE);
}

async function paced(bench: Bench, streams: number, overMs: number, goals: readonly Goal[]): Promise<Figure[]> {
  const { ours, pipe, scriptPipe, python } = bench;
  return await withTargets(bench, [ours, pipe, scriptPipe, python], async (targets) => {
    for (const target of targets) await warmUp(bench, target);
    const values = await repeat(bench, targets, (target) => measure(bench, target, streams, overMs));
    const name = `${streams} paced streams`;
    return [
      { name, unit: "latency p50 ms", values: values.latency50 },
      { name, unit: "latency p99 ms", values: values.latency99, goals },
      { name, unit: "first byte p50 ms", values: values.first50, goals },
      { name, unit: "first byte p99 ms", values: values.first99 },
      ...(IS_KNOWN ? [{ name, unit: "CPU s per 10,000 events", values: values.cpu }] : []),
    ];
  });
}

async function measure({ load, folder, quick }: Bench, { url, pid }: Target, streams: number, overMs: number) {
  const job = pacedJob(url, folder, streams, overMs, quick ? 2_000 : 4_000);
  const before = IS_KNOWN ? cpuOf(pid) : 0;
  const { latency, firstByte } = await load.run(job);
  const cpu = IS_KNOWN ? (cpuOf(pid) - before) / (streams * job.script.frames) * 10_000 : NaN;
  return { latency50: latency.p50, latency99: latency.p99, first50: firstByte.p50, first99: firstByte.p99, cpu };
}

async function warmUp({ load, folder }: Bench, { name, url }: Target): Promise<void> {
  if (name === "python") return;
  const script = { wire: "text", frames: 400, write: 1, gapMs: 0 } as const;
  const job: StreamsJob = { job: "streams", url, cwd: folder, streams: 10, overMs: 0, script };
  for (let run = 0; run < WARM_UP_RUNS; run++) await load.run(job);
}

function pacedJob(url: string, cwd: string, streams: number, overMs: number, ms: number): StreamsJob {
  const script = { wire: "text", frames: ms / GAP_MS, write: 1, gapMs: GAP_MS } as const;
  return { job: "streams", url, cwd, streams, overMs: overMs * SPREAD, script };
}

/** Memory of a server that has just started, and while it carries 200 streams. */
export async function memory(bench: Bench): Promise<Figure[]> {
  if (!IS_KNOWN) return [];
  const { ours, pipe, scriptPipe, python, load, folder, quick } = bench;
  return await withTargets(bench, [ours, pipe, scriptPipe, python], async (targets) => {
    const idle: Record<string, number[]> = {};
    const busy: Record<string, number[]> = {};
    for (const { name, url, pid } of targets) {
      idle[name] = [memoryOf(pid)];
      const job = pacedJob(url, folder, 200, 2_000, quick ? 2_000 : 4_000);
      busy[name] = [(await withPeakMemory(pid, () => load.run(job))).peak];
    }
    return [
      { name: "memory idle", unit: "MiB", values: idle, goals: [{ most: 60 }] },
      { name: "memory at 200 streams", unit: "MiB", values: busy, goals: [{ most: 100 }] },
    ];
  });
}
