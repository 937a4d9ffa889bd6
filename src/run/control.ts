/** How a run is stopped from outside: by the cancellation extension, by a client that left, by shutdown. */
import type { ActiveRun, StopCause } from "../thread/registry.ts";

export interface RunControl extends ActiveRun {
  /** Aborts when the run is to stop. */
  readonly signal: AbortSignal;
  readonly cause: StopCause | undefined;
  /** Resolves when the run's last event is written. */
  readonly finished: Promise<void>;
  /** To be called when the run's last event is written. */
  finish(): void;
}

/** The control of one run. The first cause counts. */
export function createControl(runId: string, executionId: string): RunControl {
  const abort = new AbortController();
  const finished = Promise.withResolvers<void>();
  let cause: StopCause | undefined;
  return {
    runId,
    executionId,
    signal: abort.signal,
    get cause() {
      return cause;
    },
    stop(given) {
      if (cause === undefined) {
        cause = given;
        abort.abort();
      }
      return finished.promise;
    },
    finished: finished.promise,
    finish: () => finished.resolve(),
  };
}

/** The promise's value, or the signal's reason as soon as it aborts. The promise itself goes on. */
export async function untilStopped<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(signal.reason);
  signal.addEventListener("abort", stop);
  // Whoever loses the race rejects with nobody to hear it.
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, stopped.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Lets promises be waited for, one after the other, until a signal aborts. */
export interface Stop {
  /** As `untilStopped`, one wait at a time. */
  unless<T>(promise: Promise<T>): Promise<T>;
  /** To be called when nothing is waited for any more. */
  forget(): void;
}

/** One listener for all waits on a signal: to add and remove one for each read took longer than to map a delta. */
export function createStop(signal: AbortSignal): Stop {
  let giveUp: ((reason: unknown) => void) | undefined;
  const stop = (): void => giveUp?.(signal.reason);
  signal.addEventListener("abort", stop);
  return {
    unless: (promise) =>
      new Promise((resolve, reject) => {
        giveUp = reject;
        promise.then(resolve, reject);
        if (signal.aborted) stop();
      }),
    forget: () => signal.removeEventListener("abort", stop),
  };
}
