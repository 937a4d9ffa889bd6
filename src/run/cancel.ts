/** The cancellation extension (reference "Cancellation extension"; docs/protocol.md, "Cancel"). */
import { cancelTarget } from "../admission/cancel_target.ts";
import { type Refusal, refusal } from "../errors.ts";
import { CANCEL_ANSWER_MS } from "../limits.ts";
import { errorKind } from "../log.ts";
import type { CancelRequest } from "../request/run_request.ts";
import type { ActiveRun, HeldThread } from "../thread/registry.ts";
import { contextIdOf, endExecution } from "../thread/thread.ts";
import type { Services } from "./context.ts";

export interface CancelAnswer {
  readonly executionId: string;
  readonly status: "cancelled" | "already_terminal";
}

/**
 * Cancels an execution: an active run ends with CANCELLED, a waiting one loses its interrupts, both on disk before the
 * answer. The kernel's own CancelTask is waited for 2 s at most. Refusals: EXECUTION_NOT_FOUND, STATE_UNAVAILABLE.
 */
export async function cancelExecution(
  services: Services,
  executionId: string,
  request: CancelRequest,
): Promise<CancelAnswer | Refusal> {
  try {
    const found = await endNow(services, executionId, request);
    if ("code" in found) return found;
    const answered = new AbortController();
    await Promise.race([found.done, services.clock.sleep(CANCEL_ANSWER_MS, answered.signal)]);
    answered.abort();
    return { executionId, status: found.status };
  } catch (error) {
    services.log.error("a thread's state is unavailable", {
      thread: contextIdOf(request.threadId),
      failure: errorKind(error),
    });
    return refusal("STATE_UNAVAILABLE");
  }
}

interface Found {
  readonly status: CancelAnswer["status"];
  /** Resolves when all that the cancel sets off has happened. */
  readonly done: Promise<unknown>;
}

function endNow(services: Services, executionId: string, request: CancelRequest): Promise<Found | Refusal> {
  return services.registry.hold(request.threadId, (held) => endWaiting(services, held, executionId, request));
}

async function endWaiting(
  services: Services,
  held: HeldThread,
  executionId: string,
  request: CancelRequest,
): Promise<Found | Refusal> {
  const thread = await held.read(executionId);
  const target = cancelTarget(thread, executionId, request);
  if (!thread || target === "not_found") return refusal("EXECUTION_NOT_FOUND");
  if (target === "already_terminal") return { status: target, done: Promise.resolve() };
  const active = activeRunOf(held, executionId);
  // The run itself ends its execution on disk, through the queue that is held here: it must not be waited for in here.
  if (active) return { status: "cancelled", done: endActive(services, active, executionId, request) };
  const { taskId } = thread.execution;
  // A full disk is no reason to let an agent work on.
  const delivered = taskId === null ? Promise.resolve() : services.aftermath.cancel(taskId, thread.contextId);
  await held.write(endExecution(thread));
  return { status: "cancelled", done: delivered };
}

/**
 * The run cancels its task as it ends. One that was about to be interrupted when it was stopped leaves its question behind:
 * that is cancelled then.
 */
async function endActive(
  services: Services,
  active: ActiveRun,
  executionId: string,
  request: CancelRequest,
): Promise<void> {
  await active.stop("cancelled");
  const left = await endNow(services, executionId, request);
  if ("done" in left) await left.done;
  await services.aftermath.settledIn(contextIdOf(request.threadId));
}

function activeRunOf({ active }: HeldThread, executionId: string): ActiveRun | undefined {
  return active?.executionId === executionId ? active : undefined;
}
