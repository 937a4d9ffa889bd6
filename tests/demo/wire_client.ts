/** Talks to a demo kernel as an adapter does, and names its frames in a word or two, so that tests can compare sequences. */
import assert from "node:assert/strict";
import { createParser } from "eventsource-parser";
import { type DemoKernel, type DemoKernelOptions, startDemoKernel } from "../../demo/kernel.ts";
import { isObject, type JsonObject, text } from "../../src/json.ts";
import { parseFrame } from "../../src/kernel/wire.ts";

export interface WireClient {
  readonly kernel: DemoKernel;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** A plain JSON-RPC answer. */
  call(method: string, params: JsonObject): Promise<JsonObject>;
  /** The results of a JSON-RPC stream, as they come. Returning from the loop leaves the stream. */
  stream(method: string, params: JsonObject): AsyncGenerator<JsonObject, void, void>;
  /** All results of a new message's stream. */
  say(words: string, more?: Words): Promise<JsonObject[]>;
  /** All results of the stream that answers a permission. */
  decide(input: JsonObject, decision: string): Promise<JsonObject[]>;
}

export interface Words {
  readonly contextId?: string;
  readonly taskId?: string;
  readonly runMode?: string;
  readonly parts?: JsonObject[];
}

/** Runs a test against a demo kernel of its own, as fast as possible unless a pace is given. */
export async function withKernel(
  test: (client: WireClient) => Promise<void>,
  options: DemoKernelOptions = { pace: 0 },
): Promise<void> {
  const kernel = startDemoKernel(options);
  try {
    await test(connect(kernel));
  } finally {
    await kernel.close();
  }
}

function connect(kernel: DemoKernel): WireClient {
  const authorization = `Bearer ${kernel.token}`;
  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${kernel.url}${path}`, { ...init, headers: { authorization, "content-type": "application/json" } });

  function post(method: string, params: JsonObject): Promise<Response> {
    return request("/", {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: `id of ${method}`, method, params }),
    });
  }

  async function* stream(method: string, params: JsonObject): AsyncGenerator<JsonObject, void, void> {
    const response = await post(method, params);
    assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8", await maybeText(response));
    const results: JsonObject[] = [];
    const parser = createParser({ onEvent: ({ data }) => results.push(resultOf(data, `id of ${method}`)) });
    let last = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      // A read may end between the two characters of a line's end.
      assert.doesNotMatch(last + chunk, /(?<!\r)\n/, "lines end in CRLF");
      last = chunk.endsWith("\r") ? "\r" : "";
      parser.feed(chunk);
      yield* results.splice(0);
    }
  }

  return {
    kernel,
    fetch: request,
    call: async (method, params) => await (await post(method, params)).json(),
    stream,
    say: (words, more) => collect(stream("SendStreamingMessage", messageParams(words, more))),
    decide: (input, decision) => collect(stream("SendStreamingMessage", decisionParams(input, decision))),
  };
}

async function maybeText(response: Response): Promise<string> {
  return response.headers.get("content-type")?.startsWith("application/json") ? await response.text() : "";
}

/** A frame's result; that the product's own parser takes the frame is checked on the way. */
function resultOf(data: string, rpcId: string): JsonObject {
  const { kind } = parseFrame(data);
  assert.ok(["task", "status", "artifact", "message"].includes(kind), `the product calls a frame ${kind}: ${data}`);
  const frame: unknown = JSON.parse(data);
  assert.ok(isObject(frame) && isObject(frame.result));
  assert.deepEqual(Object.keys(frame), ["result", "id", "jsonrpc"]);
  assert.equal(frame.id, rpcId);
  return frame.result;
}

/** Everything that a stream has. */
export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of stream) all.push(value);
  return all;
}

/** The parameters of a message in words. */
export function messageParams(
  words: string,
  { contextId = "ctx", taskId, runMode = "normal", parts }: Words = {},
): JsonObject {
  return {
    message: {
      messageId: crypto.randomUUID(),
      role: "ROLE_USER",
      parts: parts ?? [{ text: words }],
      contextId,
      ...(taskId !== undefined && { taskId }),
      metadata: { "iac_code": { cwd: "/workspace", "run_mode": runMode, "iac_code_api_key": "sk-secret" } },
    },
    configuration: { acceptedOutputModes: ["text/plain"] },
  };
}

/** The parameters of an answer to a permission. */
export function decisionParams(input: JsonObject, decision: string): JsonObject {
  const { requestTaskId = "", inputId = "", toolUseId = "", contextId = "" } = input;
  const data = { schemaVersion: 1, kind: "permission", requestTaskId, inputId, toolUseId, decision };
  const parts = [{ data, mediaType: "application/json" }];
  return { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts, contextId, taskId: requestTaskId } };
}

/** metadata.iac_code of a frame or a task. */
export function iacOf(result: JsonObject): JsonObject {
  const holder = [result.statusUpdate, result.task, result].find(isObject);
  const metadata = holder?.metadata;
  return isObject(metadata) && isObject(metadata["iac_code"]) ? metadata["iac_code"] : {};
}

/** The question in the last of some frames. */
export function questionIn(results: readonly JsonObject[]): JsonObject {
  const { input } = iacOf(results.at(-1) ?? {});
  assert.ok(isObject(input), "the last frame asks nothing");
  return input;
}

/** The task that a stream is about. */
export function taskIdOf([first]: readonly JsonObject[]): string {
  for (const about of [first?.task, first?.statusUpdate]) {
    if (isObject(about)) return text(about.id) ?? text(about.taskId) ?? "";
  }
  throw new Error("no task in the first frame");
}

/** The agent's text in some frames. */
export function textIn(results: readonly JsonObject[]): string {
  return results.filter((result) => labelOf(result) === "text").map(statusText).join("");
}

/** The text of a frame's status message. */
export function statusText({ statusUpdate }: JsonObject): string {
  const status = isObject(statusUpdate) && isObject(statusUpdate.status) ? statusUpdate.status : {};
  const [part] = isObject(status.message) && Array.isArray(status.message.parts) ? status.message.parts : [];
  return isObject(part) ? text(part.text) ?? "" : "";
}

/** What frames say, in order; repeats of a kind count once. */
export function labels(results: readonly JsonObject[]): string[] {
  return results.map(labelOf).filter((label, index, all) => label !== all[index - 1]);
}

/** What a frame says, in a word or two. */
export function labelOf(result: JsonObject): string {
  const { task, artifactUpdate, message, statusUpdate } = result;
  if (isObject(task)) return `task ${stateOf(task)}`;
  if (artifactUpdate) return "artifact";
  if (message) return "message";
  if (!isObject(statusUpdate)) return "?";
  const state = stateOf(statusUpdate);
  const { tool, thinking, usage, pipeline, input, inputReceived, assistantFinal } = iacOf(result);
  if (isObject(input)) return `${state} asks ${input.kind}`;
  if (isObject(pipeline)) return state === "WORKING" ? String(pipeline.eventType) : `${state} ${pipeline.eventType}`;
  if (isObject(tool)) return `tool ${tool.status}`;
  if (thinking) return "thinking";
  if (usage) return "usage";
  if (inputReceived) return "input received";
  if (assistantFinal) return "final";
  if (state === "WORKING" && statusText(result) !== "") return "text";
  return state;
}

function stateOf({ status }: JsonObject): string {
  return isObject(status) ? String(status.state).replace("TASK_STATE_", "") : "";
}
