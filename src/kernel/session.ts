/**
 * What the kernel knows of a turn besides its task: after a permission was answered it tells what happens to the stream of
 * that answer only, and neither the task's account nor a subscription goes on (docs/protocol.md, "A cut stream"). Pure.
 */
import { isObject, type JsonObject, text } from "../json.ts";
import type { Frame, Status, TaskState } from "./wire.ts";

/** The newest execution of a context, as the kernel's process has it. */
export interface Execution {
  readonly executionId: string;
  readonly taskId: string;
  /** Whether the turn is under way; also false just before it goes on after an answer. */
  readonly isWorking: boolean;
  /** Whether any request is being carried out. */
  readonly isAlive: boolean;
}

/** The answer of `/iac-code/execution/state`; undefined when it is none. */
export function executionOf(
  { executionId, taskId, executionStatus, streamAvailable }: JsonObject,
): Execution | undefined {
  const [id, task] = [text(executionId), text(taskId)];
  if (id === undefined || task === undefined) return undefined;
  return {
    executionId: id,
    taskId: task,
    isWorking: executionStatus === "working" && streamAvailable === true,
    isAlive: streamAvailable === true,
  };
}

/** How a session's last turn stands: the agent has answered, a tool is being asked about or run, or the model is to speak. */
export type TurnStand = "answered" | "atTool" | "atModel";

/** How the last turn of a session stands, by its messages. */
export function turnStand(messages: readonly JsonObject[]): TurnStand {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return "atModel";
  return blocksOf(last).some(({ type }) => type === "tool_use") ? "atTool" : "answered";
}

interface Task {
  readonly taskId: string;
  readonly contextId: string;
}

/**
 * The last turn of a session as frames of its task: its calls, their results, and all text so far, in their order. What was
 * shown before is recognized as in any account; before the first result of one of the `open` calls there is nothing else.
 */
export function turnFrames(messages: readonly JsonObject[], task: Task, open: ReadonlySet<string>): Frame[] {
  const frames: Frame[] = [];
  const begin = messages.findLastIndex(isUsers);
  let said = "";
  let isNews = open.size === 0;
  for (const message of messages.slice(begin + 1)) {
    for (const block of blocksOf(message)) {
      const result = text(block.tool_use_id);
      isNews ||= result !== undefined && open.has(result);
      if (message.role === "assistant" && block.type === "text") said += text(block.text) ?? "";
      if (isNews) frames.push(...blockFrames(block, said, task));
    }
  }
  return frames;
}

/** A turn's end as its task's last status. */
export function turnEnd(state: TaskState, task: Task): Frame {
  return { kind: "status", status: statusOf(state, {}, task) };
}

/** Whether a message is the user's own, and not the results of tools. */
function isUsers(message: JsonObject): boolean {
  return message.role === "user" && !blocksOf(message).some(({ type }) => type === "tool_result");
}

function blocksOf({ content }: JsonObject): JsonObject[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

function blockFrames(block: JsonObject, said: string, task: Task): Frame[] {
  const tool = (iac: JsonObject): Frame => ({ kind: "status", status: statusOf("WORKING", { tool: iac }, task) });
  switch (block.type) {
    case "text":
      return [accountOf(said, task)];
    case "tool_use": {
      const { id: toolUseId = null, name = null, input: toolInput = {} } = block;
      const call = { toolUseId, name };
      return [tool({ ...call, status: "started" }), tool({ ...call, status: "input_complete", toolInput })];
    }
    case "tool_result": {
      const { tool_use_id: toolUseId = null, content: result = "" } = block;
      return [tool({ toolUseId, status: block.is_error === true ? "failed" : "completed", result })];
    }
    default:
      return [];
  }
}

function accountOf(said: string, task: Task): Frame {
  const message = { messageId: `${task.taskId}-message`, role: "ROLE_AGENT", text: said };
  return { kind: "task", status: statusOf("WORKING", {}, task), history: [message] };
}

function statusOf(state: TaskState, iac: JsonObject, { taskId, contextId }: Task): Status {
  return { taskId, contextId, state, unknownState: undefined, message: undefined, iac };
}
