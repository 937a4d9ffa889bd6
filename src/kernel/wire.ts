/**
 * The kernel's wire, A2A 1.0 as recorded: JSON-RPC frames, task states, metadata.iac_code (docs/protocol.md, "The kernel").
 * Pure guards instead of schemas: every delta passes here, and unknown fields must pass too.
 */
import { isObject, type JsonObject, text } from "../json.ts";

/** What `/iac-code/pipeline/state` tells: the pipeline as it is now, and the events after a sequence. */
export interface PipelineState {
  readonly snapshot: JsonObject | undefined;
  readonly events: readonly JsonObject[];
}

export type TaskState =
  | "SUBMITTED"
  | "WORKING"
  | "INPUT_REQUIRED"
  | "COMPLETED"
  | "CANCELED"
  | "FAILED"
  | "REJECTED"
  | "AUTH_REQUIRED";

const STATES: ReadonlySet<string> = new Set(
  [
    "SUBMITTED",
    "WORKING",
    "INPUT_REQUIRED",
    "COMPLETED",
    "CANCELED",
    "FAILED",
    "REJECTED",
    "AUTH_REQUIRED",
  ] satisfies TaskState[],
);
const PREFIX = "TASK_STATE_";

/** A message of a task. */
export interface WireMessage {
  readonly messageId: string | undefined;
  readonly role: string | undefined;
  readonly text: string;
}

/** What a task or a status update says about its task. */
export interface Status {
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  readonly state: TaskState | undefined;
  /** The state as it was written, when it is none that is known. */
  readonly unknownState: string | undefined;
  readonly message: WireMessage | undefined;
  /** metadata.iac_code; empty when absent. Statuses that share this object differ in nothing but the text of their message. */
  readonly iac: JsonObject;
}

export type Frame =
  | { readonly kind: "status"; readonly status: Status }
  | { readonly kind: "task"; readonly status: Status; readonly history: readonly WireMessage[] }
  | { readonly kind: "artifact"; readonly taskId?: string; readonly contextId?: string; readonly artifact: JsonObject }
  | { readonly kind: "message"; readonly taskId?: string; readonly contextId?: string; readonly parts: JsonObject[] }
  | { readonly kind: "error"; readonly code: number | undefined; readonly message: string; readonly data: unknown }
  | { readonly kind: "other" }
  | { readonly kind: "invalid"; readonly why: string };

/** The text of one SSE frame, or of a JSON answer, as a frame. Never throws. */
export function parseFrame(data: string): Frame {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return { kind: "invalid", why: "not JSON" };
  }
  return toFrame(value);
}

/** A parsed JSON-RPC answer as a frame. */
export function toFrame(value: unknown): Frame {
  if (!isObject(value)) return { kind: "invalid", why: "not an object" };
  const { result, error } = value;
  if (isObject(error)) {
    return {
      kind: "error",
      code: typeof error.code === "number" ? error.code : undefined,
      message: text(error.message) ?? "",
      data: error.data,
    };
  }
  if (!isObject(result)) return { kind: "invalid", why: "neither result nor error" };
  const { statusUpdate, task, artifactUpdate, message } = result;
  if (isObject(statusUpdate)) return { kind: "status", status: statusOf(statusUpdate, text(statusUpdate.taskId)) };
  if (isObject(task)) return taskFrame(task);
  if (isObject(artifactUpdate)) return artifactFrame(artifactUpdate);
  if (isObject(message)) {
    const parts = Array.isArray(message.parts) ? message.parts.filter(isObject) : [];
    return { kind: "message", ...identity(message), parts };
  }
  // GetTask and CancelTask answer with the task itself.
  if (text(result.id) !== undefined && isObject(result.status)) return taskFrame(result);
  return { kind: "other" };
}

function taskFrame(task: JsonObject): Frame {
  const history = Array.isArray(task.history) ? task.history.filter(isObject).map(messageOf) : [];
  return { kind: "task", status: statusOf(task, text(task.id)), history };
}

function artifactFrame(update: JsonObject): Frame {
  const { artifact, append, lastChunk } = update;
  if (!isObject(artifact)) return { kind: "invalid", why: "an artifact update without its artifact" };
  const chunk = { ...(append !== undefined && { append }), ...(lastChunk !== undefined && { lastChunk }) };
  return { kind: "artifact", ...identity(update), artifact: { ...artifact, ...chunk } };
}

function identity(value: JsonObject): { taskId?: string; contextId?: string } {
  const [taskId, contextId] = [text(value.taskId), text(value.contextId)];
  return { ...(taskId !== undefined && { taskId }), ...(contextId !== undefined && { contextId }) };
}

function statusOf(value: JsonObject, taskId: string | undefined): Status {
  const status = isObject(value.status) ? value.status : undefined;
  const written = text(status?.state) ?? "";
  const name = written.startsWith(PREFIX) ? written.slice(PREFIX.length) : written;
  const known = STATES.has(name) ? name as TaskState : undefined;
  const message = status?.message;
  const iac = isObject(value.metadata) ? value.metadata["iac_code"] : undefined;
  return {
    taskId,
    contextId: text(value.contextId),
    state: known,
    unknownState: known === undefined && written !== "" ? written : undefined,
    message: isObject(message) ? messageOf(message) : undefined,
    iac: isObject(iac) ? iac : {},
  };
}

function messageOf(message: JsonObject): WireMessage {
  const { parts } = message;
  let joined = "";
  if (Array.isArray(parts)) {
    for (const part of parts) if (isObject(part) && typeof part.text === "string") joined += part.text;
  }
  return { messageId: text(message.messageId), role: text(message.role), text: joined };
}

/** The task and context that a frame is about, as far as it names them. */
export function idsOf(frame: Frame): { readonly taskId?: string | undefined; readonly contextId?: string | undefined } {
  if (frame.kind === "status" || frame.kind === "task") return frame.status;
  return frame.kind === "artifact" || frame.kind === "message" ? frame : {};
}

/** The states after which a task does nothing more. */
export function isFinal(state: TaskState | undefined): boolean {
  return state === "COMPLETED" || state === "CANCELED" || state === "FAILED" || state === "REJECTED";
}

/** A question that the kernel puts to the user. */
export interface RequiredInput {
  readonly inputId: string | undefined;
  readonly value: JsonObject;
  readonly sideband: boolean;
}

/** The required inputs that metadata names, each once: `input`, and those of parallel candidates in `pendingPermissions`. */
export function requiredInputs(iac: JsonObject): RequiredInput[] {
  const { input, pendingPermissions } = iac;
  if (input === undefined && pendingPermissions === undefined) return [];
  const found: RequiredInput[] = [];
  const add = (value: JsonObject, sideband: boolean): void => {
    const inputId = text(value.inputId);
    if (inputId === undefined || !found.some((other) => other.inputId === inputId)) {
      found.push({ inputId, value, sideband });
    }
  };
  if (isObject(input) && input.required === true) add(input, isCandidateScoped(input));
  // What is pending is required, unless it says that it is not.
  const pending = Array.isArray(pendingPermissions) ? pendingPermissions.filter(isObject) : [];
  for (const value of pending) if (value.required !== false) add(value, true);
  return found;
}

function isCandidateScoped({ scope, subPipelineId }: JsonObject): boolean {
  return (typeof scope === "string" && scope.startsWith("candidate")) || text(subPipelineId) !== undefined;
}
