/** Time of the demo kernel: every wait ends early when what it waits for is stopped. */

/** Thrown out of a wait whose signal was aborted. */
export class Stopped extends Error {
  constructor() {
    super("stopped");
    this.name = "Stopped";
  }
}

export interface Pace {
  /** Waits `ms` times the pace. At pace 0 it does not wait at all. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  /** Lets the rest of the program run, at any pace. */
  breathe(signal: AbortSignal): Promise<void>;
}

/** A pace: 1 as a person likes to read it, 0 as fast as possible. */
export function createPace(multiplier: number): Pace {
  return {
    pause(ms, signal) {
      if (signal.aborted) return Promise.reject(new Stopped());
      return ms * multiplier > 0 ? wait(ms * multiplier, signal) : Promise.resolve();
    },
    breathe: (signal) => wait(0, signal),
  };
}

/** Waits `ms`; rejects with Stopped when the signal is aborted before. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new Stopped());
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
