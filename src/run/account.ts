/** What the kernel says of a run's task when it is asked (docs/protocol.md, "The kernel"). */
import type { Frame, PipelineState } from "../kernel/wire.ts";
import type { RunContext } from "./context.ts";

/** The task's own account, with up to `historyLength` messages. */
export async function getTask({ services, mapper, control }: RunContext, historyLength: number): Promise<Frame> {
  return await services.kernel.call("GetTask", { id: mapper.taskId, historyLength }, control.signal);
}

/** The pipeline's state after the last sequence that was mapped; undefined when the task has no pipeline. */
export async function pipelineState({ services, mapper, control }: RunContext): Promise<PipelineState | undefined> {
  return await services.kernel.pipelineState(mapper.taskId ?? "", mapper.sequence, control.signal);
}
