/**
 * One run's mapping: kernel frames in, effects out, in the order in which they have to happen (reference "Standard event
 * mapping"; docs/protocol.md). Pure: no clock, no chance, no I/O; ids are derived or handed in.
 */
import type { RunErrorCode } from "../errors.ts";
import { isObject, type JsonObject, text } from "../json.ts";
import { type Frame, idsOf, type PipelineState, type Status, type WireMessage } from "../kernel/wire.ts";
import { sha256 } from "../sha256.ts";
import type { PendingInput, Position, ThreadChange } from "../thread/thread.ts";
import type { Effect } from "./effect.ts";
import { type Cause, endingOf, errorCode, isRefusal, isTakenAlong } from "./ending.ts";
import type { Interrupt, RunEvent, UsageRecord } from "./event.ts";
import { createMoreText } from "./more_text.ts";
import { createPipeline, rawThinking, sessionIn, stepName } from "./pipeline.ts";
import { type Asks, createQuestions } from "./questions.ts";
import { createSpans } from "./spans.ts";
import { createSpeech } from "./speech.ts";
import { createTools } from "./tools.ts";
import { createUsage } from "./usage.ts";

export type { Cause };

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
  /** Marks what this run asks: its process, and the run among those of that. */
  readonly askedBy: string;
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

export interface Mapper {
  /** RUN_STARTED, and the steps that the run before left open. */
  begin(): Effect[];
  accept(frame: Frame): Effect[];
  /** What a pipeline did while nobody listened: its snapshot, once a run, and its missed events. */
  recover(state: PipelineState): Effect[];
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
  const note = (text: string): void => void out.push({ do: "note", note: text });
  const commit = (change: ThreadChange, then: () => void): void =>
    void out.push({ do: "commit", change, then: () => effects(then) });

  const { position: before, resumed } = start;
  const run = resumed ? sha256(start.runId).slice(0, 12) : undefined;
  const spans = createSpans(emit);
  const usage = createUsage();
  const tools = createTools(resumed ? before.shownCalls : { open: [], answered: [] }, spans, emit);
  const speech = createSpeech({
    taskId: () => taskId ?? "",
    before: resumed ? { shown: before.shownText, digests: start.textDigests } : undefined,
    run,
  }, { spans, emit, note });
  const pipeline = createPipeline({
    sequence: before.pipelineSequence,
    openSteps: before.openSteps,
    contextId: start.contextId,
    taskId: () => taskId ?? "",
    run,
  }, { spans, tools, usage, emit });
  const questions = createQuestions(start.pending, start.applied, start.askedBy);
  const moreText = createMoreText();

  let phase: Mapper["phase"] = "open";
  let ending: string | undefined;
  let taskId = start.taskId;
  let sessionId = start.sessionId;
  let working = resumed;
  let announced = false;

  function position(): Position {
    const shown = speech.shown();
    const shownCalls = tools.shown();
    return {
      pipelineSequence: pipeline.sequence,
      openSteps: pipeline.openSteps,
      shownText: shown ? [...before.shownText, shown] : before.shownText,
      ...(shownCalls && { shownCalls }),
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

  function fail(
    code: RunErrorCode,
    reason: string | undefined,
    more: { cancel?: boolean; resumable?: boolean } = {},
  ): void {
    out.push({ do: "leave" });
    if (more.cancel) out.push({ do: "cancel" });
    closeAll();
    if (!more.resumable) save({ change: "end", position: position() });
    else if (hasMoved()) save({ change: "position", position: position() });
    end(code);
    emit({ type: "RUN_ERROR", code, message: start.describe(code, reason), ...closing() });
  }

  /** Whether anything was shown that a later run must not show again. */
  function hasMoved(): boolean {
    return pipeline.sequence > before.pipelineSequence || speech.shown() !== undefined || tools.hasMoved();
  }

  function broken(): void {
    fail("A2A_PROTOCOL_ERROR", undefined, { cancel: true });
  }

  function end(how: string): void {
    phase = "ended";
    ending = how;
  }

  /** What every end of a run tells. */
  function closing(): { threadId: string; runId: string; usage?: readonly UsageRecord[] } {
    const { threadId, runId } = start;
    const sums = usage.sums();
    return { threadId, runId, ...(sums && { usage: sums }) };
  }

  function closeAll(): void {
    speech.speaker.close();
    pipeline.close();
    spans.closeAll();
  }

  function succeed(durable: boolean): void {
    out.push({ do: "leave" });
    closeAll();
    if (durable) save({ change: "end", position: position() });
    end("success");
    emit({ type: "RUN_FINISHED", outcome: { type: "success" }, ...closing() });
  }

  function interrupt(expiresAt: number | null): void {
    const pending = questions.announced(expiresAt);
    for (const { value } of pending.values()) {
      const toolUseId = text(value.toolUseId);
      // A cut may have swallowed the call that the user is asked about.
      if (toolUseId !== undefined) tools.announce(toolUseId, text(value.toolName) ?? "tool", speech.speaker);
    }
    const at = { taskId: taskId ?? "", sessionId, pending, position: position() };
    commit({ change: "interrupt", ...at }, () => announceInterrupts(pending));
  }

  function announceInterrupts(waiting: ReadonlyMap<string, PendingInput>): void {
    out.push({ do: "leave" });
    closeAll();
    end("interrupt");
    const interrupts = [...waiting].map(([id, input]) => start.announce(id, input));
    emit({ type: "RUN_FINISHED", outcome: { type: "interrupt", interrupts }, ...closing() });
  }

  function isForeign(frame: Frame): boolean {
    const found = idsOf(frame);
    if (found.contextId !== undefined && found.contextId !== start.contextId) return true;
    return found.taskId !== undefined && taskId !== null && found.taskId !== taskId;
  }

  /** The message was not begun on: it is sent again, as if it never had been. */
  function retry(): void {
    taskId = start.taskId;
    out.push({ do: "leave" }, { do: "retry" });
  }

  function accept(status: Status, history: readonly WireMessage[] | undefined): void {
    taskId ??= status.taskId ?? null;
    const { iac, state } = status;
    sessionId = sessionIn(iac) ?? sessionId;
    const said = status.message?.text;
    if (!working && (isRefusal(state, said) || isTakenAlong(state, said))) return retry();
    if (state !== undefined && state !== "SUBMITTED") working = true;
    if (status.unknownState !== undefined) note(`unknown state ${status.unknownState}`);
    if (resumed || !isSessionNews()) return map(status, history);
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
    content(status, history, ending);
    const asks = spans.isCrowded || pipeline.isCrowded ? "broken" : questions.note(iac);
    if (asks === "broken") return broken();
    conclude(status, ending, asks);
    moreText.note(status);
  }

  function metadata(iac: JsonObject): void {
    if (iac.pipeline !== undefined || iac.pipelineBatch !== undefined) pipeline.accept(iac);
    if (isObject(iac.tool)) {
      if (iac.tool.status === "started") speech.breakOff();
      tools.accept(iac.tool, speech.speaker);
    }
    const thought = rawThinking(iac.thinking);
    if (thought !== undefined) speech.think(thought);
    if (iac.usage !== undefined) usage.add(iac.usage);
  }

  /** What a status says: neither an error's reason nor a question's prompt is speech of the agent. */
  function content(
    { message, iac }: Status,
    history: readonly WireMessage[] | undefined,
    ending: ReturnType<typeof endingOf>,
  ): void {
    const isPrompt = isObject(iac.input) && iac.input.prompt === message?.text;
    const said = message?.role === "ROLE_USER" || isPrompt || ending?.ends === "error" ? undefined : message;
    if (history) return speech.account(history, said);
    if (!said || said.text === "") return;
    if (isObject(iac.assistantFinal) && iac.assistantFinal.complete === true) speech.answer(said.text);
    else speech.piece(said);
  }

  function conclude(status: Status, ending: ReturnType<typeof endingOf>, asks: Asks): void {
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
        if (resumed) { for (const key of before.openSteps) spans.startStep(stepName(key)); }
      }),
    accept: (frame) =>
      effects(() => {
        if (phase === "ended") return;
        const more = frame.kind === "status" ? moreText.of(frame.status) : undefined;
        if (more) return speech.piece(more);
        if (isForeign(frame)) return broken();
        switch (frame.kind) {
          case "status":
            return accept(frame.status, undefined);
          case "task":
            return accept(frame.status, frame.history);
          case "artifact": {
            const value = { schemaVersion: 1, ...frame.artifact };
            return emit({ type: "CUSTOM", name: "iac-code.artifact.v1", value });
          }
          case "error":
            return !working && isTakenAlong("FAILED", frame.message)
              ? retry()
              : fail(errorCode(frame.data), frame.message);
          case "invalid":
            return broken();
        }
      }),
    recover: (state) =>
      effects(() => {
        if (phase !== "ended") pipeline.recover(state);
      }),
    answered: (interruptId, digest, answer) =>
      effects(() => {
        const input = questions.pending.get(interruptId);
        commit({ change: "answered", interruptId, digest, position: position() }, () => {
          questions.settle(interruptId);
          announceSession();
          const toolUseId = text(input?.value.toolUseId);
          const name = text(input?.value.toolName) ?? "tool";
          if (answer !== undefined && toolUseId !== undefined) tools.result(toolUseId, name, answer, speech.speaker);
        });
      }),
    expect: (interruptIds) => questions.expect(interruptIds),
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
    pending: questions.pending,
    isApplied: (interruptId) => questions.isSettled(interruptId),
  };
}
