/**
 * The threads in use: one queue a thread, through which every read-decide-write goes, and the thread's active run. A thread
 * that nobody uses leaves memory; its file is the truth (docs/protocol.md, "Thread files").
 */
import { applyChange, type Thread, type ThreadChange } from "./thread.ts";

/** Where threads are kept. */
export interface ThreadStore {
  /**
   * The thread, or undefined when it has no file; what is not needed to know whether it has had the run or execution that it
   * is `about` may be left out. Rejects when the file cannot be read or is not the thread's.
   */
  load(threadId: string, about?: string): Promise<Thread | undefined>;
  /** Makes the thread durable. Rejects when it could not, or cannot tell. */
  save(thread: Thread): Promise<void>;
}

/** A run that is under way, as those see it who want it to stop. */
export interface ActiveRun {
  readonly runId: string;
  readonly executionId: string;
  /** Ends the run; resolves when its last event is written. */
  stop(cause: StopCause): Promise<void>;
}

export type StopCause = "cancelled" | "gone" | "shutdown";

/** A thread while one holds its queue. */
export interface HeldThread {
  readonly active: ActiveRun | undefined;
  /** The thread as it is now, as `ThreadStore.load` gives it; rejects when its file is unusable. */
  read(about?: string): Promise<Thread | undefined>;
  /** Makes a value durable; rejects, with memory unchanged, when that fails. */
  write(thread: Thread): Promise<void>;
  activate(run: ActiveRun): void;
}

export interface Registry {
  /** Runs `work` alone on a thread. Whatever it throws, the thread is free afterwards. */
  hold<T>(threadId: string, work: (held: HeldThread) => Promise<T>): Promise<T>;
  /** Makes a run's change durable, unless the thread has gone on to another execution. */
  change(threadId: string, executionId: string, change: ThreadChange): Promise<void>;
  /** Frees a thread that a run had. */
  release(threadId: string, run: ActiveRun): void;
  active(): ActiveRun[];
  /** Threads with an active run or work in their queue. */
  readonly size: number;
}

interface Slot {
  tail: Promise<unknown>;
  queued: number;
  active: ActiveRun | undefined;
  /** What is on disk, kept while a run is active so that its changes need not read it again. */
  known: Thread | undefined;
}

/** The registry over a store. */
export function createRegistry(store: ThreadStore): Registry {
  const slots = new Map<string, Slot>();

  function slotOf(threadId: string): Slot {
    const known = slots.get(threadId);
    if (known) return known;
    const fresh: Slot = { tail: Promise.resolve(), queued: 0, active: undefined, known: undefined };
    slots.set(threadId, fresh);
    return fresh;
  }

  function evict(threadId: string, slot: Slot): void {
    if (!slot.active) slot.known = undefined;
    if (slot.queued === 0 && !slot.active && slots.get(threadId) === slot) slots.delete(threadId);
  }

  async function hold<T>(threadId: string, work: (held: HeldThread) => Promise<T>): Promise<T> {
    const slot = slotOf(threadId);
    slot.queued++;
    const before = slot.tail;
    const turn = before.then(() => work(heldThread(threadId, slot)));
    // Who comes next waits for this turn, not for its success.
    slot.tail = turn.then(() => undefined, () => undefined);
    try {
      return await turn;
    } finally {
      slot.queued--;
      evict(threadId, slot);
    }
  }

  function heldThread(threadId: string, slot: Slot): HeldThread {
    return {
      get active() {
        return slot.active;
      },
      async read(about) {
        const isEnough = slot.known && (about === undefined || !slot.known.isPart);
        return isEnough ? slot.known : slot.known = await store.load(threadId, about);
      },
      async write(thread) {
        // Whatever a failed write left behind is what the next one finds: memory follows the disk.
        slot.known = undefined;
        await store.save(thread);
        slot.known = thread;
      },
      activate: (run) => void (slot.active = run),
    };
  }

  return {
    hold,
    change: (threadId, executionId, change) =>
      hold(threadId, async (held) => {
        const thread = await held.read();
        if (!thread) return;
        const next = applyChange(thread, executionId, change);
        if (next !== thread) await held.write(next);
      }),
    release(threadId, run) {
      const slot = slots.get(threadId);
      if (!slot || slot.active !== run) return;
      slot.active = undefined;
      evict(threadId, slot);
    },
    active: () => [...slots.values()].flatMap(({ active }) => active ? [active] : []),
    get size() {
      return slots.size;
    },
  };
}
