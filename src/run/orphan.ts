/** The task that a crash has left without a name in the thread's file (docs/protocol.md, "Admission"). */
import { KernelFailure } from "../kernel/failure.ts";
import { requiredInputs } from "../kernel/wire.ts";
import type { RunContext } from "./context.ts";

/**
 * Cancels the task that the kernel works on in the thread's context, or asks about, though the thread's file names none: the
 * process before died between its message and the kernel's first word. What the kernel refuses meanwhile is sent again.
 * To be called before the run's own message is sent, since the kernel knows a context's newest task only.
 */
export async function cancelOrphan(context: RunContext): Promise<void> {
  const { services, thread } = context;
  try {
    const taskId = await findOrphan(context);
    if (taskId !== undefined) void services.aftermath.cancel(taskId, thread.contextId);
  } catch (error) {
    // A kernel that is away, or that tells nothing of its executions: the message itself will show.
    if (!(error instanceof KernelFailure)) throw error;
  }
}

async function findOrphan({ services: { kernel }, thread, control }: RunContext): Promise<string | undefined> {
  const execution = await kernel.execution(thread.contextId, control.signal);
  if (!execution || execution.isAlive) return execution?.taskId;
  const task = await kernel.call("GetTask", { id: execution.taskId, historyLength: 0 }, control.signal);
  if (task.kind !== "task") return undefined;
  // The account of a turn that is over may go on naming a question that was answered.
  const isAnswered = (id: string | undefined) => thread.applied.some(({ interruptId }) => interruptId === id);
  const asks = requiredInputs(task.status.iac).some(({ inputId }) => !isAnswered(inputId));
  return asks ? execution.taskId : undefined;
}
