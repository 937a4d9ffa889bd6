/**
 * Follows a turn that goes on after a permission was answered, when the stream of that answer is lost: the kernel tells the
 * rest to nobody else, but its session has it (docs/protocol.md, "A cut stream").
 */
import { RunFailure } from "../errors.ts";
import { nextStep } from "../kernel/recovery.ts";
import { type Execution, turnEnd, turnFrames, turnStand } from "../kernel/session.ts";
import { DETACHED_STEP_MS } from "../limits.ts";
import { getTask } from "./account.ts";
import { take } from "./consume.ts";
import type { RunContext } from "./context.ts";

/** Whether the run's answers were permissions of the main agent: then nothing but its session tells what becomes of it. */
export function isDetached({ request, thread, mapper }: RunContext): boolean {
  const isPipeline = mapper.sequence > 0 || request.iacCode.runMode === "pipeline";
  const answered = [...thread.execution.pending.values()];
  return !isPipeline && answered.some(({ value, sideband }) => value.kind === "permission" && !sideband);
}

/**
 * Waits for the end of the turn and maps what was missed of it. False when the kernel knows no more than the task's account,
 * as after its own restart, or when that account shows what is next. Throws RunFailure when the turn has broken off, and
 * KernelFailure when the kernel does not answer.
 */
export async function followDetached(context: RunContext): Promise<boolean> {
  const { services: { kernel, clock }, thread: { contextId }, control: { signal }, mapper } = context;
  while (true) {
    const step = nextStep(await getTask(context, 0), mapper.isApplied);
    const execution = await kernel.execution(contextId, signal);
    if (step === "map" || step === "lost" || execution?.taskId !== mapper.taskId) return false;
    if (!execution.isWorking && await isEnded(context, execution)) return true;
    await clock.sleep(DETACHED_STEP_MS, signal);
    signal.throwIfAborted();
  }
}

/** Maps the turn when it is over. */
async function isEnded(context: RunContext, { executionId, isAlive }: Execution): Promise<boolean> {
  const { services: { kernel }, thread, control: { signal }, mapper } = context;
  const { contextId, execution } = thread;
  const messages = await kernel.sessionOf(contextId, executionId, signal);
  if (!messages) throw new RunFailure("EXECUTION_LOST");
  const stand = turnStand(messages);
  // The kernel has not begun on the answer yet.
  if (stand !== "answered" && isAlive) return false;
  const task = { taskId: mapper.taskId ?? "", contextId };
  await take(context, turnFrames(messages, task, new Set(execution.shownCalls?.open)));
  if (stand === "answered") await take(context, [turnEnd("INPUT_REQUIRED", task)]);
  // It asks about its next tool, and has told nobody how to answer.
  else if (stand === "atTool") throw new RunFailure("EXECUTION_LOST");
  else throw new RunFailure("A2A_EXECUTION_FAILED");
  return true;
}
