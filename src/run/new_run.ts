/** A user's turn: one message to the kernel, followed to its end (docs/protocol.md, "The stream", "A cut stream"). */
import { RunFailure } from "../errors.ts";
import type { KernelStream } from "../kernel/answer_body.ts";
import { KernelFailure } from "../kernel/failure.ts";
import { contentParts, messageParams } from "../kernel/message.ts";
import type { JsonObject } from "../json.ts";
import {
  CANCELLED_BEFORE_MS,
  CONNECT_RETRY_MS,
  CONNECT_RETRY_STEP_MS,
  REFUSED_FIRST_WAIT_MS,
  REFUSED_LONGEST_WAIT_MS,
  REFUSED_TOTAL_MS,
} from "../limits.ts";
import { linkedAbort } from "../linked_abort.ts";
import { consume } from "./consume.ts";
import { countRetry, type RunContext, runFields } from "./context.ts";
import { untilStopped } from "./control.ts";
import { cancelOrphan } from "./orphan.ts";
import { followThroughCuts } from "./recover.ts";

/** Runs a new execution to the end of its run. Throws RunFailure, KernelFailure, or the abort of a run that is stopped. */
export async function runNew(context: RunContext): Promise<void> {
  const { request, thread } = context;
  if (!request.message) throw new RunFailure("INTERNAL_ERROR");
  const { id: messageId, parts } = request.message;
  const { contextId, cwd } = thread;
  const params = messageParams(request, { messageId, parts: contentParts(parts), contextId, cwd });
  const patience = createPatience(context);
  if (context.orphaned) await cancelOrphan(context);
  await untilCancelled(context);
  while (true) {
    const stream = await openStream(context, params);
    const consumed = await consume(context, stream);
    if (consumed === "ended") return;
    if (consumed === "cut") {
      // Without a task there is nothing to go on with, and sending again could do the work twice.
      if (context.mapper.taskId === null) throw new RunFailure("A2A_UNAVAILABLE");
      return await followThroughCuts(context);
    }
    await patience.wait();
  }
}

/**
 * In a pipeline the kernel takes the next message into the task before, also while that is being cancelled, and cancels it
 * with it: the message waits for the end of that, at most 45 s.
 */
async function untilCancelled({ services, request, thread, control }: RunContext): Promise<void> {
  if (request.iacCode.runMode === "normal") return;
  using over = linkedAbort(control.signal);
  await Promise.race([
    services.aftermath.settledIn(thread.contextId),
    services.clock.sleep(CANCELLED_BEFORE_MS, over.signal),
  ]);
  over.abort();
  control.signal.throwIfAborted();
}

/**
 * Opens a message stream; a connection that was refused is tried again for up to 2 s, since nothing was sent. The request
 * itself outlives a run that stops meanwhile: only its answer tells the task that is to be cancelled.
 */
export async function openStream(context: RunContext, params: JsonObject): Promise<KernelStream> {
  const { kernel, clock, aftermath } = context.services;
  const { signal } = context.control;
  const until = clock.elapsed() + CONNECT_RETRY_MS;
  while (true) {
    const request = new AbortController();
    const opening = kernel.stream("SendStreamingMessage", params, request.signal);
    try {
      return await untilStopped(opening, signal);
    } catch (error) {
      if (signal.aborted) {
        void aftermath.cancelUnknown({ opening, drop: () => request.abort() }, context.thread.contextId);
      }
      const refused = error instanceof KernelFailure && error.kind === "refused";
      if (!refused || clock.elapsed() >= until) throw error;
      await clock.sleep(CONNECT_RETRY_STEP_MS, signal);
      signal.throwIfAborted();
      countRetry(context, "connect");
    }
  }
}

/** Waits longer and longer for a kernel that still winds down the turn before; after 30 s in all, it has failed. */
export function createPatience(context: RunContext): { wait(): Promise<void> } {
  const { clock, log } = context.services;
  let until: number | undefined;
  let next = REFUSED_FIRST_WAIT_MS;
  return {
    async wait() {
      until ??= clock.elapsed() + REFUSED_TOTAL_MS;
      if (clock.elapsed() + next > until) throw new RunFailure("A2A_EXECUTION_FAILED", "Task is already working.");
      log.debug("the kernel is still winding down", runFields(context));
      await clock.sleep(next, context.control.signal);
      context.control.signal.throwIfAborted();
      countRetry(context, "winding_down");
      next = Math.min(next * 2, REFUSED_LONGEST_WAIT_MS);
    },
  };
}
