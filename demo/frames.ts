/** Frames of the A2A wire, shaped as the recorded kernel writes them. */
import type { Json, JsonObject } from "../src/json.ts";

/** Who a frame is about. */
export interface TaskIdentity {
  readonly id: string;
  readonly contextId: string;
  readonly sessionId: string;
}

export type DemoState = "SUBMITTED" | "WORKING" | "INPUT_REQUIRED" | "COMPLETED" | "CANCELED" | "FAILED";

/** The kernel ends the message ids of its own statuses in the state's number. */
const STATE_NUMBERS: Readonly<Record<DemoState, number>> = {
  SUBMITTED: 1,
  WORKING: 2,
  COMPLETED: 3,
  FAILED: 4,
  CANCELED: 5,
  INPUT_REQUIRED: 6,
};

/** A call of a tool, as the frames about it name it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** A new call of a tool. */
export function toolCall(name: string, input: JsonObject): ToolCall {
  return { id: `call_${randomHex(8)}`, name, input };
}

/** `length` random hex digits. */
export function randomHex(length: number): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, length);
}

/** A message of the agent in a task. */
export function agentMessage(task: TaskIdentity, messageId: string, text: string): JsonObject {
  return { messageId, contextId: task.contextId, taskId: task.id, role: "ROLE_AGENT", parts: [{ text }] };
}

/** A status update without anything but its metadata: most frames are this. */
export function working(task: TaskIdentity, iac: JsonObject): JsonObject {
  return statusUpdate(task, "WORKING", iac);
}

/** A status update; `iac` becomes metadata.iac_code as it is. */
export function statusUpdate(task: TaskIdentity, state: DemoState, iac: JsonObject, status?: JsonObject): JsonObject {
  return {
    statusUpdate: {
      taskId: task.id,
      contextId: task.contextId,
      status: { state: `TASK_STATE_${state}`, ...status },
      metadata: { "iac_code": iac },
    },
  };
}

/** A status update that marks a point in the task's life: it has a time, and may carry a text of the kernel's own. */
export function milestone(task: TaskIdentity, state: DemoState, text?: string, iac?: JsonObject): JsonObject {
  const message = text === undefined ? {} : { message: agentMessage(task, `${task.id}-${STATE_NUMBERS[state]}`, text) };
  return statusUpdate(task, state, { ...session(task), ...iac }, { ...message, timestamp: new Date().toISOString() });
}

/** A piece of the agent's text. All of a task's pieces share one message id. */
export function textPiece(task: TaskIdentity, text: string): JsonObject {
  return statusUpdate(task, "WORKING", session(task), { message: agentMessage(task, `${task.id}-message`, text) });
}

/** A piece of the agent's thinking. */
export function thinkingPiece(task: TaskIdentity, text: string): JsonObject {
  return working(task, { ...session(task), thinking: { type: "raw_thinking", text } });
}

/** The whole answer once more, as the kernel sends it before a turn ends. */
export function assistantFinal(task: TaskIdentity, text: string): JsonObject {
  return milestone(task, "WORKING", text, { assistantFinal: { complete: true } });
}

/** A tool frame; `fields` says which of the tool's stages it is. */
export function toolFrame(task: TaskIdentity, call: ToolCall, fields: JsonObject): JsonObject {
  return working(task, { ...session(task), tool: { toolUseId: call.id, name: call.name, ...fields } });
}

/** The tool frame that says how much of the arguments is there; it names no tool. */
export function toolInputDelta(task: TaskIdentity, call: ToolCall): JsonObject {
  const partialJsonLength = JSON.stringify(call.input).length;
  return working(task, { ...session(task), tool: { toolUseId: call.id, partialJsonLength, status: "input_delta" } });
}

/** The tool frame with the whole arguments. */
export function toolInput(task: TaskIdentity, call: ToolCall): JsonObject {
  const fields = Object.fromEntries(
    Object.entries(call.input).map(([key, value]) => [key, { type: pythonType(value) }]),
  );
  const inputSummary = { "tool_name": call.name, fields };
  return toolFrame(task, call, { status: "input_complete", toolInput: call.input, inputSummary });
}

function pythonType(value: Json): string {
  if (value === null) return "NoneType";
  if (typeof value === "string") return "str";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float";
  return Array.isArray(value) ? "list" : "dict";
}

/** What a call of the model is said to have used. */
export function usageRecord(outputTokens: number): JsonObject {
  const inputTokens = 11;
  return {
    provider: "demo",
    model: "no-model",
    inputTokens,
    outputTokens,
    cachedInputTokens: 0,
    totalTokens: inputTokens + outputTokens,
  };
}

/** A usage frame of a normal turn. */
export function usage(task: TaskIdentity, outputTokens: number): JsonObject {
  return working(task, { ...session(task), usage: usageRecord(outputTokens) });
}

/** The metadata that most frames carry. */
export function session(task: TaskIdentity): { iacCodeSessionId: string } {
  return { iacCodeSessionId: task.sessionId };
}

/** An artifact of a text file, and the summary of it that a tool's result carries. */
export async function textArtifact(
  name: string,
  content: string,
): Promise<{ artifact: JsonObject; summary: JsonObject }> {
  const artifactId = crypto.randomUUID();
  const bytes = new TextEncoder().encode(content);
  const uri = `iac-code-artifact://${artifactId}/${encodeURIComponent(name)}`;
  const metadata = { uri, mediaType: "text/plain", byteSize: bytes.length, sha256: await sha256(bytes) };
  const part = { url: uri, metadata, filename: name, mediaType: "text/plain" };
  return {
    artifact: { artifactId, name, parts: [part], metadata },
    summary: { artifactId, filename: name, ...metadata },
  };
}

/** An artifact update with all of its artifact. */
export function artifactUpdate(task: TaskIdentity, artifact: JsonObject): JsonObject {
  return { artifactUpdate: { taskId: task.id, contextId: task.contextId, artifact, lastChunk: true } };
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** A permission as metadata.iac_code.input; `display` is what the user is told of it. */
export function permissionInput(task: TaskIdentity, display: JsonObject): JsonObject {
  return {
    ...display,
    schemaVersion: 1,
    kind: "permission",
    required: true,
    contextId: task.contextId,
    requestTaskId: task.id,
    inputId: `permission-${randomHex(32)}`,
  };
}

/** What the user is told of a tool call that wants to change a file. */
export function permissionDisplay(call: ToolCall, target: string): JsonObject {
  const title = "Change a workspace file";
  return {
    title,
    prompt: `${title} Allow once?`,
    purpose: "Write a file needed for the requested infrastructure task.",
    effect: "file_change",
    target,
    isReadOnly: false,
    safeSummary: `${call.name}: ${JSON.stringify({ path: target })}`,
    options: [{ id: "allow_once", label: "Allow once" }, { id: "deny", label: "Deny" }],
    toolName: call.name,
    toolUseId: call.id,
    language: "en",
  };
}
