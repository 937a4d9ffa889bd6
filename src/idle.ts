/** When a service has nothing to do: no run, nothing to clean up, no interrupt that may still be answered. */
import { IDLE_STEP_MS } from "./limits.ts";
import type { Clock } from "./clock.ts";
import type { ThreadStore } from "./thread/registry.ts";
import { isExpired, type PendingInput, type Thread } from "./thread/thread.ts";

/** A thread store that remembers when it was used last, and which of the threads that it saw wait for an answer. */
export interface WatchedStore extends ThreadStore {
  /** When it was used last: a moment of `clock.elapsed()`. */
  readonly usedAt: number;
  /** Whether a thread waits for an answer that may still come at `now`, in ms since the epoch. */
  isWaiting(now: number): boolean;
}

/** Watches a store. */
export function watchStore(store: ThreadStore, clock: Clock): WatchedStore {
  const waiting = new Map<string, readonly PendingInput[]>();
  let usedAt = clock.elapsed();
  function see(thread: Thread): void {
    const pending = [...thread.execution.pending.values()];
    if (pending.length > 0) waiting.set(thread.threadId, pending);
    else waiting.delete(thread.threadId);
  }
  return {
    get usedAt() {
      return usedAt;
    },
    isWaiting(now) {
      for (const [threadId, pending] of waiting) {
        if (pending.every((input) => isExpired(input, now))) waiting.delete(threadId);
      }
      return waiting.size > 0;
    },
    async load(threadId, about) {
      usedAt = clock.elapsed();
      const thread = await store.load(threadId, about);
      if (thread) see(thread);
      return thread;
    },
    async save(thread) {
      usedAt = clock.elapsed();
      await store.save(thread);
      see(thread);
    },
  };
}

/** What keeps a service busy. */
export interface Work {
  readonly runs: { readonly size: number };
  readonly aftermath: { readonly size: number };
  readonly clock: Clock;
}

/** Resolves with true when there was nothing to do for `idleMs`, with false when the signal aborts before. */
export async function untilIdle(
  { runs, aftermath, clock }: Work,
  store: WatchedStore,
  idleMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  let busyAt = clock.elapsed();
  while (!signal.aborted) {
    const now = clock.elapsed();
    if (runs.size + aftermath.size > 0 || store.isWaiting(clock.now())) busyAt = now;
    if (now - Math.max(busyAt, store.usedAt) >= idleMs) return true;
    await clock.sleep(Math.min(IDLE_STEP_MS, idleMs / 4), signal);
  }
  return false;
}
