/** The tasks of the demo kernel: what each has said so far, what it asks, and who listens. */
import { isObject, type JsonObject, text } from "../src/json.ts";
import type { EventStream } from "./event_stream.ts";
import { agentMessage, type DemoState, session, type TaskIdentity } from "./frames.ts";

/** Tasks kept; the oldest is forgotten first, whatever it does. */
export const MAX_TASKS = 1_000;
/** Pieces of text kept over all tasks: some 50 MB. A burst has 5,000 of them. */
const MAX_PIECES = 1_000_000;
/** Contexts whose session is kept. */
const MAX_CONTEXTS = 10_000;

/** Something a task waits for. */
export interface Question {
  /** What metadata.iac_code.input says about it. */
  readonly input: JsonObject;
  /** Asked beside the work, while the task stays in WORKING. */
  readonly sideband: boolean;
  /** Takes a permission's decision, or what the user wrote. */
  answer(value: string): void;
}

export interface DemoTask extends TaskIdentity {
  /** What the user wrote, and how. */
  readonly request: { readonly text: string; readonly images: number; readonly runMode: string | undefined };
  /** The user's message as the task frame repeats it. */
  readonly userMessage: JsonObject;
  state: DemoState;
  /** The `status` of the newest update. */
  status: JsonObject;
  /** metadata.iac_code of the newest update. */
  iac: JsonObject;
  /** Earlier status messages. */
  readonly pieces: { readonly messageId: string; readonly text: string }[];
  readonly artifacts: JsonObject[];
  /** Pipeline events, in order. */
  readonly journal: JsonObject[];
  readonly questions: Map<string, Question>;
  readonly streams: Set<EventStream>;
  /** Aborted when the task is canceled, lost or forgotten. */
  readonly stopped: AbortController;
}

interface Context {
  readonly sessionId: string;
  taskId?: string;
  /** The pipeline is done: what comes now are normal turns. */
  handedOver: boolean;
}

export interface TaskStore {
  /** A new task for a message; busy when another task of its context is not done. */
  open(message: JsonObject): { task: DemoTask; busy: boolean };
  find(taskId: string): DemoTask | undefined;
  /** Whether a session belongs to a known context. */
  knowsSession(sessionId: string): boolean;
  /** Whether the context's pipeline has ended before. */
  isHandedOver(task: DemoTask): boolean;
  handOver(task: DemoTask): void;
  /** Forgets a task as if its process had died. */
  lose(task: DemoTask): void;
  stopAll(): void;
}

/** An empty store. */
export function createTaskStore(): TaskStore {
  const tasks = new Map<string, DemoTask>();
  const contexts = new Map<string, Context>();

  function contextOf(contextId: string): Context {
    const context = contexts.get(contextId) ?? { sessionId: crypto.randomUUID(), handedOver: false };
    contexts.delete(contextId);
    contexts.set(contextId, context);
    for (const oldest of contexts.keys()) {
      if (contexts.size <= MAX_CONTEXTS) break;
      contexts.delete(oldest);
    }
    return context;
  }

  function forgetOldest(): void {
    let pieces = 0;
    for (const task of tasks.values()) pieces += task.pieces.length;
    for (const task of tasks.values()) {
      if (tasks.size < MAX_TASKS && pieces <= MAX_PIECES) return;
      pieces -= task.pieces.length;
      lose(task);
    }
  }

  function lose(task: DemoTask): void {
    tasks.delete(task.id);
    task.stopped.abort();
    for (const stream of task.streams) stream.cut();
    task.streams.clear();
  }

  return {
    open(message) {
      forgetOldest();
      const contextId = text(message.contextId) ?? crypto.randomUUID();
      const context = contextOf(contextId);
      const before = context.taskId === undefined ? undefined : tasks.get(context.taskId);
      const task = newTask(message, contextId, context.sessionId);
      tasks.set(task.id, task);
      const busy = before !== undefined && isBusy(before);
      if (!busy) context.taskId = task.id;
      return { task, busy };
    },
    find: (taskId) => tasks.get(taskId),
    knowsSession: (sessionId) => contexts.values().some((context) => context.sessionId === sessionId),
    isHandedOver: (task) => contexts.get(task.contextId)?.handedOver ?? false,
    handOver: (task) => void (contextOf(task.contextId).handedOver = true),
    lose,
    stopAll() {
      for (const task of tasks.values()) {
        task.stopped.abort();
        endStreams(task);
      }
    },
  };
}

function newTask(message: JsonObject, contextId: string, sessionId: string): DemoTask {
  const id = crypto.randomUUID();
  const parts = Array.isArray(message.parts) ? message.parts.filter(isObject) : [];
  const iac = isObject(message.metadata) ? message.metadata["iac_code"] : undefined;
  return {
    id,
    contextId,
    sessionId,
    request: {
      text: parts.map((part) => text(part.text) ?? "").join("\n").trim(),
      images: parts.filter((part) => isObject(part.data) && text(part.data.bytes) !== undefined).length,
      runMode: isObject(iac) ? text(iac["run_mode"]) : undefined,
    },
    userMessage: withoutSecrets({ ...message, contextId, taskId: id }),
    state: "SUBMITTED",
    status: { state: "TASK_STATE_SUBMITTED" },
    iac: { iacCodeSessionId: sessionId },
    pieces: [],
    artifacts: [],
    journal: [],
    questions: new Map(),
    streams: new Set(),
    stopped: new AbortController(),
  };
}

/** The kernel repeats no key of a request. */
function withoutSecrets(message: JsonObject): JsonObject {
  const iac = isObject(message.metadata) ? message.metadata["iac_code"] : undefined;
  if (!isObject(iac)) return message;
  const kept = Object.entries(iac).filter(([key]) => !/key|secret|token|headers/i.test(key));
  return { ...message, metadata: { "iac_code": Object.fromEntries(kept) } };
}

/** Whether a task works or waits for an answer. */
export function isBusy(task: DemoTask): boolean {
  return !task.stopped.signal.aborted &&
    (task.state === "SUBMITTED" || task.state === "WORKING" || task.questions.size > 0);
}

/** Whether nothing more can come of a task. */
export function isOver(task: DemoTask): boolean {
  return task.state === "COMPLETED" || task.state === "CANCELED" || task.state === "FAILED";
}

/** Takes an update over into the task and sends it to all who listen. A stopped task says nothing more. */
export function publish(task: DemoTask, update: JsonObject): void {
  if (task.stopped.signal.aborted) return;
  const { statusUpdate, artifactUpdate } = update;
  if (isObject(statusUpdate)) remember(task, statusUpdate);
  if (isObject(artifactUpdate) && isObject(artifactUpdate.artifact)) task.artifacts.push(artifactUpdate.artifact);
  const json = JSON.stringify(update);
  for (const stream of task.streams) stream.send(json);
}

/** As the kernel's store does: the older status message moves to the history, the metadata is replaced. */
function remember(task: DemoTask, { status, metadata }: JsonObject): void {
  if (!isObject(status)) return;
  const { message } = task.status;
  if (isObject(message)) {
    const [part] = Array.isArray(message.parts) ? message.parts : [];
    task.pieces.push({
      messageId: text(message.messageId) ?? "",
      text: isObject(part) ? text(part.text) ?? "" : "",
    });
  }
  task.status = status;
  task.state = String(status.state).replace("TASK_STATE_", "") as DemoState;
  if (isObject(metadata) && isObject(metadata["iac_code"])) task.iac = metadata["iac_code"];
}

/** Ends every stream of a task; the task itself goes on. */
export function endStreams(task: DemoTask): void {
  for (const stream of task.streams) stream.end();
  task.streams.clear();
}

/** Ends a task from outside. */
export function stop(task: DemoTask, lastWord: JsonObject): void {
  task.questions.clear();
  publish(task, lastWord);
  task.stopped.abort();
  endStreams(task);
}

/** What the kernel sends first for a new message. */
export function openingFrame(task: DemoTask): JsonObject {
  const { id, contextId, status, userMessage } = task;
  return { task: { id, contextId, status, history: [userMessage] } };
}

/** The task as GetTask shows it; `historyLength` keeps only the newest messages. */
export function snapshot(task: DemoTask, historyLength?: number): JsonObject {
  const { id, contextId, status, artifacts } = task;
  const pieces = historyLength === undefined ? task.pieces : historyLength > 0 ? task.pieces.slice(-historyLength) : [];
  const history = pieces.map((piece) => agentMessage(task, piece.messageId, piece.text));
  const pendingPermissions = task.questions.values().filter((question) => question.sideband).map(publicForm).toArray();
  const { input, ...iac } = task.iac;
  const isAsked = isObject(input) && input.scope === undefined;
  return {
    id,
    contextId,
    status,
    ...(artifacts.length > 0 && { artifacts }),
    ...(history.length > 0 && { history }),
    metadata: {
      "iac_code": {
        ...session(task),
        ...iac,
        ...(isAsked && { input }),
        ...(pendingPermissions.length > 0 && { pendingPermissions }),
      },
    },
  };
}

/** In GetTask a sideband permission does not say which candidate asks. */
function publicForm({ input }: Question): JsonObject {
  const { scope: _scope, subPipelineId: _subPipelineId, ...rest } = input;
  return rest;
}
