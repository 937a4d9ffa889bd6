/**
 * A scripted stand-in for the A2A kernel, for stories in which the kernel breaks, stalls or lies at a chosen byte. A test
 * scripts what each call answers, and reads what came.
 */
import { isObject, type JsonObject, text } from "../../src/json.ts";
import { newTask, type StandInTask } from "./stand_in_task.ts";
import { type Exchange, listenWire, type WireServer } from "./wire_server.ts";

export type CallName =
  | "SendStreamingMessage"
  | "SendMessage"
  | "GetTask"
  | "SubscribeToTask"
  | "CancelTask"
  | "ensure-restored"
  | "pipeline-state"
  | "execution-state"
  | "session-recovery";

/** One request to the kernel, and the means to answer it. */
export interface Call {
  readonly name: CallName;
  readonly params: JsonObject;
  /** `params.message`, or an empty object. */
  readonly message: JsonObject;
  readonly headers: Headers;
  readonly rpcId: string;
  /** The task that the call is about: the one it names, or a new one in its context. */
  readonly task: StandInTask;
  /** Resolves when the connection is over, whoever ended it. */
  readonly gone: Promise<void>;
  /** Whether the service ended the connection. */
  readonly left: boolean;
  /** Bytes of the answer that the service's socket has taken. */
  readonly taken: number;
  /** Sends results as frames of an event stream, in one write, and keeps it open. */
  send(...results: JsonObject[]): Promise<void>;
  /** Sends bytes of an event stream as they are; an empty text opens it. */
  raw(bytes: Uint8Array | string): Promise<void>;
  /** Ends the event stream properly. */
  end(): Promise<void>;
  /** Breaks the connection after what was sent. */
  cut(): Promise<void>;
  /** Answers with any body and type. */
  answer(status: number, type: string, body: string): Promise<void>;
  /** Answers with a JSON-RPC result. */
  reply(result: JsonObject): Promise<void>;
  /** Answers with a JSON-RPC error, which is HTTP 200. */
  fail(code: number, message: string): Promise<void>;
}

/** Answers a call. A stream that is still open when it returns is ended. */
export type Script = (call: Call) => void | Promise<void>;

export interface StandInKernel extends AsyncDisposable {
  readonly url: string;
  readonly calls: readonly Call[];
  readonly tasks: ReadonlyMap<string, StandInTask>;
  /** Open connections, idle ones included. */
  readonly connections: number;
  /** Scripts the next message streams, in order. Past the last one, `say("Hello ", "there.")` answers. */
  turn(...scripts: Script[]): void;
  /** Scripts every call of a name from now on. */
  on(name: CallName, script: Script): void;
  got(name: CallName): Call[];
  /** The `count`-th call of a name, as soon as it has come. */
  called(name: CallName, count?: number): Promise<Call>;
  /** Dies: connections break, new ones are refused. With `forget`, it comes back without its tasks. */
  down(options?: { forget?: boolean }): Promise<void>;
  /** Listens again, on the same port. */
  up(): void;
  /** Closes the connections that wait for a next request, as a server does with idle ones; resolves when they are. */
  closeIdle(): Promise<void>;
  /** Forgets calls, tasks and scripts, and gives the errors of scripts since the last time. */
  forget(): unknown[];
}

/** A frame as the kernel writes it. */
export function frame(call: Pick<Call, "rpcId">, result: JsonObject): string {
  return `data: ${JSON.stringify({ result, id: call.rpcId, jsonrpc: "2.0" })}\r\n\r\n`;
}

/** Starts a stand-in on a free port of 127.0.0.1. */
export function startStandIn(): StandInKernel {
  const calls: Call[] = [];
  const tasks = new Map<string, StandInTask>();
  const sessions = new Map<string, string>();
  const turns: Script[] = [];
  const handlers = new Map<CallName, Script>();
  const waiters = new Set<() => void>();
  const broken: unknown[] = [];
  let server: WireServer | undefined = listenWire(serve);
  const { port } = server;

  function taskOf(params: JsonObject, message: JsonObject): StandInTask {
    const named = text(message.taskId) ?? text(params.id) ?? text(params.taskId);
    const known = named === undefined ? undefined : tasks.get(named);
    if (known) return known;
    const contextId = text(message.contextId) ?? "";
    const sessionId = sessions.get(contextId) ?? crypto.randomUUID();
    sessions.set(contextId, sessionId);
    const task = newTask(contextId, sessionId, named);
    if (message.contextId !== undefined) tasks.set(task.id, task);
    return task;
  }

  function scriptOf({ name, message }: Call): Script {
    const next = name === "SendStreamingMessage" ? turns.shift() : undefined;
    return next ?? handlers.get(name) ??
      (name === "SendStreamingMessage" && message.taskId !== undefined
        ? afterPermission()
        : standardAnswer(name, tasks));
  }

  async function serve(exchange: Exchange): Promise<void> {
    const { name, params, rpcId } = parse(exchange);
    const message = isObject(params.message) ? params.message : {};
    const call = openCall(exchange, name, params, message, rpcId, taskOf(params, message));
    calls.push(call);
    for (const wake of waiters) wake();
    try {
      await scriptOf(call)(call);
      await call.end();
    } catch (error) {
      broken.push(error);
      await call.cut();
    }
  }

  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    tasks,
    get connections() {
      return server?.connections ?? 0;
    },
    turn: (...scripts) => void turns.push(...scripts),
    on: (name, script) => void handlers.set(name, script),
    got: (name) => calls.filter((call) => call.name === name),
    async called(name, count = 1) {
      while (true) {
        const call = calls.filter((each) => each.name === name)[count - 1];
        if (call) return call;
        const { promise, resolve } = Promise.withResolvers<void>();
        waiters.add(resolve);
        await promise;
        waiters.delete(resolve);
      }
    },
    async down({ forget = false } = {}) {
      await server?.close();
      server = undefined;
      if (!forget) return;
      tasks.clear();
      sessions.clear();
    },
    up() {
      server ??= listenWire(serve, port);
    },
    closeIdle: async () => await server?.closeIdle(),
    forget() {
      calls.length = 0;
      turns.length = 0;
      tasks.clear();
      sessions.clear();
      handlers.clear();
      return broken.splice(0);
    },
    async [Symbol.asyncDispose]() {
      await server?.close();
      if (broken.length > 0) throw new AggregateError(broken, "a script of the stand-in kernel failed");
    },
  };
}

/** What the service asks with GET. */
const ASKED: ReadonlyMap<string, CallName> = new Map([
  ["/iac-code/pipeline/state", "pipeline-state"],
  ["/iac-code/execution/state", "execution-state"],
  ["/iac-code/session/recovery", "session-recovery"],
]);

function parse({ method, path, body }: Exchange): { name: CallName; params: JsonObject; rpcId: string } {
  const url = new URL(path, "http://kernel");
  const asked = ASKED.get(url.pathname);
  if (method === "GET" && asked) return { name: asked, params: Object.fromEntries(url.searchParams), rpcId: "" };
  const value: unknown = JSON.parse(body);
  if (!isObject(value)) throw new Error(`not a call: ${method} ${path}`);
  if (url.pathname === "/iac-code/session/ensure-restored") {
    return { name: "ensure-restored", params: value, rpcId: "" };
  }
  const { params } = value;
  return { name: String(value.method) as CallName, params: isObject(params) ? params : {}, rpcId: String(value.id) };
}

const STREAM_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n" +
  "cache-control: no-store\r\ntransfer-encoding: chunked\r\n\r\n";

function openCall(
  exchange: Exchange,
  name: CallName,
  params: JsonObject,
  message: JsonObject,
  rpcId: string,
  task: StandInTask,
): Call {
  const encoder = new TextEncoder();
  let phase: "new" | "streaming" | "over" = "new";

  async function raw(given: Uint8Array | string): Promise<void> {
    if (phase === "over") return;
    const bytes = typeof given === "string" ? encoder.encode(given) : given;
    const head = phase === "new" ? encoder.encode(STREAM_HEAD) : new Uint8Array(0);
    phase = "streaming";
    await exchange.write(bytes.length === 0 ? head : chunk(head, bytes));
  }

  async function answer(status: number, type: string, body: string): Promise<void> {
    if (phase !== "new") throw new Error(`${name} was answered twice`);
    phase = "over";
    const { length } = encoder.encode(body);
    await exchange.write(
      `HTTP/1.1 ${status} Answer\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n${body}`,
    );
  }

  const json = (value: JsonObject): Promise<void> => answer(200, "application/json", JSON.stringify(value));
  return {
    name,
    params,
    message,
    headers: exchange.headers,
    rpcId,
    task,
    gone: exchange.gone,
    get left() {
      return exchange.left;
    },
    get taken() {
      return exchange.taken;
    },
    raw,
    send(...results) {
      for (const result of results) task.remember(result);
      return raw(results.map((result) => frame({ rpcId }, result)).join(""));
    },
    async end() {
      if (phase === "new") await answer(204, "text/plain", "");
      else if (phase === "streaming") await exchange.write("0\r\n\r\n");
      phase = "over";
    },
    async cut() {
      phase = "over";
      await exchange.close();
    },
    answer,
    reply: (result) => json({ result, id: rpcId, jsonrpc: "2.0" }),
    fail: (code, reason) => json({ jsonrpc: "2.0", id: rpcId, error: { code, message: reason } }),
  };
}

function chunk(head: Uint8Array, bytes: Uint8Array): Uint8Array {
  const before = new TextEncoder().encode(`${bytes.length.toString(16)}\r\n`);
  const all = new Uint8Array(head.length + before.length + bytes.length + 2);
  all.set(head);
  all.set(before, head.length);
  all.set(bytes, head.length + before.length);
  all.set([13, 10], head.length + before.length + bytes.length);
  return all;
}

/** A turn that says some text and ends as the kernel ends every turn. */
export function say(...pieces: string[]): Script {
  return (call) => call.send(...call.task.begin(), ...pieces.map(call.task.text), ...call.task.finish(pieces.join("")));
}

/** A turn that begins, says some text, and then is silent until the service leaves. */
export function sayAndHold(...pieces: string[]): Script {
  return async (call) => {
    await call.send(...call.task.begin(), ...pieces.map(call.task.text));
    await call.gone;
  };
}

/** A turn that asks for leave to run a tool, and waits until the service leaves. */
export function askPermission(inputId = "permission-1"): Script {
  return async (call) => {
    await call.send(...call.task.begin(), call.task.text("May I? "), ...call.task.permission(inputId));
    await call.gone;
  };
}

/** The stream that answers a permission: the tool ran, some text, the end of the turn. */
export function afterPermission(words = "Done."): Script {
  return async ({ task, message, send, fail }) => {
    const [part] = Array.isArray(message.parts) ? message.parts : [];
    const data = isObject(part) && isObject(part.data) ? part.data : undefined;
    if (!data) return await fail(-32602, "no such pending input");
    const inputId = String(data.inputId);
    const received = { inputReceived: { kind: "permission", inputId, toolUseId: `call-${inputId}` } };
    await send(task.working(received), task.toolResult(inputId, "written"), task.text(words), ...task.finish(words));
  };
}

function standardAnswer(name: CallName, tasks: ReadonlyMap<string, StandInTask>): Script {
  return async (call) => {
    const { task } = call;
    const isKnown = tasks.has(task.id);
    switch (name) {
      case "SendStreamingMessage":
        return await say("Hello ", "there.")(call);
      case "ensure-restored":
        return await call.answer(200, "application/json", `{"status":"current"}`);
      case "pipeline-state":
        return await call.answer(404, "application/json", `{"error":"A2A pipeline state not found"}`);
      case "execution-state":
      case "session-recovery":
        return await call.answer(404, "application/json", `{"error":"Execution was not found"}`);
      case "GetTask":
        return isKnown ? await call.reply(task.snapshot()) : await call.fail(-32001, "Task not found");
      case "CancelTask":
        if (!isKnown) return await call.fail(-32001, "Task not found");
        task.remember(task.milestone("CANCELED", "Task canceled."));
        return await call.reply(task.snapshot());
      case "SubscribeToTask":
        if (!isKnown) return await call.fail(-32001, "Task not found");
        await call.send({ task: task.snapshot() });
        return await call.gone;
      case "SendMessage":
        return await call.fail(-32601, "Method not found");
    }
  };
}
