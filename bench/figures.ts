/** Statistics of a few measurements. Pure. */

/** The value below which the share `q` of the values lies; NaN when there are none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? NaN;
}

/** The middle of the values, or the mean of the two in the middle; NaN when there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = Math.floor(sorted.length / 2);
  const lower = Math.floor((sorted.length - 1) / 2);
  return ((sorted[lower] ?? NaN) + (sorted[upper] ?? NaN)) / 2;
}

/** The middle of the ratios of what was measured side by side: a machine that is busy for a while slows both down. */
export function medianRatio(values: readonly number[], others: readonly number[]): number {
  return median(others.map((other, at) => (values[at] ?? NaN) / other).filter((ratio) => !Number.isNaN(ratio)));
}
