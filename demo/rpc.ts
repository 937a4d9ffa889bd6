/** The kernel's JSON-RPC methods. */
import { isObject, type Json, type JsonObject, text } from "../src/json.ts";
import { openEventStream } from "./event_stream.ts";
import { milestone, randomHex } from "./frames.ts";
import { type Pace, Stopped } from "./pace.ts";
import { hearGuidance } from "./pipeline.ts";
import { chooseStory, GUIDED_PIPELINE } from "./stories.ts";
import {
  type DemoTask,
  endStreams,
  isBusy,
  isOver,
  openingFrame,
  publish,
  type Question,
  snapshot,
  stop,
  type TaskStore,
} from "./tasks.ts";
import { takeTurn } from "./turn.ts";

/** A JSON-RPC error: answered with HTTP 200, as the kernel does. */
class RpcError extends Error {
  constructor(readonly code: number, message: string) {
    super(message);
  }
}

const INVALID_PARAMS = -32602;
const TASK_NOT_FOUND = -32001;
const NOT_CANCELABLE = -32002;

export interface KernelParts {
  readonly tasks: TaskStore;
  readonly pace: Pace;
  /** Aborted when the kernel closes. */
  readonly closing: AbortSignal;
  /** The stories under way. */
  readonly told: Set<Promise<void>>;
}

type Method = (parts: KernelParts, params: JsonObject, rpcId: Json) => Response;

const METHODS: Readonly<Record<string, Method>> = {
  SendStreamingMessage: sendStreaming,
  SendMessage: send,
  GetTask: getTask,
  SubscribeToTask: subscribe,
  CancelTask: cancel,
};

/** Answers one JSON-RPC request. */
export function answerRpc(parts: KernelParts, body: unknown): Response {
  const rpcId: Json = isObject(body) ? body.id ?? null : null;
  try {
    if (!isObject(body) || body.jsonrpc !== "2.0") throw new RpcError(-32600, "Invalid Request");
    const name = text(body.method) ?? "";
    const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
    if (!method) throw new RpcError(-32601, "Method not found");
    return method(parts, isObject(body.params) ? body.params : {}, rpcId);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return Response.json({ jsonrpc: "2.0", id: rpcId, error: { code: error.code, message: error.message } });
  }
}

function result(value: JsonObject, rpcId: Json): Response {
  return Response.json({ result: value, id: rpcId, jsonrpc: "2.0" });
}

/** A stream that gets what the task says from now on. Leaving it does not stop the task. */
function follow({ closing }: KernelParts, task: DemoTask, rpcId: Json, first?: JsonObject): Response {
  const { stream, response } = openEventStream(rpcId, closing, () => task.streams.delete(stream));
  task.streams.add(stream);
  if (first) stream.send(JSON.stringify(first));
  return response;
}

function sendStreaming(parts: KernelParts, params: JsonObject, rpcId: Json): Response {
  const message = messageOf(params);
  const taskId = text(message.taskId);
  const permission = permissionAnswer(message);
  if (permission) {
    const { task, question, decision } = claim(parts, permission, taskId);
    const response = question.sideband ? undefined : follow(parts, task, rpcId);
    question.answer(decision);
    return response ?? streamOnce(parts, ack(task, permission), rpcId);
  }
  if (taskId !== undefined) return speakTo(parts, knownTask(parts, taskId), message, rpcId);
  const { task, busy } = parts.tasks.open(message);
  const response = follow(parts, task, rpcId, openingFrame(task));
  if (busy) refuse(task);
  else tell(parts, task);
  return response;
}

/** Without a stream: permissions, and messages whose task is asked for later. */
function send(parts: KernelParts, params: JsonObject, rpcId: Json): Response {
  const message = messageOf(params);
  const taskId = text(message.taskId);
  const permission = permissionAnswer(message);
  if (permission) {
    const { task, question, decision } = claim(parts, permission, taskId);
    question.answer(decision);
    return result(ack(task, permission), rpcId);
  }
  if (taskId !== undefined) throw new RpcError(INVALID_PARAMS, "Only permissions are answered without a stream.");
  const { task, busy } = parts.tasks.open(message);
  if (busy) refuse(task);
  else tell(parts, task);
  return result({ task: snapshot(task) }, rpcId);
}

function getTask(parts: KernelParts, params: JsonObject, rpcId: Json): Response {
  const task = knownTask(parts, text(params.id));
  return result(snapshot(task, typeof params.historyLength === "number" ? params.historyLength : undefined), rpcId);
}

function subscribe(parts: KernelParts, params: JsonObject, rpcId: Json): Response {
  const task = knownTask(parts, text(params.id));
  if (!isBusy(task)) throw new RpcError(TASK_NOT_FOUND, `Task ${task.id} is not active`);
  const first = { task: snapshot(task) };
  return task.state === "INPUT_REQUIRED" ? streamOnce(parts, first, rpcId) : follow(parts, task, rpcId, first);
}

function cancel(parts: KernelParts, params: JsonObject, rpcId: Json): Response {
  const task = knownTask(parts, text(params.id));
  if (isOver(task)) throw new RpcError(NOT_CANCELABLE, "Task cannot be canceled");
  stop(task, milestone(task, "CANCELED", "Task canceled."));
  return result(snapshot(task), rpcId);
}

/** Words for a task that asked for them, or guidance for a pipeline that runs. */
function speakTo(parts: KernelParts, task: DemoTask, message: JsonObject, rpcId: Json): Response {
  const [question] = task.questions.values().filter(({ input }) => input.kind !== "permission");
  const words = wordsOf(message);
  if (question) {
    const response = follow(parts, task, rpcId);
    question.answer(words);
    return response;
  }
  if (!isBusy(task)) throw new RpcError(INVALID_PARAMS, `Task ${task.id} is already completed.`);
  if (task.journal.length === 0 || task.state !== "WORKING") {
    throw new RpcError(INVALID_PARAMS, "Task is already working.");
  }
  const { stream, response } = openEventStream(rpcId, parts.closing, () => task.streams.delete(stream));
  task.streams.add(stream);
  hearGuidance(task, GUIDED_PIPELINE, words);
  task.streams.delete(stream);
  stream.end();
  return response;
}

function refuse(task: DemoTask): void {
  publish(task, milestone(task, "FAILED", "Task is already working."));
  endStreams(task);
}

/** Begins the story that the message asks for. */
function tell({ tasks, pace, told }: KernelParts, task: DemoTask): void {
  const { text: words, runMode } = task.request;
  const tellStory = chooseStory(words, runMode, tasks.isHandedOver(task));
  const turn = takeTurn(task, pace, () => tasks.lose(task));
  async function run(): Promise<void> {
    if (runMode !== "pipeline") {
      for (const state of ["SUBMITTED", "WORKING"] as const) publish(task, milestone(task, state));
    }
    try {
      await tellStory(turn);
      if (task.state === "COMPLETED") tasks.handOver(task);
      if (isOver(task)) endStreams(task);
      else turn.finish();
    } catch (error) {
      if (!(error instanceof Stopped)) turn.fail(error instanceof Error ? error.message : "unknown");
    }
  }
  const story = run().finally(() => told.delete(story));
  told.add(story);
}

function streamOnce({ closing }: KernelParts, frame: JsonObject, rpcId: Json): Response {
  const { stream, response } = openEventStream(rpcId, closing, () => {});
  stream.send(JSON.stringify(frame));
  stream.end();
  return response;
}

function messageOf({ message }: JsonObject): JsonObject {
  if (!isObject(message) || !Array.isArray(message.parts)) throw new RpcError(INVALID_PARAMS, "Invalid params");
  return message;
}

function wordsOf({ parts }: JsonObject): string {
  return Array.isArray(parts) ? parts.map((part) => isObject(part) ? text(part.text) ?? "" : "").join("") : "";
}

function knownTask({ tasks }: KernelParts, taskId: string | undefined): DemoTask {
  const task = taskId === undefined ? undefined : tasks.find(taskId);
  if (!task) throw new RpcError(TASK_NOT_FOUND, `Task ${taskId ?? ""} not found`);
  return task;
}

/** The decision that a message carries, if it is one. */
function permissionAnswer({ parts }: JsonObject): JsonObject | undefined {
  if (!Array.isArray(parts)) return undefined;
  for (const part of parts) {
    if (isObject(part) && isObject(part.data) && part.data.kind === "permission") return part.data;
  }
  return undefined;
}

/** The question that a decision is for; each can be answered once. */
function claim(
  parts: KernelParts,
  { requestTaskId, inputId, toolUseId, decision }: JsonObject,
  taskId: string | undefined,
): { task: DemoTask; question: Question; decision: string } {
  const task = knownTask(parts, taskId ?? text(requestTaskId));
  const question = task.questions.get(text(inputId) ?? "");
  const isMatch = question?.input.kind === "permission" && question.input.toolUseId === toolUseId &&
    requestTaskId === task.id;
  if (!question || !isMatch) {
    throw new RpcError(INVALID_PARAMS, "permission_resume_invalid: no such pending permission.");
  }
  if (decision !== "allow_once" && decision !== "deny") {
    throw new RpcError(INVALID_PARAMS, "permission_resume_invalid: unknown decision.");
  }
  return { task, question, decision };
}

function ack(task: DemoTask, { inputId = "", toolUseId = "", decision = "" }: JsonObject): JsonObject {
  const data = { schemaVersion: 1, kind: "permission_ack", inputId, toolUseId, decision, accepted: true };
  return {
    message: {
      messageId: `permission-ack-${randomHex(32)}`,
      contextId: task.contextId,
      taskId: task.id,
      role: "ROLE_AGENT",
      parts: [{ data, mediaType: "application/json" }],
    },
  };
}
