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
