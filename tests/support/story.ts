/**
 * Tells a recorded wire as a story: the kernel's side is played, the service runs on a port, and the other side is the real
 * @ag-ui/client with one agent a thread, kept over all of it. Every stream passes the strict check, too.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { HttpAgent, type Message, type ResumeEntry } from "@ag-ui/client";
import { createParser } from "eventsource-parser";
import { isObject, type JsonObject, text } from "../../src/json.ts";
import { contextIdOf } from "../../src/thread/thread.ts";
import { carriedBy } from "./carried.ts";
import { eventLines, rename } from "./event_lines.ts";
import { hastyClock } from "./hasty_clock.ts";
import { play, type Replay, type ReplayOptions } from "./replay_kernel.ts";
import { startServer, type TestServer } from "./server.ts";
import { type StandInKernel, startStandIn } from "./stand_in_kernel.ts";
import { strictThread } from "./strict_stream.ts";
import { namesOf } from "./wire_names.ts";
import { readWire, type Wire } from "./wires.ts";

/** The client warns of what it drops; the strict check says what may be dropped. */
Deno.env.set("SUPPRESS_TRANSFORMATION_WARNINGS", "1");

const LINE_CHARS = 96;
const RECORDED_CWD = "/workspace/session-1";

export interface StoryOptions extends ReplayOptions {
  /** Contexts of the wire that are told in other threads than they were recorded in: context id → thread id. */
  readonly threads?: Readonly<Record<string, string>>;
  readonly interruptTtlMs?: number;
  /** Short words for long ones, in lines. */
  readonly words?: Readonly<Record<string, string>>;
}

export interface Story {
  readonly kernel: StandInKernel;
  readonly server: TestServer;
  readonly wire: Wire;
  readonly replay: Replay;
  /** The conversation on a thread; by default the one that the wire was recorded in. */
  talk(threadId?: string): Talk;
  /** Starts the service anew on the same state directory, as after a crash. */
  restart(): Promise<void>;
}

export interface RunOptions {
  readonly resume?: readonly ResumeEntry[];
  /** A message of the user, instead of the recorded one. */
  readonly message?: string;
}

export interface Talk {
  /** Runs through the client, with the recorded request unless told otherwise; the run's events as lines. */
  run(runId: string, options?: RunOptions): Promise<string[]>;
  /** Sends the request past the client, which would not send it itself. */
  post(runId: string, options?: RunOptions): Promise<string[]>;
  /** The first event of the run that is under way that fits. */
  seen(what: (event: JsonObject) => boolean): Promise<JsonObject>;
  /** The client goes away. */
  leave(): void;
  /** All events of a run so far. */
  events(runId: string): readonly JsonObject[];
  /** What the client has at the end: its messages, as lines. */
  history(): string[];
}

/** Sets a story up, tells it, and checks that all messages to the kernel were those that were recorded. */
export async function tell(
  name: string,
  options: StoryOptions,
  story: (given: Story) => Promise<void>,
): Promise<void> {
  await using kernel = startStandIn();
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "agui-story-" }));
  const started: TestServer[] = [];
  const start = async (): Promise<TestServer> => {
    const { interruptTtlMs } = options;
    const kept = { stateDir: `${root}/state`, cwd: `${root}/work` };
    const more = { ...kept, edges: { clock: hastyClock() }, ...(interruptTtlMs !== undefined && { interruptTtlMs }) };
    const server = await startServer(kernel.url, more);
    started.push(server);
    return server;
  };
  try {
    await tellOn(kernel, await start(), start, name, options, story);
  } finally {
    for (const server of started) await server[Symbol.asyncDispose]();
    await Deno.remove(root, { recursive: true });
  }
  const failures = started.flatMap(({ complaints }) => complaints).filter((line) => /^(a run|a request)/.test(line));
  assert.deepEqual(failures, [], "failures in the log");
}

async function tellOn(
  kernel: StandInKernel,
  first: TestServer,
  start: () => Promise<TestServer>,
  name: string,
  options: StoryOptions,
  story: (given: Story) => Promise<void>,
): Promise<void> {
  const { cwd } = first;
  let server = first;
  const contexts = Object.entries(options.threads ?? {}).map(([context, thread]) => [context, contextIdOf(thread)]);
  const wire = await readWire(name, { [RECORDED_CWD]: cwd, ...Object.fromEntries(contexts) });
  const names = new Map([[cwd, RECORDED_CWD], ...namesOf(wire)]);
  const shorten = (line: string): string => cut(rename(line, new Map(Object.entries(options.words ?? {}))));
  const replay = play(kernel, wire, options);
  const talks = new Map<string, Talk>();
  await story({
    kernel,
    get server() {
      return server;
    },
    wire,
    replay,
    talk(threadId = text(wire.runs[0]?.request.threadId) ?? name) {
      const known = talks.get(threadId) ?? createTalk({ threadId, wire, names, shorten, server: () => server });
      talks.set(threadId, known);
      return known;
    },
    async restart() {
      await server.stop();
      server = await start();
    },
  });
  // A wire without the Python adapter's side was recorded by hand.
  if (wire.runs.length > 0) replay.checkMessages();
}

/** The text that the user sent in an exchange. */
export function sentIn({ exchanges }: Wire, n: number): string {
  const message = exchanges.find((exchange) => exchange.n === n)?.params.message;
  const [part] = isObject(message) && Array.isArray(message.parts) ? message.parts : [];
  return isObject(part) ? String(part.text) : assert.fail(`no message in exchange ${n}`);
}

/** The ids of the questions that a run's end asks. */
export function questionsOf(events: readonly JsonObject[]): string[] {
  const outcome = events.at(-1)?.outcome;
  const interrupts = isObject(outcome) && Array.isArray(outcome.interrupts) ? outcome.interrupts : [];
  return interrupts.filter(isObject).map(({ id }) => String(id));
}

/** A line without most of a long input or result, which `carriedBy` compares. */
function cut(line: string): string {
  if (/^(text|thought|assistant|reasoning)\b/.test(line)) return line;
  const [first = "", second] = line.split("\n");
  return first.length > LINE_CHARS || second !== undefined ? `${first.slice(0, LINE_CHARS)}…` : first;
}

interface TalkSetting {
  readonly threadId: string;
  readonly wire: Wire;
  readonly names: Map<string, string>;
  readonly shorten: (line: string) => string;
  readonly server: () => TestServer;
}

function createTalk({ threadId, wire, names, shorten, server }: TalkSetting): Talk {
  const strict = strictThread();
  const checkCarried = carriedBy(wire);
  const runs = new Map<string, JsonObject[]>();
  const watchers = new Set<() => void>();
  let current: JsonObject[] = [];
  let isOver = false;

  function look(): void {
    for (const wake of watchers) wake();
  }

  function tap(runId: string, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const events: JsonObject[] = current = [];
    isOver = false;
    runs.set(runId, events);
    learn(runId);
    const decoder = new TextDecoder();
    const parser = createParser({ onEvent: ({ data }) => void events.push(JSON.parse(data)) });
    return body.pipeThrough(
      new TransformStream({
        transform(chunk, controller) {
          parser.feed(decoder.decode(chunk, { stream: true }));
          look();
          controller.enqueue(chunk);
        },
        flush() {
          isOver = true;
          look();
        },
      }),
    );
  }

  /** A resume run's ids carry a digest of its run id. */
  function learn(runId: string): void {
    names.set(`.${createHash("sha256").update(runId).digest("hex").slice(0, 12)}`, `.${runId}`);
  }

  async function send(runId: string, init: RequestInit): Promise<Response> {
    const response = await fetch(`http://127.0.0.1:${server().port}/`, init);
    const isStream = response.headers.get("content-type") === "text/event-stream";
    return isStream && response.body ? new Response(tap(runId, response.body), response) : response;
  }

  let sending = "";
  const agent = new HttpAgent({ url: "http://127.0.0.1/", threadId, fetch: (_url, init) => send(sending, init) });

  function requestOf(runId: string, { resume, message }: RunOptions): JsonObject {
    const recorded = wire.runs.find(({ request }) => request.threadId === threadId && request.runId === runId)?.request;
    const iacCode = { schemaVersion: 1, rosInvocationId: "inv-1", cwd: server().cwd, runMode: "normal" };
    const content = message ?? `message of ${runId}`;
    const { messages, forwardedProps, resume: answers, ...rest }: JsonObject = recorded ?? { threadId, runId };
    const isNew = message !== undefined || (!messages && !resume);
    return {
      ...{ state: {}, tools: [], context: [] },
      ...rest,
      messages: isNew ? [{ id: `msg-${runId}`, role: "user", content }] : messages ?? [],
      forwardedProps: forwardedProps ?? { iacCode },
      ...((resume ?? answers) && { resume: resume ? resume.map((entry) => ({ ...entry })) : answers ?? [] }),
    };
  }

  function told(runId: string): string[] {
    const events = runs.get(runId) ?? [];
    strict.check(events);
    checkCarried(events);
    for (const event of events) {
      const executionId = isObject(event.value) ? text(event.value.executionId) : undefined;
      const isNew = event.name === "iac-code.session.v1" && executionId !== undefined && !names.has(executionId);
      if (isNew) names.set(executionId, `E${[...names.values()].filter((value) => /^E\d+$/.test(value)).length + 1}`);
    }
    return eventLines(events, names).map(shorten);
  }

  return {
    async run(runId, options = {}) {
      const { messages, forwardedProps, resume } = requestOf(runId, options);
      const known = new Set(agent.messages.map(({ id }) => id));
      const added = (messages as unknown as Message[]).filter(({ id }) => !known.has(id));
      agent.addMessages(added);
      sending = runId;
      const parameters = { runId, forwardedProps, ...(resume && { resume: resume as unknown as ResumeEntry[] }) };
      await agent.runAgent(parameters);
      return told(runId);
    },
    async post(runId, options = {}) {
      const body = JSON.stringify(requestOf(runId, options));
      const response = await send(runId, { method: "POST", body, headers: { "content-type": "application/json" } });
      const answer = await response.text();
      return response.ok ? told(runId) : [`refused ${response.status} ${JSON.parse(answer).error.code}`];
    },
    async seen(what) {
      while (true) {
        const found = current.find(what);
        if (found) return found;
        assert.ok(!isOver, `not seen in ${JSON.stringify(current)}`);
        const { promise, resolve } = Promise.withResolvers<void>();
        watchers.add(resolve);
        await promise;
        watchers.delete(resolve);
      }
    },
    leave: () => agent.abortRun(),
    events: (runId) => runs.get(runId) ?? [],
    history: () => agent.messages.map((message) => shorten(rename(messageLine(message), names))),
  };
}

function messageLine(message: Message): string {
  const { role, id } = message;
  switch (role) {
    case "user":
      return `user ${id}`;
    case "assistant": {
      const calls = message.toolCalls?.map((call) => ` [${call.id} ${call.function.name}]`) ?? [];
      return `assistant: ${message.content ?? ""}${calls.join("")}`;
    }
    case "tool":
      return `tool ${message.toolCallId}: ${message.content}`;
    case "activity":
      return `activity ${id}`;
    default:
      return `${role}: ${typeof message.content === "string" ? message.content : JSON.stringify(message.content)}`;
  }
}
