/**
 * A run that answers: restore the session, verify the task, catch up, check the answers, send them one by one, and follow
 * the task on (reference "Resume"; docs/protocol.md, "Resume").
 */
import { type Answer, checkAnswers, missesLater } from "../admission/answers.ts";
import { RunFailure } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import { splitAtAnswer } from "../kernel/recovery.ts";
import { type Frame, isFinal, requiredInputs, type Status } from "../kernel/wire.ts";
import { LAG_MS, LAG_STEP_MS } from "../limits.ts";
import type { Mapper } from "../mapping/mapper.ts";
import type { ResumeEntry } from "../request/run_request.ts";
import { getTask, pipelineState } from "./account.ts";
import { accepted, sendAnswers } from "./answer.ts";
import { announce, take } from "./consume.ts";
import { perform, type RunContext } from "./context.ts";
import { openQuestions, takenBefore } from "./settle.ts";

/** Throws RunFailure, KernelFailure, or the abort of a run that is stopped; until an answer is accepted, all stays open. */
export async function runResume(context: RunContext): Promise<void> {
  try {
    await resume(context);
  } catch (error) {
    if (!isRefused(error) || !isGivenUp(context)) throw error;
    await giveUp(context);
  }
}

/** Whether the kernel will never take the answers. */
function isRefused(error: unknown): boolean {
  return error instanceof RunFailure && (error.code === "EXECUTION_LOST" || error.code === "A2A_EXECUTION_FAILED");
}

/** Whether the user wants nothing of what is asked any more. */
function isGivenUp({ request, mapper }: RunContext): boolean {
  return mapper.pending.size > 0 && (request.resume ?? []).every(({ status }) => status === "cancelled");
}

/** A user who gives up on what cannot go on anyway must not be told to try again for ever. */
async function giveUp(context: RunContext): Promise<void> {
  const { mapper, services, thread } = context;
  if (mapper.taskId !== null) void services.aftermath.cancel(mapper.taskId, thread.contextId);
  await perform(context, mapper.end({ cause: "givenUp" }));
}

async function resume(context: RunContext): Promise<void> {
  const { mapper, thread } = context;
  // Nothing waits: what was answered or cancelled before needs no kernel to say so.
  if (mapper.pending.size === 0) return void requireAnswers(context);
  if (thread.execution.taskId === null) throw new RunFailure("EXECUTION_LOST");
  if (await isLost(context)) throw new RunFailure("EXECUTION_LOST");
  const status = await verifiedTask(context);
  const missed = await pipelineState(context);
  const [before, since] = splitAtAnswer(missed?.events ?? [], mapper.pending);
  if (missed) await perform(context, mapper.recover({ ...missed, events: before }));
  if (isFinal(status.state)) return await endWith(context, status, since);
  const taken = await takenBefore(context, status, missed);
  if (missesLater(context.request.resume ?? [], mapper.pending, context.services.instance)) {
    if (!await asksMore(context, status)) await announce(context);
    return;
  }
  const known = taken.size > 0 ? requireAnswers(context) : [];
  if (known.some(({ kind }) => kind === "cancel")) return await sendAnswers(context, known);
  for (const answer of known) if (taken.has(answer.interruptId)) await accepted(context, answer);
  await perform(context, mapper.recover({ snapshot: undefined, events: since }));
  if (await asksMore(context, status)) return;
  const answers = taken.size > 0 ? known : requireAnswers(context);
  await sendAnswers(context, answers.filter(({ interruptId }) => !taken.has(interruptId)));
}

/** Whether the kernel has lost the session or the task. */
async function isLost({ services, thread, control }: RunContext): Promise<boolean> {
  const { sessionId, cwd, execution } = thread;
  if (sessionId === null) return false;
  const restored = await services.kernel.ensureRestored(cwd, sessionId, execution.taskId ?? "", control.signal);
  if (restored === "notReady") throw new RunFailure("SESSION_BACKUP_NOT_READY");
  return restored === "lost";
}

/** The task's status, verified to be the thread's; waited for up to 2 s while it lags behind the question. */
async function verifiedTask(context: RunContext): Promise<Status> {
  const { clock } = context.services;
  const until = clock.elapsed() + LAG_MS;
  while (true) {
    const status = statusOf(await getTask(context, 0), context);
    if (!isBehind(status, context.mapper) || clock.elapsed() >= until) return status;
    await clock.sleep(LAG_STEP_MS, context.control.signal);
    context.control.signal.throwIfAborted();
  }
}

/** Whether a status may be of a time before all that is pending was asked. */
function isBehind(status: Status, mapper: Mapper): boolean {
  const asked = openQuestions(status, mapper);
  if (asked.length === 0) return status.state === "SUBMITTED" || status.state === "WORKING";
  const newest = [...mapper.pending.keys()].at(-1);
  return asked.every(({ inputId }) => inputId !== newest);
}

function statusOf(frame: Frame, { thread, mapper }: RunContext): Status {
  if (frame.kind === "error") throw new RunFailure("EXECUTION_LOST", frame.message);
  if (frame.kind !== "task") throw new RunFailure("A2A_PROTOCOL_ERROR");
  const { taskId, contextId } = frame.status;
  if (taskId !== mapper.taskId || contextId !== thread.contextId) throw new RunFailure("A2A_PROTOCOL_ERROR");
  return frame.status;
}

/** Questions that the client has not seen come first: nothing is sent, and the run ends with all of them. */
async function asksMore(context: RunContext, status: Status): Promise<boolean> {
  const { mapper } = context;
  const unseen = requiredInputs(status.iac).filter(({ inputId }) =>
    inputId === undefined || (!mapper.pending.has(inputId) && !mapper.isApplied(inputId))
  );
  if (unseen.length === 0) return false;
  const outcome = await take(context, [{ kind: "status", status: { ...status, message: undefined } }]);
  if (outcome === "gather") await announce(context);
  return true;
}

/** The task is over: an answer that was on its way when somebody died has been heard, or nothing hears it any more. */
async function endWith(context: RunContext, status: Status, since: JsonObject[]): Promise<void> {
  if (status.state === "COMPLETED") { for (const answer of requireAnswers(context)) await accepted(context, answer); }
  await perform(context, context.mapper.recover({ snapshot: undefined, events: since }));
  await take(context, [await getTask(context, 0)]);
}

/** The answers, checked; throws RunFailure with the code that says what is wrong. */
function requireAnswers({ request, mapper, thread }: RunContext): readonly Answer[] {
  const entries: readonly ResumeEntry[] = request.resume ?? [];
  const checked = checkAnswers(entries, mapper.pending, thread);
  if ("code" in checked) throw new RunFailure(checked.code);
  return checked.answers;
}
