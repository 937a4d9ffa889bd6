/** From the start of the program to its first answer. */
import { type Bench, repeat } from "./bench.ts";
import { startTarget } from "./programs.ts";
import type { Figure } from "./report.ts";

/** Start of the sources with a warm cache (the warm-up fills it), of the executable when there is one, and of the others. */
export async function start(bench: Bench): Promise<Figure[]> {
  const { ours, pipe, python, executable, kernel, folder } = bench;
  const kinds = [ours, pipe, python, executable].filter((kind) => kind !== undefined);
  const { ms } = await repeat(bench, kinds, async (kind) => {
    const target = await startTarget(kind, kernel, folder);
    await target.stop();
    return { ms: target.startMs };
  });
  const { executable: compiled, ...rest } = ms;
  return [
    { name: "start to first /health", unit: "ms", values: rest, goals: [{ most: 200 }] },
    ...(compiled
      ? [{ name: "start of the executable", unit: "ms", values: { ours: compiled }, goals: [{ most: 150 }] }]
      : []),
  ];
}
