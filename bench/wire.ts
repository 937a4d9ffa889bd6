/** The frames that the stand-in kernel sends, in the shapes that were recorded from the real one. Pure. */

/** What a run asks the stand-in for; the benchmark puts it, as JSON, where a user's words would be. */
export interface Script {
  readonly wire: "text" | "mixed";
  /** Frames between the task's opening and its end. */
  readonly frames: number;
  /** Frames in one write. */
  readonly write: number;
  /** Time from one write to the next, in ms; 0: as fast as they are taken. */
  readonly gapMs: number;
}

/** The ids of one task. */
export interface Ids {
  readonly rpc: string;
  readonly task: string;
  readonly context: string;
  readonly session: string;
}

const WORDS = ["The ", "stack ", "has ", "two ", "subnets, ", "each ", "in a ", "zone.\n"];
const RESULT = `${"a line of a tool's result, as a file or a list would give it\n".repeat(68)}`.slice(0, 4096);
/** Frames in one round of the mixed wire. */
export const ROUND = 64;

/** How a task begins: itself, then two updates without content. */
export function opening(ids: Ids, message: object): string {
  const user = { ...message, contextId: ids.context, taskId: ids.task };
  const task = { id: ids.task, contextId: ids.context, status: { state: "TASK_STATE_SUBMITTED" }, history: [user] };
  return record(ids, { task }) + status(ids, "SUBMITTED", {}) + status(ids, "WORKING", {});
}

/** The kernel's normal end of a turn. */
export function closing(ids: Ids): string {
  return status(ids, "WORKING", { usage: usage() }) + status(ids, "INPUT_REQUIRED", {});
}

/** One delta of the agent's text. */
export function textFrame(ids: Ids, delta: string): string {
  const { task: taskId, context: contextId } = ids;
  const message = { messageId: `${taskId}-message`, contextId, taskId, role: "ROLE_AGENT", parts: [{ text: delta }] };
  return update(ids, { state: "TASK_STATE_WORKING", message }, {});
}

/** A text of `count` frames. */
export function textFrames(ids: Ids, count: number): string {
  return Array.from({ length: count }, (_, at) => textFrame(ids, WORDS[at % WORDS.length] ?? "")).join("");
}

/**
 * A round of everything: thoughts, text, a tool with its steps and a result of 4 KB, and two candidates of a pipeline side
 * by side with a tool each. `round` counts from 0 and keeps the ids and sequence numbers of a run apart.
 */
export function mixedRound(ids: Ids, round: number): string {
  let sequence = round * ROUND;
  const tool = (fields: object) => status(ids, "WORKING", { tool: { toolUseId: `call_${round}`, ...fields } });
  const event = (type: string, candidate: number, data: object) =>
    status(ids, "WORKING", { pipeline: envelope(ids, ++sequence, type, candidate, data) });
  const both = (type: string, data: (candidate: number) => object) =>
    [0, 1].map((candidate) => event(type, candidate, data(candidate)));
  const use = (candidate: number) => ({ toolUseId: `call_${round}_${candidate}`, toolName: "write_file" });
  return [
    ...WORDS.slice(0, 6).map((word) => status(ids, "WORKING", { thinking: { type: "raw_thinking", text: word } })),
    ...[...WORDS, ...WORDS].map((word) => textFrame(ids, word)),
    tool({ name: "read_file", status: "started" }),
    tool({ status: "input_delta", partialJsonLength: 13 }),
    tool({ status: "input_delta", partialJsonLength: 26 }),
    tool({ name: "read_file", status: "input_complete", toolInput: { path: "main.tf" } }),
    tool({ name: "read_file", status: "completed", result: RESULT }),
    status(ids, "WORKING", { usage: usage() }),
    ...both("candidate_step_started", () => ({ attempt: 1 })),
    ...both("thinking_delta", () => ({ type: "raw_thinking", text: "Cheaper? " })),
    ...Array.from({ length: 12 }, (_, at) => both("text_delta", () => ({ text: WORDS[at % WORDS.length] }))).flat(),
    ...both("tool_started", (candidate) => ({ ...use(candidate), input: { path: "main.tf" } })),
    ...both("tool_result", (candidate) => ({ ...use(candidate), result: RESULT, isError: false })),
    ...both("candidate_detail_shown", (candidate) => ({ candidateIndex: candidate, summary: WORDS.join("") })),
    ...both("candidate_step_completed", () => ({ durationS: 0.14, conclusion: { region: "cn-hangzhou" } })),
  ].join("");
}

function envelope(ids: Ids, sequence: number, eventType: string, index: number, data: object): object {
  const candidate = {
    id: `evaluate_${index}`,
    runId: `candidate-${index}-1`,
    index,
    name: `name-${index}`,
    attempt: 1,
  };
  return {
    schemaVersion: "1.0",
    extensionUri: "urn:iac-code:a2a:pipeline-events:v1",
    eventId: `evt-${String(sequence).padStart(32, "0")}`,
    sequence,
    eventType,
    scope: "candidate_step",
    pipelineName: "selling",
    pipelineRunId: ids.context,
    taskId: ids.task,
    contextId: ids.context,
    iacCodeSessionId: ids.session,
    createdAt: "2026-12-01T12:54:44Z",
    status: "working",
    step: { runId: "step-evaluate_candidates-1", index: 3, total: 5, attempt: 1, id: "evaluate_candidates" },
    candidate,
    candidateStep: { runId: `${candidate.runId}-template-1`, index: 1, total: 2, attempt: 1, id: "template" },
    data,
  };
}

function usage(): object {
  const tokens = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 0 };
  return { provider: "openai", model: "other", ...tokens };
}

function status(ids: Ids, state: string, iac: object): string {
  return update(ids, { state: `TASK_STATE_${state}` }, iac);
}

function update(ids: Ids, status: object, iac: object): string {
  const metadata = { "iac_code": { ...iac, iacCodeSessionId: ids.session } };
  return record(ids, { statusUpdate: { taskId: ids.task, contextId: ids.context, status, metadata } });
}

function record(ids: Ids, result: object): string {
  return `data: ${JSON.stringify({ result, id: ids.rpc, jsonrpc: "2.0" })}\r\n\r\n`;
}
