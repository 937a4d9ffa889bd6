/**
 * What the kernel has of a resume's answers already: the run before may have died between sending and noting down
 * (docs/protocol.md, "Resume").
 */
import { RunFailure } from "../errors.ts";
import { answeredIn } from "../kernel/recovery.ts";
import { type PipelineState, type RequiredInput, requiredInputs, type Status } from "../kernel/wire.ts";
import type { Mapper } from "../mapping/mapper.ts";
import type { PendingInput } from "../thread/thread.ts";
import { getTask } from "./account.ts";
import type { RunContext } from "./context.ts";
import { untilStopped } from "./control.ts";

/**
 * The pending interrupts that wait for no answer any more, going by the task's status and the pipeline's missed events.
 * Throws EXECUTION_LOST when nobody is left to take the answer.
 */
export async function takenBefore(
  context: RunContext,
  status: Status,
  missed: PipelineState | undefined,
): Promise<ReadonlySet<string>> {
  const { pending } = context.mapper;
  const taken = answeredIn(missed?.events ?? [], pending);
  const open = [...pending].filter(([id]) => !taken.has(id));
  const asked = openQuestions(status, context.mapper);
  if (asked.length > 0) {
    // A status names all that candidates ask, but of the agent's own questions the newest alone.
    const isPast = asked.some(({ inputId }) => inputId === undefined || !pending.has(inputId));
    const unnamed = open.filter(([id]) => asked.every(({ inputId }) => inputId !== id));
    for (const [id, { sideband }] of unnamed) if (sideband || isPast) taken.add(id);
  } else if (status.state === "WORKING") {
    if (await isForgotten(context, open.some(([, { sideband }]) => sideband))) throw new RunFailure("EXECUTION_LOST");
    // A permission may be answered twice, which the kernel notices; words may not.
    for (const [id, input] of open) if (input.sideband || !isPermission(input)) taken.add(id);
  }
  return taken;
}

/**
 * The questions that a status names and that were not answered: the kernel's account goes on naming a turn's first
 * permission while it asks the second one.
 */
export function openQuestions({ iac }: Status, mapper: Pick<Mapper, "isApplied">): RequiredInput[] {
  return requiredInputs(iac).filter(({ inputId }) => inputId === undefined || !mapper.isApplied(inputId));
}

function isPermission({ value }: PendingInput): boolean {
  return value.kind === "permission";
}

/**
 * Whether a task that has its answer is carried out by nobody: the kernel was started again meanwhile. Answered once more, it
 * would run the tool once more, which may have run; and of candidates' questions it knows nothing any more.
 */
async function isForgotten(context: RunContext, sideband: boolean): Promise<boolean> {
  const { services: { kernel }, thread, control, mapper } = context;
  const execution = sideband ? undefined : await kernel.execution(thread.contextId, control.signal);
  return execution?.taskId !== mapper.taskId && await isIdle(context);
}

/**
 * Whether nobody works on a task, whatever its state says: a candidate's question does not outlive the kernel's process, and
 * neither does the work on a pipeline.
 */
export async function isIdle({ services, mapper, control }: RunContext): Promise<boolean> {
  const stream = await services.kernel.stream("SubscribeToTask", { id: mapper.taskId }, control.signal);
  try {
    const first = await untilStopped(stream.next(), control.signal);
    return first?.[0]?.kind === "error";
  } finally {
    stream.close();
  }
}

/** Why the kernel has refused an answer: undefined when it had it already. */
export async function whyRefused(
  context: RunContext,
  interruptId: string,
  refused: RunFailure,
): Promise<RunFailure | undefined> {
  if (refused.code !== "A2A_EXECUTION_FAILED") return refused;
  const frame = await getTask(context, 0);
  if (frame.kind !== "task") return refused;
  const { state, iac } = frame.status;
  const isAsked = requiredInputs(iac).some(({ inputId }) => inputId === interruptId);
  if (isAsked || state !== "WORKING") return refused;
  return await isIdle(context) ? new RunFailure("EXECUTION_LOST", refused.reason) : undefined;
}
