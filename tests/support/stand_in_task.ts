/** A task of the stand-in kernel: the frames about it, and what GetTask shows after they were sent. */
import {
  agentMessage,
  assistantFinal,
  type DemoState,
  milestone,
  permissionDisplay,
  permissionInput,
  session,
  statusUpdate,
  textPiece,
  toolFrame,
  toolInput,
  usage,
  working,
} from "../../demo/frames.ts";
import { isObject, type JsonObject } from "../../src/json.ts";

export interface StandInTask {
  readonly id: string;
  readonly contextId: string;
  readonly sessionId: string;
  /** The state that the frames sent so far have come to. */
  readonly state: string;
  /** What the kernel sends first for a message. */
  begin(): JsonObject[];
  text(piece: string): JsonObject;
  /** A status update with metadata. */
  working(iac: JsonObject): JsonObject;
  milestone(state: DemoState, text?: string): JsonObject;
  /** The frames of a tool that waits for leave: started, its arguments, the question. */
  permission(inputId: string): JsonObject[];
  /** What the tool answered. */
  toolResult(inputId: string, result: string): JsonObject;
  /** What the kernel sends last: usage, the whole answer once more, the state that ends a turn. */
  finish(answer: string): JsonObject[];
  /** Takes over what a frame about this task says, as the kernel's store does. */
  remember(frame: JsonObject): void;
  /** What GetTask answers. */
  snapshot(): JsonObject;
}

/** A new task in a context. */
export function newTask(contextId: string, sessionId: string, id: string = crypto.randomUUID()): StandInTask {
  const identity = { id, contextId, sessionId };
  const history: JsonObject[] = [];
  let status: JsonObject = { state: "TASK_STATE_SUBMITTED" };
  let iac: JsonObject = session(identity);
  const writes = (inputId: string) => ({ id: `call-${inputId}`, name: "write_file", input: { path: "a.txt" } });

  return {
    ...identity,
    get state() {
      return String(status.state).replace("TASK_STATE_", "");
    },
    begin: () => [
      { task: { id, contextId, status: { state: "TASK_STATE_SUBMITTED" }, history: [] } },
      milestone(identity, "SUBMITTED"),
      milestone(identity, "WORKING"),
    ],
    text: (piece) => textPiece(identity, piece),
    working: (more) => working(identity, { ...session(identity), ...more }),
    milestone: (state, text) => milestone(identity, state, text),
    permission(inputId) {
      const call = writes(inputId);
      const input = { ...permissionInput(identity, permissionDisplay(call, "a.txt")), inputId };
      return [
        toolFrame(identity, call, { status: "started" }),
        toolInput(identity, call),
        statusUpdate(identity, "INPUT_REQUIRED", { ...session(identity), input }),
      ];
    },
    toolResult: (inputId, result) => toolFrame(identity, writes(inputId), { status: "completed", result }),
    finish: (answer) => [
      usage(identity, 7),
      assistantFinal(identity, answer),
      milestone(identity, "INPUT_REQUIRED"),
    ],
    remember({ statusUpdate: update }) {
      if (!isObject(update) || !isObject(update.status)) return;
      const { message } = status;
      if (isObject(message)) history.push(message);
      status = update.status;
      if (isObject(update.metadata) && isObject(update.metadata["iac_code"])) iac = update.metadata["iac_code"];
    },
    snapshot: () => ({
      id,
      contextId,
      status,
      ...(history.length > 0 && { history: [...history] }),
      metadata: { "iac_code": iac },
    }),
  };
}

/** A frame of a task that nobody has asked for. */
export function foreignFrame(contextId: string): JsonObject {
  const identity = { id: crypto.randomUUID(), contextId, sessionId: crypto.randomUUID() };
  return statusUpdate(identity, "WORKING", session(identity), {
    message: agentMessage(identity, `${identity.id}-message`, "somebody else's"),
  });
}
