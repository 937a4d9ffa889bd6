/**
 * Our own check of event streams, stricter than the client's: what it lets pass (a span open at the end, an event after the
 * end, a result without a call, two results, an id used again in the thread) is an error here.
 */
import assert from "node:assert/strict";
import { EventSchema } from "@ag-ui/core/schemas";
import { isObject, type Json, type JsonObject, text } from "../../src/json.ts";

export interface StrictThread {
  /** Checks all events of one run. Runs of a thread are given in the order in which they began. */
  check(events: readonly JsonObject[]): void;
}

export interface StrictOptions {
  /** Whether events carry the time at which they were sent; a mapper's own do not. */
  readonly timestamps?: boolean;
}

/** What belongs to the kernel or the user inside an event: nulls and unknown fields are theirs. */
const OPAQUE = new Set(["value", "content", "metadata", "responseSchema"]);
/** Fields that clients of the Python adapter read, though AG-UI 1.0 has no place for them. */
const BEYOND: Readonly<Record<string, readonly string[]>> = { RUN_ERROR: ["threadId", "runId", "usage"] };
const ENDS = ["RUN_FINISHED", "RUN_ERROR"];
const TIMESTAMP_SLACK_MS = 600_000;

const FIELDS = new Map(EventSchema.options.map((option) => {
  const { shape } = option;
  return [String(shape.type.value), Object.keys(shape)];
}));

/** What the runs of a thread have used up together. */
interface Used {
  readonly runs: Set<string>;
  readonly messages: Set<string>;
  readonly calls: Set<string>;
  readonly endedCalls: Set<string>;
  readonly results: Set<string>;
  readonly envelopes: Set<string>;
}

/** The check of one thread's streams. Each failure is an AssertionError that names the event. */
export function strictThread({ timestamps = true }: StrictOptions = {}): StrictThread {
  const used: Used = {
    runs: new Set(),
    messages: new Set(),
    calls: new Set(),
    endedCalls: new Set(),
    results: new Set(),
    envelopes: new Set(),
  };
  return {
    check(events) {
      const run = strictRun(used);
      const [first] = events;
      const last = events.at(-1);
      assert.ok(first && last && events.length > 1, `a run of ${events.length} events`);
      for (const [at, event] of events.entries()) {
        try {
          checkForm(event, timestamps);
          assert.equal(event.type === "RUN_STARTED", at === 0, "RUN_STARTED is the first event, and only that");
          assert.equal(isEnd(event), at === events.length - 1, "the end is the last event, and only that");
          run(event);
        } catch (error) {
          const seen = events.slice(Math.max(0, at - 3), at + 1).map((item) => JSON.stringify(item).slice(0, 300));
          throw new assert.AssertionError({ message: `event ${at}: ${String(error)}\n${seen.join("\n")}` });
        }
      }
      assert.deepEqual([last.threadId, last.runId], [first.threadId, first.runId], "the end names the run");
    },
  };
}

function isEnd({ type }: JsonObject): boolean {
  return ENDS.includes(String(type));
}

/** Events whose form was found right: the same ones come again and again in stories that differ in little else. */
const wellFormed = new Set<string>();
const REMEMBERED_EVENTS = 20_000;

function checkForm(event: JsonObject, timestamps: boolean): void {
  if (timestamps) checkTimestamp(event);
  const { timestamp: _, ...rest } = event;
  const json = JSON.stringify(rest);
  if (wellFormed.has(json)) return;
  const parsed = EventSchema.safeParse(event);
  assert.ok(parsed.success, `breaks the schema: ${parsed.error?.message}`);
  const type = String(event.type);
  const known = [...FIELDS.get(type) ?? [], ...BEYOND[type] ?? []];
  assert.deepEqual(Object.keys(event).filter((name) => !known.includes(name)), [], "fields that nobody knows");
  assert.deepEqual(nulls(event), [], "nulls");
  assert.ok(isWellFormed(event), "a lone surrogate");
  if (wellFormed.size >= REMEMBERED_EVENTS) wellFormed.clear();
  wellFormed.add(json);
}

function checkTimestamp({ timestamp }: JsonObject): void {
  assert.ok(typeof timestamp === "number" && Number.isInteger(timestamp), `the timestamp ${timestamp}`);
  assert.ok(Math.abs(timestamp - Date.now()) < TIMESTAMP_SLACK_MS, `the timestamp ${timestamp} is not now in ms`);
}

function isWellFormed(value: Json | undefined): boolean {
  if (typeof value === "string") return value.isWellFormed();
  return typeof value !== "object" || value === null || Object.values(value).every(isWellFormed);
}

function nulls(value: Json | undefined, path = ""): string[] {
  if (value === null) return [path];
  if (typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, item]) =>
    item !== null && OPAQUE.has(key) ? [] : nulls(item, `${path}.${key}`)
  );
}

/** The rules about one run's events, one after the other. */
function strictRun(used: Used): (event: JsonObject) => void {
  const open = new Set<string>();
  const args = new Map<string, string>();
  let sessions = 0;

  function begin(span: string): void {
    assert.ok(!open.has(span), `${span} is open already`);
    open.add(span);
  }

  function end(span: string): void {
    assert.ok(open.delete(span), `${span} is not open`);
  }

  function inside(span: string): void {
    assert.ok(open.has(span), `${span} is not open`);
  }

  function once(kind: Set<string>, id: Json | undefined, what: string): void {
    assert.ok(text(id) !== undefined && !kind.has(String(id)), `${what} ${id} for a second time`);
    kind.add(String(id));
  }

  const rules: Readonly<Record<string, (event: JsonObject) => void>> = {
    RUN_STARTED: ({ runId }) => once(used.runs, runId, "run"),
    TEXT_MESSAGE_START({ messageId }) {
      once(used.messages, messageId, "message");
      begin(`text ${messageId}`);
    },
    TEXT_MESSAGE_CONTENT({ messageId, delta }) {
      assert.notEqual(delta, "", "an empty delta");
      inside(`text ${messageId}`);
    },
    TEXT_MESSAGE_END: ({ messageId }) => end(`text ${messageId}`),
    REASONING_START({ messageId }) {
      once(used.messages, messageId, "message");
      begin(`reasoning ${messageId}`);
    },
    REASONING_MESSAGE_START({ messageId }) {
      inside(`reasoning ${messageId}`);
      begin(`reasoning message ${messageId}`);
    },
    REASONING_MESSAGE_CONTENT({ messageId, delta }) {
      assert.notEqual(delta, "", "an empty delta");
      inside(`reasoning message ${messageId}`);
    },
    REASONING_MESSAGE_END: ({ messageId }) => end(`reasoning message ${messageId}`),
    REASONING_END({ messageId }) {
      assert.ok(!open.has(`reasoning message ${messageId}`), "the message in it is still open");
      end(`reasoning ${messageId}`);
    },
    TOOL_CALL_START({ toolCallId, parentMessageId }) {
      once(used.calls, toolCallId, "tool call");
      begin(`call ${toolCallId}`);
      const isKnown = parentMessageId === undefined || used.messages.has(String(parentMessageId));
      assert.ok(isKnown, `the parent ${parentMessageId} is no message of this thread`);
    },
    TOOL_CALL_ARGS({ toolCallId, delta }) {
      inside(`call ${toolCallId}`);
      args.set(String(toolCallId), (args.get(String(toolCallId)) ?? "") + delta);
    },
    TOOL_CALL_END({ toolCallId }) {
      end(`call ${toolCallId}`);
      used.endedCalls.add(String(toolCallId));
      const given = args.get(String(toolCallId));
      assert.ok(given === undefined || isJson(given), `arguments that are not JSON: ${given}`);
    },
    TOOL_CALL_RESULT({ toolCallId, messageId }) {
      assert.ok(used.endedCalls.has(String(toolCallId)), `a result of ${toolCallId} before the end of its call`);
      once(used.results, toolCallId, "result of");
      once(used.messages, messageId, "message");
    },
    STEP_STARTED: ({ stepName }) => begin(`step ${stepName}`),
    STEP_FINISHED: ({ stepName }) => end(`step ${stepName}`),
    ACTIVITY_SNAPSHOT: ({ messageId }) =>
      assert.ok(!used.messages.has(String(messageId)), `${messageId} is another kind of message`),
    CUSTOM({ name, value }) {
      if (name === "iac-code.session.v1") assert.equal(++sessions, 1, "sessions told of in one run");
      if (name !== "iac-code.pipeline.v1" || !isObject(value)) return;
      once(used.envelopes, value.eventId, "pipeline event");
    },
    RUN_FINISHED({ outcome }) {
      assert.deepEqual([...open], [], "open at the end");
      assert.ok(isObject(outcome), "an end without its outcome");
      const { interrupts } = outcome;
      const ids = Array.isArray(interrupts) ? interrupts.map((item) => isObject(item) ? item.id : undefined) : [];
      assert.equal(outcome.type === "interrupt", ids.length > 0, "interrupts");
      assert.equal(new Set(ids).size, ids.length, `interrupts ${ids.join(", ")}`);
    },
    RUN_ERROR: () => assert.deepEqual([...open], [], "open at the end"),
  };
  return (event) => {
    const rule = rules[String(event.type)];
    assert.ok(rule, `${event.type} is no event of ours`);
    rule(event);
  };
}

function isJson(value: string): boolean {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}
