/** Clocks for tests: one that stands until it is moved, and the real one with another idea of the time of day. */
import { type Clock, systemClock } from "../../src/clock.ts";

export interface FakeClock extends Clock {
  /** Moves on, waking who waits, in order; what they do is done before the next one wakes. */
  advance(ms: number): Promise<void>;
  /** Resolves when somebody waits for between `atLeast` and `atMost` ms from now. */
  waiting(atLeast: number, atMost?: number): Promise<number>;
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that stands at `start` (ms since the epoch). */
export function fakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let elapsed = 0;
  const sleepers = new Set<Sleeper>();
  const watchers = new Set<() => void>();

  function next(until: number): Sleeper | undefined {
    const due = [...sleepers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
    return due[0];
  }

  return {
    now: () => start + elapsed,
    elapsed: () => elapsed,
    newId: () => crypto.randomUUID(),
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = (): void => {
        sleepers.delete(sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper: Sleeper = { at: elapsed + ms, wake };
      sleepers.add(sleeper);
      signal?.addEventListener("abort", wake);
      for (const look of watchers) look();
      return promise;
    },
    async advance(ms) {
      const until = elapsed + ms;
      for (let sleeper = next(until); sleeper; sleeper = next(until)) {
        elapsed = Math.max(elapsed, sleeper.at);
        sleeper.wake();
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      elapsed = until;
    },
    async waiting(atLeast, atMost = atLeast) {
      while (true) {
        const found = [...sleepers].map(({ at }) => at - elapsed).find((ms) => ms >= atLeast && ms <= atMost);
        if (found !== undefined) return found;
        const { promise, resolve } = Promise.withResolvers<void>();
        watchers.add(resolve);
        await promise;
        watchers.delete(resolve);
      }
    },
  };
}

export interface ShiftedClock extends Clock {
  /** Sets the time of day so many ms off the real one, as an operator does who corrects a machine's clock. */
  shift(ms: number): void;
}

/** The real clock, whose time of day can jump. */
export function shiftedClock(): ShiftedClock {
  let offset = 0;
  return { ...systemClock, now: () => Date.now() + offset, shift: (ms) => void (offset = ms) };
}
