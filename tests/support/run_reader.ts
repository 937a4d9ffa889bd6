/** Reads a run's event stream as a client does: event by event, and the comments between them. */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../src/json.ts";
import { type StrictThread, strictThread } from "./strict_stream.ts";

export interface RunReader {
  readonly response: Response;
  /** The events that were read so far. */
  readonly events: JsonObject[];
  /** Comments that were read so far. */
  readonly comments: string[];
  /** The first event of a type; fails when the stream ends without it. */
  until(type: string): Promise<JsonObject>;
  /** Reads until so many comments have come in all. */
  untilComments(count: number): Promise<void>;
  /** The last event; reads to the end of the stream, and checks all of it. */
  last(): Promise<JsonObject>;
  /** All agent text so far. */
  text(): string;
  /** Leaves the stream. */
  leave(): Promise<void>;
}

/** Reads the stream of a response; fails when it is none. Runs of one thread share its check. */
export async function readEvents(response: Response, strict: StrictThread = strictThread()): Promise<RunReader> {
  if (response.headers.get("content-type") !== "text/event-stream") {
    assert.fail(`not a stream: ${response.status} ${await response.text()}`);
  }
  const events: JsonObject[] = [];
  const comments: string[] = [];
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";

  /** Reads one chunk; false at the end. */
  async function more(): Promise<boolean> {
    const read = await reader?.read();
    if (!read || read.done) {
      assert.equal(rest, "", "the stream ends in the middle of a record");
      return false;
    }
    const records = (rest + read.value).split("\n\n");
    rest = records.pop() ?? "";
    for (const record of records) {
      if (record.startsWith(":")) comments.push(record);
      else events.push(eventOf(record));
    }
    return true;
  }

  return {
    response,
    events,
    comments,
    async until(type) {
      for (let at = 0;; at++) {
        while (at >= events.length) {
          if (!await more()) assert.fail(`no ${type} in ${events.map((event) => event.type).join(" ")}`);
        }
        const event = events[at];
        if (event?.type === type) return event;
      }
    },
    async untilComments(count) {
      while (comments.length < count) assert.ok(await more(), `only ${comments.length} comments`);
    },
    async last() {
      while (await more());
      strict.check(events);
      return events.at(-1) ?? assert.fail("an empty stream");
    },
    text: () => events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").map(({ delta }) => delta).join(""),
    leave: async () => void await reader?.cancel(),
  };
}

function eventOf(record: string): JsonObject {
  assert.ok(record.startsWith("data: "), `not a record: ${record.slice(0, 100)}`);
  const event: unknown = JSON.parse(record.slice("data: ".length));
  return isObject(event) ? event : assert.fail("not an object");
}
