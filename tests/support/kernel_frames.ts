/** The kernel's frames, as few words as possible: for tests that tell a mapper what the kernel says. */
import type { Json, JsonObject } from "../../src/json.ts";
import { type Frame, toFrame } from "../../src/kernel/wire.ts";

export const TASK = "task-1";
export const CONTEXT = "context-1";
export const SESSION = "session-1";

/** A status update in a state, with metadata and a message. */
export function status(state: string, iac: JsonObject = {}, message?: JsonObject): Frame {
  return toFrame({
    result: {
      statusUpdate: {
        taskId: TASK,
        contextId: CONTEXT,
        status: { state: `TASK_STATE_${state}`, ...(message && { message }) },
        metadata: { "iac_code": { iacCodeSessionId: SESSION, ...iac } },
      },
    },
  });
}

/** A message of the agent; its id is the one that the kernel gives to what it streams. */
export function message(text: string, messageId = `${TASK}-message`, role = "ROLE_AGENT"): JsonObject {
  return { messageId, taskId: TASK, contextId: CONTEXT, role, parts: [{ text }] };
}

/** A piece of agent text. */
export function piece(text: string, messageId?: string): Frame {
  return status("WORKING", {}, message(text, messageId));
}

/** The whole answer once more. */
export function final(text: string): Frame {
  return status("WORKING", { assistantFinal: { complete: true } }, message(text, `${TASK}-2`));
}

export function thought(text: string): Frame {
  return status("WORKING", { thinking: { type: "raw_thinking", text } });
}

export function tool(toolUseId: string, toolStatus: string, more: JsonObject = {}): Frame {
  return status("WORKING", { tool: { toolUseId, status: toolStatus, name: "list_files", ...more } });
}

export function usage(more: JsonObject = {}): Frame {
  const record = { provider: "openai", model: "other", inputTokens: 11, outputTokens: 7, totalTokens: 18 };
  return status("WORKING", { usage: { ...record, cachedInputTokens: 0, ...more } });
}

export function artifact(artifactId: string, more: JsonObject = {}): Frame {
  return toFrame({
    result: { artifactUpdate: { taskId: TASK, contextId: CONTEXT, artifact: { artifactId, name: "a.txt" }, ...more } },
  });
}

/** The task's own account, as GetTask and a subscription tell it. */
export function account(state: string, history: JsonObject[], iac: JsonObject = {}, current?: JsonObject): Frame {
  return toFrame({
    result: {
      task: {
        id: TASK,
        contextId: CONTEXT,
        status: { state: `TASK_STATE_${state}`, ...(current && { message: current }) },
        history,
        metadata: { "iac_code": { iacCodeSessionId: SESSION, ...iac } },
      },
    },
  });
}

/** A permission that the kernel asks for. */
export function permission(inputId: string, toolUseId = "call-1", more: JsonObject = {}): JsonObject {
  const input = { schemaVersion: 1, kind: "permission", required: true, inputId, requestTaskId: TASK };
  return { ...input, contextId: CONTEXT, prompt: "Allow once?", toolName: "write_file", toolUseId, ...more };
}

/** A frame that asks. */
export function asks(input: JsonObject, state = "INPUT_REQUIRED"): Frame {
  return status(state, { input });
}

/** One event of a pipeline: the number also makes its id. */
export function envelope(sequence: number, eventType: string, data: Json = {}, more: JsonObject = {}): JsonObject {
  return {
    schemaVersion: 1,
    eventId: `event-${sequence}`,
    sequence,
    eventType,
    scope: "step",
    pipelineRunId: "pipeline-1",
    taskId: TASK,
    contextId: CONTEXT,
    step: { id: "plan", runId: "step-plan-1" },
    data,
    ...more,
  };
}

export function pipeline(...events: JsonObject[]): Frame {
  const [event] = events;
  return status("WORKING", events.length === 1 && event ? { pipeline: event } : { pipelineBatch: { events } });
}

/** What a candidate's step adds to an envelope. */
export function candidate(name: string, stepId: string): JsonObject {
  return {
    scope: "candidate_step",
    candidate: { id: name, runId: `${name}-run` },
    candidateStep: { id: stepId, runId: `${name}-${stepId}-run` },
  };
}

/** How each task begins, up to the point at which its session is told of. */
export const BEGUN: readonly Frame[] = [
  account("SUBMITTED", [message("hello", "m-1", "ROLE_USER")]),
  status("WORKING"),
];
/** How a turn ends. */
export const ENDED: Frame = status("INPUT_REQUIRED");
