/**
 * What outlives a run: the kernel's CancelTask takes seconds, and a kernel that is away gets it later (docs/protocol.md,
 * "Cancel"). It knows nothing but task ids, so it can only touch an ended run's own task.
 */
import type { Clock } from "../clock.ts";
import { ACTIVE_RUNS, CANCEL_RETRY_MS, CANCEL_RETRY_STEP_MS } from "../limits.ts";
import type { Log } from "../log.ts";
import { errorKind } from "../log.ts";
import type { Telemetry } from "../telemetry.ts";
import { linkedAbort } from "../linked_abort.ts";
import type { KernelStream } from "./answer_body.ts";
import type { Kernel } from "./client.ts";
import { KernelFailure } from "./failure.ts";
import type { Frame } from "./wire.ts";

export interface Aftermath {
  /** Cancels a task of a context, trying again for 60 s; resolves when the kernel has answered or the time is over. */
  cancel(taskId: string, contextId: string): Promise<void>;
  /** Reads on, for up to 60 s, in a stream that a run has left before its task was known, to cancel that task. */
  cancelUnknown(left: LeftStream, contextId: string): Promise<void>;
  /** Resolves when nothing of a context is being cancelled. */
  settledIn(contextId: string): Promise<void>;
  /** Resolves when nothing is under way any more. */
  settled(): Promise<void>;
  /** Gives up on all that is under way. */
  close(): void;
  readonly size: number;
}

/** A stream that nobody waits for any more. */
export interface LeftStream {
  readonly opening: Promise<KernelStream>;
  /** The read that was under way, when there was one. */
  readonly reading?: Promise<Frame[] | undefined>;
  /** Ends the request, also one that the kernel has not answered yet. */
  drop(): void;
}

/** The aftermath of all runs on one kernel. */
export function createAftermath(kernel: Kernel, clock: Clock, log: Log, telemetry?: Telemetry): Aftermath {
  const underWay = new Map<string, Promise<void>>();
  const readers = new Set<Promise<void>>();
  const contexts = new Map<string, Set<Promise<void>>>();
  const closing = new AbortController();

  async function deliver(taskId: string): Promise<void> {
    const until = clock.elapsed() + CANCEL_RETRY_MS;
    while (true) {
      try {
        const answer = await kernel.call("CancelTask", { id: taskId }, closing.signal, CANCEL_RETRY_MS);
        const code = answer.kind === "error" ? answer.code : undefined;
        return log.debug("task cancelled", { task: taskId, code });
      } catch (error) {
        // Broken after it was sent: the kernel may be at it. Asking again does no harm, a second time or after the end.
        const failure = error instanceof KernelFailure ? error.message : errorKind(error);
        const isOver = clock.elapsed() >= until || closing.signal.aborted;
        if (isOver) return log.warn("task could not be cancelled", { task: taskId, failure });
        log.debug("cancelling a task is tried again", { task: taskId, failure });
        await clock.sleep(CANCEL_RETRY_STEP_MS, closing.signal);
        telemetry?.retried("cancel");
      }
    }
  }

  /** Keeps work under its context until it is done. */
  function keep(contextId: string, work: Promise<void>): void {
    const known = contexts.get(contextId) ?? new Set();
    contexts.set(contextId, known.add(work));
    void work.finally(() => {
      known.delete(work);
      if (known.size === 0 && contexts.get(contextId) === known) contexts.delete(contextId);
    });
  }

  function cancel(taskId: string, contextId: string): Promise<void> {
    const known = underWay.get(taskId);
    if (known) return known;
    if (underWay.size >= ACTIVE_RUNS) {
      log.warn("too many tasks to cancel at once", { task: taskId });
      return Promise.resolve();
    }
    const delivery = deliver(taskId).finally(() => underWay.delete(taskId));
    underWay.set(taskId, delivery);
    keep(contextId, delivery);
    return delivery;
  }

  /** The task that a left stream names; undefined when it ends, breaks or stays silent for 60 s before that. */
  async function findTask({ opening, reading, drop }: LeftStream): Promise<string | undefined> {
    using found = linkedAbort(closing.signal);
    void clock.sleep(CANCEL_RETRY_MS, found.signal).then(drop);
    try {
      const stream = await opening;
      for (let frames = await (reading ?? stream.next()); frames; frames = await stream.next()) {
        const taskId = frames.map((frame) => "status" in frame ? frame.status.taskId : undefined).find(Boolean);
        if (taskId !== undefined) return taskId;
      }
    } catch (error) {
      log.debug("a left stream broke before it named its task", { failure: errorKind(error) });
    } finally {
      found.abort();
    }
    return undefined;
  }

  async function cancelFound(left: LeftStream, contextId: string): Promise<void> {
    const taskId = await findTask(left);
    if (taskId !== undefined) await cancel(taskId, contextId);
  }

  return {
    cancel,
    async cancelUnknown(left, contextId) {
      if (readers.size >= ACTIVE_RUNS) {
        log.warn("too many tasks to cancel at once");
        return left.drop();
      }
      const finding = cancelFound(left, contextId);
      readers.add(finding);
      keep(contextId, finding);
      await finding.finally(() => readers.delete(finding));
    },
    async settledIn(contextId) {
      for (let work = contexts.get(contextId); work; work = contexts.get(contextId)) await Promise.all(work);
    },
    async settled() {
      while (underWay.size + readers.size > 0) await Promise.all([...underWay.values(), ...readers]);
    },
    close: () => closing.abort(),
    get size() {
      return underWay.size + readers.size;
    },
  };
}
