/**
 * One run's mapping: kernel frames in, effects out, in the order in which they have to happen (reference "Standard event
 * mapping"; docs/protocol.md). Pure: no clock, no chance, no I/O; ids are derived or handed in.
 */
import { createHash } from "node:crypto";
import type { RunErrorCode } from "../errors.ts";
import { isObject, type JsonObject, text } from "../json.ts";
import { type Frame, type PipelineState, requiredInputs, type Status, type WireMessage } from "../kernel/wire.ts";
import { project } from "../thread/projection.ts";
import type { PendingInput, Position, ThreadChange } from "../thread/thread.ts";
import type { Effect } from "./effect.ts";
import { endingOf, isRefusal } from "./ending.ts";
import type { Interrupt, RunEvent } from "./event.ts";
import { createPipeline, rawThinking, stepName } from "./pipeline.ts";
import { createSpans } from "./spans.ts";
import { createTally, repeatedLength } from "./tally.ts";
import { createSpeaker, type Speaker } from "./text.ts";
import { createTools } from "./tools.ts";
import { createUsage } from "./usage.ts";

export interface MapperStart {
  readonly threadId: string;
  readonly runId: string;
  readonly parentRunId?: string;
  readonly contextId: string;
  readonly executionId: string;
  readonly rosInvocationId: string;
  /** Known beforehand on a resume. */
  readonly taskId: string | null;
  readonly sessionId: string | null;
  /** Whether the run goes on with an execution that other runs have shown parts of. */
  readonly resumed: boolean;
  readonly position: Position;
  readonly textDigests: readonly string[];
  readonly pending: ReadonlyMap<string, PendingInput>;
  /** Interrupts of this execution that were answered before. */
  readonly applied: ReadonlySet<string>;
  /** The sentence of an error in the client's language, with the kernel's reason when there is one. */
  readonly describe: (code: RunErrorCode, reason: string | undefined) => string;
  /** The interrupt of a pending input, as it is announced. */
  readonly announce: (id: string, pending: PendingInput) => Interrupt;
}

/** Why a run ends that the kernel's frames did not end. */
export type Cause =
  /** The kernel has asked and is quiet now; answers are possible until `expiresAt` (ms since the epoch; null: always). */
  | { readonly cause: "interrupt"; readonly expiresAt: number | null }
  /** `resumable`: pending interrupts stay, so that another run may answer them. */
  | { readonly cause: "error"; readonly code: RunErrorCode; readonly reason?: string; readonly resumable?: boolean }
  /** A run that had nothing to do. */
  | { readonly cause: "nothing" }
  /** The user gave up on an execution that was lost. */
  | { readonly cause: "givenUp" };

export interface Mapper {
  /** RUN_STARTED, and the steps that the run before left open. */
  begin(): Effect[];
  accept(frame: Frame): Effect[];
  /** What a pipeline did while nobody listened: its snapshot when wanted, and its missed events. */
  recover(state: PipelineState, withSnapshot: boolean): Effect[];
  /** The kernel has accepted an answer. `shown`: what the user answered to a question, as its tool's result. */
  answered(interruptId: string, digest: string, shown?: string): Effect[];
  /** Interrupts whose answers are at hand: the kernel may name them without asking the user again. */
  expect(interruptIds: Iterable<string>): void;
  end(cause: Cause): Effect[];
  readonly phase: "open" | "gathering" | "ended";
  /** How the run ended, for the log: `success`, `interrupt`, or an error's code. */
  readonly ending: string | undefined;
  readonly taskId: string | null;
  readonly sequence: number;
  /** Interrupts that are not answered yet. */
  readonly pending: ReadonlyMap<string, PendingInput>;
  /** Whether the execution's interrupt was answered, in this run or before it. */
  isApplied(interruptId: string): boolean;
}

/** The mapper of one run. */
export function createMapper(start: MapperStart): Mapper {
  let out: Effect[] = [];
  const emit = (event: RunEvent): void => void out.push({ do: "emit", event });
  const save = (change: ThreadChange): void => void out.push({ do: "save", change });
  const commit = (change: ThreadChange, then: () => void): void =>
    void out.push({ do: "commit", change, then: () => effects(then) });

  const run = start.resumed ? createHash("sha256").update(start.runId).digest("hex").slice(0, 12) : undefined;
  const spans = createSpans(emit);
  const usage = createUsage();
  const tools = createTools(start.resumed, spans, emit);
  const pipeline = createPipeline({
    sequence: start.position.pipelineSequence,
    openSteps: start.position.openSteps,
    taskId: () => taskId ?? "",
    run,
  }, { spans, tools, usage, emit });

  let phase: Mapper["phase"] = "open";
  let ending: string | undefined;
  let taskId = start.taskId;
  let sessionId = start.sessionId;
  let agent: Speaker | undefined;
  let agentMessageId: string | undefined;
  /** All agent text of this run; what came since the last tool; the last whole answer that was repeated. */
  const shown = createTally();
  let sinceTool = createTally();
  let lastFinal: string | undefined;
  let prefixChecked = !start.resumed;
  let working = start.resumed;
  let announced = false;
  const pending = new Map(start.pending);
  const applied = new Set(start.applied);
  const expected = new Set<string>();
  const asked = new Map<string, PendingInput>();

  function position(): Position {
    const piece = shown.shown();
    return {
      pipelineSequence: pipeline.sequence,
      openSteps: pipeline.openSteps,
      shownText: piece ? [...start.position.shownText, piece] : start.position.shownText,
    };
  }

  /** Runs a step of the mapping and gives what it wants done. */
  function effects(step: () => void): Effect[] {
    out = [];
    step();
    return out;
  }

  /** Whether the mapping of thread, task and session is known and was not told yet. */
  function isSessionNews(): boolean {
    return !announced && working && taskId !== null && sessionId !== null;
  }

  function announceSession(): void {
    if (!isSessionNews()) return;
    announced = true;
    const { threadId, runId: aguiRunId, executionId, contextId, rosInvocationId } = start;
    const value = { schemaVersion: 1, threadId, aguiRunId, executionId, contextId, taskId, rosInvocationId, sessionId };
    emit({ type: "CUSTOM", name: "iac-code.session.v1", value });
  }

  function speaker(): Speaker {
    agent ??= createSpeaker(
      { text: agentMessageId ?? `${taskId}-message`, reasoning: `${taskId}-reasoning`, run },
      spans,
      emit,
    );
    return agent;
  }

  function say(delta: string): void {
    if (delta === "") return;
    shown.add(delta);
    sinceTool.add(delta);
    lastFinal = undefined;
    speaker().say(delta);
  }

  /** Agent text of a status: a delta, or a repeat of the whole answer, or of all that earlier runs have shown. */
  function speak(message: WireMessage, whole: boolean): void {
    if (message.text === "") return;
    if (whole) return sayRest(message.text);
    agentMessageId ??= idWithin(message.messageId);
    if (prefixChecked) return say(message.text);
    prefixChecked = true;
    const { shownText } = start.position;
    say(message.text.slice(repeatedLength(message.text, shownText, start.textDigests)));
  }

  function sayRest(answer: string): void {
    if (answer === lastFinal) return;
    if (sinceTool.startsOff(answer)) say(answer.slice(sinceTool.length));
    sinceTool = createTally();
    lastFinal = answer;
  }

  /** The kernel's message id, made unique to the task when it is not already. */
  function idWithin(messageId: string | undefined): string | undefined {
    if (messageId === undefined || taskId === null) return messageId;
    return messageId.includes(taskId) ? messageId : `${taskId}:${messageId}`;
  }

  /** A task's own account of all agent text: what of it was never shown. */
  function catchUp(status: Status, history: readonly WireMessage[]): void {
    const streaming = agentMessageId ?? `${taskId}-message`;
    const pieces = [...history, ...(status.message ? [status.message] : [])];
    const all = pieces
      .filter(({ role, messageId }) => role === "ROLE_AGENT" && idWithin(messageId) === streaming)
      .map((piece) => piece.text).join("");
    if (all === "") {
      const isNews = !start.resumed && shown.length === 0 && status.message?.role === "ROLE_AGENT";
      return isNews ? sayRest(status.message.text) : undefined;
    }
    agentMessageId ??= streaming;
    const earlier = start.resumed ? repeatedLength(all, start.position.shownText, start.textDigests) : 0;
    const rest = all.slice(earlier);
    prefixChecked = true;
    if (shown.startsOff(rest)) say(rest.slice(shown.length));
    else if (!start.resumed || earlier > 0) {
      out.push({ do: "note", note: "the task's history does not match its stream" });
    }
  }

  function fail(
    code: RunErrorCode,
    reason: string | undefined,
    more: { cancel?: boolean; resumable?: boolean } = {},
  ): void {
    out.push({ do: "leave" });
    if (more.cancel) out.push({ do: "cancel" });
    closeAll();
    if (more.resumable) {
      if (pipeline.sequence > start.position.pipelineSequence || shown.length > 0) {
        save({ change: "position", position: position() });
      }
    } else save({ change: "end", position: position() });
    end(code);
    const { threadId, runId } = start;
    const sums = usage.sums();
    const message = start.describe(code, reason);
    emit({ type: "RUN_ERROR", code, message, threadId, runId, ...(sums && { usage: sums }) });
  }

  function end(how: string): void {
    phase = "ended";
    ending = how;
  }

  function closeAll(): void {
    agent?.close();
    pipeline.close();
    spans.closeAll();
  }

  function succeed(durable: boolean): void {
    out.push({ do: "leave" });
    closeAll();
    if (durable) save({ change: "end", position: position() });
    end("success");
    const { threadId, runId } = start;
    const sums = usage.sums();
    emit({ type: "RUN_FINISHED", threadId, runId, outcome: { type: "success" }, ...(sums && { usage: sums }) });
  }

  function interrupt(expiresAt: number | null): void {
    for (const [id, input] of asked) pending.set(id, { ...input, expiresAt });
    const waiting = new Map(pending);
    const change = {
      change: "interrupt",
      taskId: taskId ?? "",
      sessionId,
      pending: waiting,
      position: position(),
    } as const;
    commit(change, () => announceInterrupts(waiting));
  }

  function announceInterrupts(waiting: ReadonlyMap<string, PendingInput>): void {
    out.push({ do: "leave" });
    closeAll();
    end("interrupt");
    const interrupts = [...waiting].map(([id, input]) => start.announce(id, input));
    const { threadId, runId } = start;
    const sums = usage.sums();
    emit({
      type: "RUN_FINISHED",
      threadId,
      runId,
      outcome: { type: "interrupt", interrupts },
      ...(sums && { usage: sums }),
    });
  }

  function isForeign(found: { taskId?: string | undefined; contextId?: string | undefined }): boolean {
    if (found.contextId !== undefined && found.contextId !== start.contextId) return true;
    return found.taskId !== undefined && taskId !== null && found.taskId !== taskId;
  }

  /** Takes note of questions. Whether the frame asked, or named only what is answered already. */
  function question(iac: JsonObject): "asks" | "answered" | "none" | "broken" {
    const inputs = requiredInputs(iac);
    if (inputs.length === 0) return "none";
    let result: "asks" | "answered" = "answered";
    for (const { inputId, value, sideband } of inputs) {
      if (inputId === undefined) return "broken";
      if (applied.has(inputId) || expected.has(inputId)) continue;
      const known = pending.get(inputId) ?? asked.get(inputId);
      const scoped = sideband || known?.sideband === true;
      asked.set(inputId, { value: known?.value ?? project(value), sideband: scoped, expiresAt: null });
      result = "asks";
    }
    return result;
  }

  function accept(status: Status, history: readonly WireMessage[] | undefined): void {
    taskId ??= status.taskId ?? null;
    const { iac, state } = status;
    sessionId = text(iac.iacCodeSessionId) ?? sessionIn(iac) ?? sessionId;
    if (!working && isRefusal(state, status.message?.text)) {
      taskId = start.taskId;
      return void out.push({ do: "leave" }, { do: "retry" });
    }
    if (state !== undefined && state !== "SUBMITTED") working = true;
    if (status.unknownState !== undefined) out.push({ do: "note", note: `unknown state ${status.unknownState}` });
    if (start.resumed || !isSessionNews()) return map(status, history);
    commit({ change: "task", taskId: taskId ?? "", sessionId: sessionId ?? "" }, () => {
      announceSession();
      map(status, history);
    });
  }

  function map(status: Status, history: readonly WireMessage[] | undefined): void {
    const { iac, state } = status;
    const ending = endingOf(state);
    // What a task's snapshot repeats of its last update was mapped when it came; but a pipeline's last event may be news.
    if (history) pipeline.acceptNext(iac);
    else metadata(iac);
    if (ending?.ends !== "error") content(status, history);
    const asks = question(iac);
    if (asks === "broken") return fail("A2A_PROTOCOL_ERROR", undefined, { cancel: true });
    conclude(status, ending, asks);
  }

  function metadata(iac: JsonObject): void {
    if (iac.pipeline !== undefined || iac.pipelineBatch !== undefined) pipeline.accept(iac);
    if (isObject(iac.tool)) {
      if (iac.tool.status === "started") sinceTool = createTally();
      tools.accept(iac.tool, speaker());
    }
    const thought = rawThinking(iac.thinking);
    if (thought !== undefined) speaker().think(thought);
    if (iac.usage !== undefined) usage.add(iac.usage);
  }

  function content(status: Status, history: readonly WireMessage[] | undefined): void {
    if (history) return catchUp(status, history);
    const { message, iac } = status;
    if (!message || message.text === "" || message.role === "ROLE_USER") return;
    const isPrompt = isObject(iac.input) && iac.input.prompt === message.text;
    if (!isPrompt) speak(message, isObject(iac.assistantFinal) && iac.assistantFinal.complete === true);
  }

  function conclude(status: Status, ending: ReturnType<typeof endingOf>, asks: ReturnType<typeof question>): void {
    const isOver = ending !== undefined && status.state !== "INPUT_REQUIRED";
    if (asks === "asks" && !isOver) {
      if (phase === "open") out.push({ do: "gather" });
      phase = "gathering";
      return;
    }
    if (!ending || (!isOver && (asks === "answered" || phase === "gathering"))) return;
    if (ending.ends === "success") return succeed(true);
    fail(ending.code, status.message?.text || pipeline.failure);
  }

  return {
    begin: () =>
      effects(() => {
        const { threadId, runId, parentRunId } = start;
        emit({ type: "RUN_STARTED", threadId, runId, ...(parentRunId !== undefined && { parentRunId }) });
        if (start.resumed) { for (const key of start.position.openSteps) spans.startStep(stepName(key)); }
      }),
    accept: (frame) =>
      effects(() => {
        if (phase === "ended") return;
        switch (frame.kind) {
          case "status":
          case "task":
            if (isForeign(frame.status)) return fail("A2A_PROTOCOL_ERROR", undefined, { cancel: true });
            return accept(frame.status, frame.kind === "task" ? frame.history : undefined);
          case "artifact":
            if (isForeign(frame)) return fail("A2A_PROTOCOL_ERROR", undefined, { cancel: true });
            return emit({
              type: "CUSTOM",
              name: "iac-code.artifact.v1",
              value: { schemaVersion: 1, ...frame.artifact },
            });
          case "message":
          case "other":
            return;
          case "error":
            return fail(errorCode(frame.data), frame.message);
          case "invalid":
            return fail("A2A_PROTOCOL_ERROR", undefined, { cancel: true });
        }
      }),
    recover: ({ snapshot, events }, withSnapshot) =>
      effects(() => {
        if (phase === "ended") return;
        if (snapshot && withSnapshot) emit(activity(snapshot, start.contextId));
        pipeline.replay(events);
      }),
    answered: (interruptId, digest, answer) =>
      effects(() => {
        const input = pending.get(interruptId);
        commit({ change: "answered", interruptId, digest, position: position() }, () => {
          pending.delete(interruptId);
          applied.add(interruptId);
          announceSession();
          const toolUseId = text(input?.value.toolUseId);
          const name = text(input?.value.toolName) ?? "tool";
          if (answer !== undefined && toolUseId !== undefined) tools.result(toolUseId, name, answer, speaker());
        });
      }),
    expect(interruptIds) {
      expected.clear();
      for (const id of interruptIds) expected.add(id);
    },
    end: (cause) =>
      effects(() => {
        if (phase === "ended") return;
        if (cause.cause === "interrupt") return interrupt(cause.expiresAt);
        if (cause.cause !== "error") return succeed(cause.cause === "givenUp");
        fail(cause.code, cause.reason, { resumable: cause.resumable ?? false });
      }),
    get phase() {
      return phase;
    },
    get ending() {
      return ending;
    },
    get taskId() {
      return taskId;
    },
    get sequence() {
      return pipeline.sequence;
    },
    pending,
    isApplied: (interruptId) => applied.has(interruptId),
  };
}

/** A pipeline event names the session, too. */
function sessionIn({ pipeline }: JsonObject): string | undefined {
  return isObject(pipeline) ? text(pipeline.iacCodeSessionId) : undefined;
}

/** A JSON-RPC error's code in AG-UI. */
export function errorCode(data: unknown): RunErrorCode {
  const isBackup = isObject(data) && data.code === "SESSION_BACKUP_NOT_READY" && data.retryable === true;
  return isBackup ? "SESSION_BACKUP_NOT_READY" : "A2A_EXECUTION_FAILED";
}

function activity(snapshot: JsonObject, contextId: string): RunEvent {
  const pipelineRunId = text(snapshot.pipelineRunId) ?? contextId;
  return {
    type: "ACTIVITY_SNAPSHOT",
    messageId: `pipeline:${pipelineRunId}`,
    activityType: "iac-code.pipeline.v1",
    content: { schemaVersion: 1, pipelineRunId, snapshot },
    replace: true,
  };
}
