/**
 * What outlives a run: the kernel's CancelTask takes seconds, and a kernel that is away gets it later (docs/protocol.md,
 * "Cancel"). It knows nothing but task ids, so it can only touch an ended run's own task.
 */
import type { Clock } from "../clock.ts";
import { ACTIVE_RUNS, CANCEL_RETRY_MS, CANCEL_RETRY_STEP_MS } from "../limits.ts";
import type { Log } from "../log.ts";
import { errorKind } from "../log.ts";
import { type Kernel, KernelFailure, type KernelStream } from "./client.ts";
import type { Frame } from "./wire.ts";

export interface Aftermath {
  /** Cancels a task, trying again for 60 s; resolves when the kernel has answered or the time is over. */
  cancel(taskId: string): Promise<void>;
  /**
   * Reads on in a stream that a run has left before its task was known, to cancel that task. `reading` is the read that was
   * under way, when there was one.
   */
  cancelUnknown(opening: Promise<KernelStream>, reading?: Promise<Frame[] | undefined>): Promise<void>;
  /** Resolves when nothing is under way any more. */
  settled(): Promise<void>;
  readonly size: number;
}

/** The aftermath of all runs on one kernel. */
export function createAftermath(kernel: Kernel, clock: Clock, log: Log): Aftermath {
  const underWay = new Map<string, Promise<void>>();
  const readers = new Set<Promise<void>>();

  async function deliver(taskId: string): Promise<void> {
    const until = clock.now() + CANCEL_RETRY_MS;
    while (true) {
      try {
        const answer = await kernel.call("CancelTask", { id: taskId }, undefined, CANCEL_RETRY_MS);
        const code = answer.kind === "error" ? answer.code : undefined;
        return log.debug("task cancelled", { task: taskId, code });
      } catch (error) {
        // Broken after it was sent: the kernel may be at it. Asking again does no harm, a second time or after the end.
        const failure = error instanceof KernelFailure ? error.message : errorKind(error);
        if (clock.now() >= until) return log.warn("task could not be cancelled", { task: taskId, failure });
        log.debug("cancelling a task is tried again", { task: taskId, failure });
        await clock.sleep(CANCEL_RETRY_STEP_MS);
      }
    }
  }

  function cancel(taskId: string): Promise<void> {
    const known = underWay.get(taskId);
    if (known) return known;
    if (underWay.size >= ACTIVE_RUNS) {
      log.warn("too many tasks to cancel at once", { task: taskId });
      return Promise.resolve();
    }
    const delivery = deliver(taskId).finally(() => underWay.delete(taskId));
    underWay.set(taskId, delivery);
    return delivery;
  }

  async function findTask(opening: Promise<KernelStream>, reading?: Promise<Frame[] | undefined>): Promise<void> {
    const late = new AbortController();
    const timeout = clock.sleep(CANCEL_RETRY_MS, late.signal).then(() => undefined);
    try {
      for (let next = reading ?? (await opening).next();; next = (await opening).next()) {
        const frames = await Promise.race([next, timeout]);
        const taskId = frames?.map((frame) => "status" in frame ? frame.status.taskId : undefined).find(Boolean);
        if (taskId !== undefined) return await cancel(taskId);
        if (!frames) return;
      }
    } catch (error) {
      log.debug("a left stream broke before it named its task", { failure: errorKind(error) });
    } finally {
      late.abort();
      opening.then((stream) => stream.close(), () => undefined);
    }
  }

  return {
    cancel,
    async cancelUnknown(opening, reading) {
      const finding = findTask(opening, reading);
      readers.add(finding);
      await finding.finally(() => readers.delete(finding));
    },
    async settled() {
      while (underWay.size + readers.size > 0) await Promise.all([...underWay.values(), ...readers]);
    },
    get size() {
      return underWay.size + readers.size;
    },
  };
}
