/**
 * Sends the answers of a resume: each durable as the kernel accepts it, none lost, none given twice (docs/protocol.md,
 * "Resume").
 */
import type { Answer } from "../admission/answers.ts";
import { RunFailure } from "../errors.ts";
import { isObject, type JsonObject } from "../json.ts";
import type { KernelStream } from "../kernel/answer_body.ts";
import { KernelFailure } from "../kernel/failure.ts";
import { messageParams, permissionPart } from "../kernel/message.ts";
import { type Frame, requiredInputs, type Status } from "../kernel/wire.ts";
import { GATHER_QUIET_MS, LAG_MS, LAG_STEP_MS } from "../limits.ts";
import { errorCode, isRefusal } from "../mapping/ending.ts";
import type { Mapper } from "../mapping/mapper.ts";
import { getTask } from "./account.ts";
import { consume, type Consumed, readUntilQuiet, take } from "./consume.ts";
import { countRetry, perform, type RunContext } from "./context.ts";
import { untilStopped } from "./control.ts";
import { createPatience, openStream } from "./new_run.ts";
import { followOnce, followThroughCuts } from "./recover.ts";
import { openQuestions, whyRefused } from "./settle.ts";

/** Attempts to send one answer whose connection broke each time. */
const SENDS = 3;

/** Sends all answers and follows the task to the end of the run. */
export async function sendAnswers(context: RunContext, answers: readonly Answer[]): Promise<void> {
  if (answers.some(({ kind }) => kind === "cancel")) return await cancelExecution(context);
  const sideband = answers.filter(({ pending }) => pending.sideband);
  const streamed = answers.filter(({ pending }) => !pending.sideband);
  for (const answer of sideband) await sendBeside(context, answer);
  if (streamed.length === 0) return await follow(context);
  for (const [at, answer] of streamed.entries()) {
    const rest = streamed.slice(at + 1);
    context.mapper.expect(rest.map(({ interruptId }) => interruptId));
    if (await sendStreamed(context, answer, rest.length === 0, at) === "ended") return;
  }
}

/** The user does not want to answer a question: that stops the execution. */
async function cancelExecution(context: RunContext): Promise<void> {
  const { mapper, services } = context;
  if (mapper.taskId !== null) void services.aftermath.cancel(mapper.taskId, context.thread.contextId);
  await perform(context, mapper.end({ cause: "error", code: "CANCELLED" }));
}

/** Follows a task that works on after an answer was given beside its stream. */
async function follow(context: RunContext): Promise<void> {
  if (await readKept(context) !== "cut") return;
  if (await followOnce(context) !== "ended") await followThroughCuts(context);
}

/** Answers one of several parallel candidates, whose stream is not this answer's. */
async function sendBeside(context: RunContext, answer: Answer): Promise<void> {
  const { services, control } = context;
  for (let sends = 1;; sends++) {
    try {
      const frame = await services.kernel.call("SendMessage", paramsOf(context, answer, 0), control.signal);
      const refused = refusalOf([frame]);
      if (frame.kind === "message" && frame.parts.some(isDenial)) throw new RunFailure("A2A_EXECUTION_FAILED");
      const why = refused && await whyRefused(context, answer.interruptId, refused);
      if (why) throw why;
      break;
    } catch (error) {
      if (!isBroken(error) || sends >= SENDS) throw error;
      if (!await isStillAsked(context, answer)) break;
      countRetry(context, "answer");
    }
  }
  await accepted(context, answer);
}

function isDenial({ data }: JsonObject): boolean {
  return isObject(data) && data.accepted === false;
}

/** Sends an answer that opens a stream of its own; reads that to the end of the run, or, before the last, until it is quiet. */
async function sendStreamed(
  context: RunContext,
  answer: Answer,
  isLast: boolean,
  at: number,
): Promise<"ended" | "on"> {
  const opened = await openAnswer(context, answer, at);
  if (!opened) return await goOn(context, answer, isLast);
  const { stream, first } = opened;
  context.upstream = stream;
  await accepted(context, answer);
  if (isLast) {
    await readOn(context, stream, first);
    return "ended";
  }
  try {
    // The kernel may come back with the next question, whose answer is at hand, instead of work.
    let outcome = await take(context, first);
    while (outcome === "on") {
      const frames = await readUntilQuiet(context, stream, GATHER_QUIET_MS);
      if (!frames) return "on";
      outcome = await take(context, frames);
    }
    return outcome === "ended" ? "ended" : "on";
  } finally {
    stream.close();
  }
}

/** Reads the stream of the last answer to the end of the run, and what goes on in one that was kept. */
async function readOn(context: RunContext, stream: KernelStream, first: Frame[]): Promise<void> {
  context.restored = first.some(isRestored);
  if (await consume(context, stream, first) !== "cut") return;
  if (await readKept(context) === "cut") await followThroughCuts(context);
}

/** Goes on with the stream that the run before has kept; `cut` when there is none. */
async function readKept(context: RunContext): Promise<Consumed> {
  const kept = context.services.parked.take(context.mapper.taskId ?? "");
  if (!kept) return "cut";
  context.restored = true;
  return await consume(context, kept);
}

function isRestored(frame: Frame): boolean {
  return frame.kind === "status" && isObject(frame.status.iac.permissionRecovered);
}

/** An answer that the kernel has taken already, though nobody heard it say so. */
async function goOn(context: RunContext, answer: Answer, isLast: boolean): Promise<"ended" | "on"> {
  await accepted(context, answer);
  if (!isLast) return "on";
  await follow(context);
  return "ended";
}

/** Makes an answer durable that the kernel has. */
export async function accepted(context: RunContext, { interruptId, digest, ...answer }: Answer): Promise<void> {
  const shown = answer.kind === "text" ? answer.text : undefined;
  await perform(context, context.mapper.answered(interruptId, digest, shown));
  context.sink.flush();
}

/** Opens the answer's stream up to its first frames; undefined when the kernel turns out to have the answer already. */
async function openAnswer(
  context: RunContext,
  answer: Answer,
  at: number,
): Promise<{ stream: KernelStream; first: Frame[] } | undefined> {
  const patience = createPatience(context);
  for (let sends = 1;; sends++) {
    let stream: KernelStream | undefined;
    try {
      stream = await openStream(context, paramsOf(context, answer, at));
      const first = await untilStopped(stream.next(), context.control.signal);
      if (!first) throw new KernelFailure("broken");
      const refused = refusalOf(first);
      if (!refused && !isWindingDown(first)) return { stream, first };
      stream.close();
      const why = refused && await whyRefused(context, answer.interruptId, refused);
      if (why) throw why;
      if (refused) return undefined;
      await patience.wait();
    } catch (error) {
      stream?.close();
      if (!isBroken(error) || sends >= SENDS) throw error;
      if (!await isStillAsked(context, answer)) return undefined;
      countRetry(context, "answer");
    }
  }
}

/** What the kernel refuses an answer with; undefined when it accepts it. */
function refusalOf([first]: readonly Frame[]): RunFailure | undefined {
  if (first?.kind === "error") return new RunFailure(errorCode(first.data), first.message);
  if (first?.kind === "invalid") return new RunFailure("A2A_PROTOCOL_ERROR");
  // The cloud account behind the request is not the one that was asked for: the question stays open.
  const isOtherAccount = first?.kind === "status" && isObject(first.status.iac.permissionIdentityError);
  return isOtherAccount ? new RunFailure("A2A_EXECUTION_FAILED", first.status.message?.text) : undefined;
}

function isWindingDown(frames: readonly Frame[]): boolean {
  return frames.some((frame) =>
    (frame.kind === "status" || frame.kind === "task") && isRefusal(frame.status.state, frame.status.message?.text)
  );
}

function isBroken(error: unknown): boolean {
  return error instanceof KernelFailure && error.kind === "broken";
}

/** Asks the task whether it still waits for an answer whose sending broke; for up to 2 s, since its account may lag. */
async function isStillAsked(context: RunContext, answer: Answer): Promise<boolean> {
  const { clock } = context.services;
  const until = clock.elapsed() + LAG_MS;
  while (true) {
    const frame = await getTask(context, 0);
    if (frame.kind !== "task") throw new RunFailure("A2A_UNAVAILABLE");
    if (isTaken(frame.status, answer, context.mapper)) return false;
    if (clock.elapsed() >= until) return true;
    await clock.sleep(LAG_STEP_MS, context.control.signal);
    context.control.signal.throwIfAborted();
  }
}

/** Whether a task's status shows that it does not wait for this answer any more. */
function isTaken(status: Status, { interruptId, pending }: Answer, mapper: Mapper): boolean {
  const open = openQuestions(status, mapper);
  if (open.length > 0) return !open.some(({ inputId }) => inputId === interruptId);
  // What names only a question that was answered is an account of the time before this one.
  if (requiredInputs(status.iac).length > 0) return false;
  // A kernel in which the execution lives names a question that is open; one that was restarted since then names none.
  if (isObject(status.iac.executionControl)) return true;
  return pending.sideband ? false : status.state !== "INPUT_REQUIRED";
}

function paramsOf(context: RunContext, answer: Answer, at: number): JsonObject {
  const { request, thread, mapper } = context;
  const taskId = mapper.taskId ?? "";
  const { contextId, cwd } = thread;
  const id = `agui-resume-${request.runId}`;
  if (answer.kind !== "permission") {
    const messageId = at === 0 ? id : `${id}-${answer.interruptId}`;
    const parts = [{ text: answer.kind === "text" ? answer.text : "" }];
    return messageParams(request, { messageId, parts, contextId, cwd, taskId });
  }
  const { toolUseId } = answer.pending.value;
  const parts = [permissionPart(taskId, answer.interruptId, toolUseId, answer.decision)];
  return messageParams(request, { messageId: `${id}-${answer.interruptId}`, parts, contextId, cwd, taskId });
}
