/** The one source of time and chance, so that a test can hand in its own. */
export interface Clock {
  /** ms since the epoch, for what is told or kept: it jumps when somebody sets the machine's clock. */
  now(): number;
  /** ms since some moment, for how long something takes: it never jumps. */
  elapsed(): number;
  /** A new UUID. */
  newId(): string;
  /** Resolves after `ms`, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  newId: () => crypto.randomUUID(),
  sleep(ms, signal) {
    if (signal?.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
    return promise;
  },
};
