/** Execution × thread → what a cancel means (docs/protocol.md, "Cancel"). Pure. */
import type { CancelRequest } from "../request/run_request.ts";
import type { Thread } from "../thread/thread.ts";

export type CancelTarget = "cancel" | "already_terminal" | "not_found";

/**
 * What cancelling an execution of a thread comes to. The current execution wants its own rosInvocationId; an older one has
 * none on record any more, so the right thread is enough to hear that it has ended.
 */
export function cancelTarget(thread: Thread | undefined, executionId: string, request: CancelRequest): CancelTarget {
  if (!thread) return "not_found";
  const { execution, terminal } = thread;
  if (execution.executionId === executionId) {
    if (execution.rosInvocationId !== request.rosInvocationId) return "not_found";
    return terminal.includes(executionId) ? "already_terminal" : "cancel";
  }
  return terminal.includes(executionId) ? "already_terminal" : "not_found";
}
