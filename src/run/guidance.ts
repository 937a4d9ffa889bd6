/**
 * A message into a pipeline run that is under way (iacCode.activeGuidance; docs/protocol.md, "Guidance"). Its events belong
 * to the main run: this one only tells that the kernel has taken the message.
 */
import { RunFailure } from "../errors.ts";
import { contentParts, messageParams } from "../kernel/message.ts";
import type { Frame } from "../kernel/wire.ts";
import { endingOf, errorCode } from "../mapping/ending.ts";
import { perform, type RunContext } from "./context.ts";

/** Sends the message and waits until the kernel's stream about it ends. Throws RunFailure or KernelFailure. */
export async function runGuidance(context: RunContext): Promise<void> {
  const { request, thread, services, control, mapper } = context;
  const { taskId } = thread.execution;
  if (!request.message || taskId === null) throw new RunFailure("EXECUTION_LOST");
  const { contextId, cwd } = thread;
  const { id: messageId, parts } = request.message;
  const params = messageParams(request, { messageId, parts: contentParts(parts), contextId, cwd, taskId });
  const stream = await services.kernel.stream("SendStreamingMessage", params, control.signal);
  try {
    for (let frames = await stream.next(); frames; frames = await stream.next()) {
      if (frames.some((frame) => isEnd(frame, taskId, contextId))) break;
    }
  } finally {
    stream.close();
  }
  await perform(context, mapper.end({ cause: "nothing" }));
}

/** Whether a frame ends the run's wait; throws what is wrong with it. */
function isEnd(frame: Frame, taskId: string, contextId: string): boolean {
  if (frame.kind === "error") throw new RunFailure(errorCode(frame.data), frame.message);
  if (frame.kind === "invalid") throw new RunFailure("A2A_PROTOCOL_ERROR");
  if (frame.kind !== "status" && frame.kind !== "task") return false;
  const { status } = frame;
  const isForeign = (status.taskId ?? taskId) !== taskId || (status.contextId ?? contextId) !== contextId;
  if (isForeign) throw new RunFailure("A2A_PROTOCOL_ERROR");
  const ending = endingOf(status.state);
  if (ending?.ends === "error") throw new RunFailure(ending.code, status.message?.text);
  return ending !== undefined;
}
