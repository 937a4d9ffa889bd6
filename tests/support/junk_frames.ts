/** Frames that no kernel should send, but one may: every field anything, ids from a handful so that they meet. */
import fc from "fast-check";
import type { Json, JsonObject } from "../../src/json.ts";
import type { Timeline } from "./task_timeline.ts";

const word = fc.oneof(fc.string({ unit: "binary", maxLength: 6 }), fc.constantFrom("call-1", "call-2", "task-1", ""));
const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;

const tool = fc.record({
  toolUseId: word,
  name: json,
  status: fc.constantFrom("started", "input_complete", "completed", "failed", "progress", "other"),
  toolInput: json,
  inputSummary: json,
  result: json,
}, { requiredKeys: ["toolUseId", "status"] });

const envelope = fc.record({
  eventId: fc.uuid(),
  sequence: fc.nat({ max: 200 }),
  eventType: fc.constantFrom(
    "text_delta",
    "thinking_delta",
    "tool_started",
    "step_started",
    "step_completed",
    "pipeline_started",
  ),
  scope: word,
  step: fc.oneof(json, fc.record({ id: word, runId: word })),
  candidate: fc.oneof(json, fc.record({ id: word, runId: word })),
  candidateStep: fc.oneof(json, fc.record({ id: word })),
  data: fc.oneof(json, fc.record({ text: word, type: word, toolUseId: word, toolName: word, result: json })),
});

const iac = fc.record({
  tool,
  thinking: fc.record({ type: fc.constantFrom("raw_thinking", "other"), text: fc.oneof(word, json) }),
  usage: fc.oneof(json, fc.record({ provider: word, inputTokens: json })),
  input: fc.oneof(
    json,
    fc.record({ required: fc.boolean(), inputId: word, options: json, toolUseId: word, prompt: json }),
  ),
  pendingPermissions: fc.array(fc.record({ required: fc.boolean(), inputId: word, toolUseId: word }), { maxLength: 2 }),
  assistantFinal: fc.record({ complete: fc.boolean() }),
  pipeline: envelope,
}, { requiredKeys: [] }) as fc.Arbitrary<unknown> as fc.Arbitrary<JsonObject>;

const message = fc.record({
  messageId: word,
  role: fc.constantFrom("ROLE_AGENT", "ROLE_USER"),
  parts: fc.array(fc.record({ text: word }), { maxLength: 2 }),
});

export const junk = fc.record({
  state: fc.constantFrom("WORKING", "WORKING", "SUBMITTED", "PONDERING", "INPUT_REQUIRED", "COMPLETED", "FAILED", ""),
  message: fc.option(message, { nil: undefined }),
  iac,
  /** As a task's own account, with such a history. */
  history: fc.option(fc.array(message, { maxLength: 4 }), { nil: undefined }),
});

/** Junk as a frame about a task. */
export function junkFrame(
  { taskId, contextId }: Timeline,
  { state, message, iac, history }: typeof junk extends fc.Arbitrary<infer T> ? T : never,
): JsonObject {
  const status = { state: `TASK_STATE_${state}`, ...(message && { message }) };
  const about = { contextId, status, metadata: { "iac_code": iac } };
  return { result: history ? { task: { id: taskId, ...about, history } } : { statusUpdate: { taskId, ...about } } };
}
