/**
 * Makes a kind of system call at once while such calls are quick, and hands it to another thread where they are not. A change
 * of threads takes 50 µs of the thread that serves streams, and each turn needs a dozen; a file in memory takes 10 µs, a disk
 * thousands. What it is here only trying tells (docs/performance.md). Pure: the clock is handed in.
 */
import { AT_ONCE_CALLS, AT_ONCE_FIRST_PAUSE_MS, AT_ONCE_LONGEST_PAUSE_MS, AT_ONCE_MS } from "../limits.ts";

/** Makes a call by `now`, on this thread, or by `later`, on another; either may throw or reject. */
export type AtOnce = <T>(now: () => T, later: () => Promise<T>) => Promise<T>;

/**
 * One kind of call, whose durations are alike; `elapsed` gives ms. When the mean of the last ones is above 0.1 ms they are
 * handed over: for a second, and after each try that shows the same for twice as long, up to an hour.
 */
export function createAtOnce(elapsed: () => number): AtOnce {
  let mean = 0;
  let pause = AT_ONCE_FIRST_PAUSE_MS;
  let nextTry = 0;

  function note(began: number): void {
    const ended = elapsed();
    mean += (ended - began - mean) / AT_ONCE_CALLS;
    if (mean <= AT_ONCE_MS) return;
    const wasQuick = ended - nextTry > pause;
    pause = wasQuick ? AT_ONCE_FIRST_PAUSE_MS : Math.min(2 * pause, AT_ONCE_LONGEST_PAUSE_MS);
    nextTry = ended + pause;
    // A try that is slow again is over soon.
    mean = AT_ONCE_MS / 2;
  }

  return async (now, later) => {
    const began = elapsed();
    if (began < nextTry) return await later();
    try {
      return now();
    } finally {
      note(began);
    }
  };
}
