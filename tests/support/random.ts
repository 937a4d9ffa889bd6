/** Chance that repeats itself: the same seed gives the same story. */
export interface Random {
  /** A number from 0 up to 1, without 1. */
  next(): number;
  /** An integer from `from` to `to`, both possible. */
  between(from: number, to: number): number;
  /** One of several. */
  pick<T>(items: readonly T[]): T;
  /** True about so often, from 0 to 1. */
  chance(share: number): boolean;
}

/** Mulberry32. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const between = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    between,
    pick(items) {
      const item = items[between(0, items.length - 1)];
      if (item === undefined) throw new RangeError("nothing to pick from");
      return item;
    },
    chance: (share) => next() < share,
  };
}
