/**
 * An abort of its own that also follows others. To be used instead of `AbortSignal.any`: Deno (2.7 to 2.9) holds a signal
 * that depends on others only weakly, so that after a garbage collection it may not hear of their abort any more. The same
 * is true of a fetch, once its response has begun: abort that by cancelling its body.
 */
export interface LinkedAbort extends Disposable {
  readonly signal: AbortSignal;
  /** Aborts this signal alone. */
  abort(reason?: unknown): void;
  /** Stops following the others. To be called when the work is over, for others that live longer. */
  [Symbol.dispose](): void;
}

/** Follows signals; the first one's reason counts. */
export function linkedAbort(...others: readonly (AbortSignal | undefined)[]): LinkedAbort {
  const own = new AbortController();
  const stops = others.map((other) => {
    if (!other) return () => {};
    const follow = (): void => own.abort(other.reason);
    if (other.aborted) follow();
    else other.addEventListener("abort", follow);
    return () => other.removeEventListener("abort", follow);
  });
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    [Symbol.dispose]: () => stops.forEach((stop) => stop()),
  };
}
