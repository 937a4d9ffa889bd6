import assert from "node:assert/strict";
import type { Event } from "@ag-ui/core";
import { createEventLog, filterRows, summaryOf, toNdjson, typesOf } from "../../console/state/event_log.ts";

const TEXT = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "two\n words" } as Event;
const CUSTOM = { type: "CUSTOM", name: "iac-code.pipeline.v1", value: { eventType: "pipeline_started" } } as Event;

function filled(): ReturnType<typeof createEventLog> {
  const log = createEventLog();
  log.addRequest("POST /", { body: {} }, 1);
  log.addEvent(TEXT, 2);
  log.addEvent(CUSTOM, 3);
  log.addEvent(TEXT, 4);
  log.addAnswer("HTTP 409", { error: { code: "X" } }, 5);
  return log;
}

Deno.test("rows are numbered in the order of the wire", () => {
  assert.deepEqual(filled().rows.map(({ number, time, direction, type }) => [number, time, direction, type]), [
    [1, 1, "sent", "POST /"],
    [2, 2, "received", "TEXT_MESSAGE_CONTENT"],
    [3, 3, "received", "CUSTOM iac-code.pipeline.v1"],
    [4, 4, "received", "TEXT_MESSAGE_CONTENT"],
    [5, 5, "received", "HTTP 409"],
  ]);
});

Deno.test("a filter leaves the rows of one type; the types are counted", () => {
  const { rows } = filled();
  assert.deepEqual(filterRows(rows, "TEXT_MESSAGE_CONTENT").map(({ number }) => number), [2, 4]);
  assert.equal(filterRows(rows, ""), rows);
  assert.deepEqual([...typesOf(rows)], [
    ["POST /", 1],
    ["TEXT_MESSAGE_CONTENT", 2],
    ["CUSTOM iac-code.pipeline.v1", 1],
    ["HTTP 409", 1],
  ]);
});

Deno.test("NDJSON holds the events as they came, one a line, and nothing else", () => {
  const lines = toNdjson(filled().rows).split("\n");
  assert.equal(lines.pop(), "");
  assert.deepEqual(lines.map((line) => JSON.parse(line)), [TEXT, CUSTOM, TEXT]);
});

Deno.test("a row says in one line what it is about", () => {
  const [request, text, custom] = filled().rows;
  assert.ok(request && text && custom);
  assert.deepEqual([summaryOf(request), summaryOf(text), summaryOf(custom)], ["", "two words", "pipeline_started"]);
});

Deno.test("the log forgets its oldest rows before it grows without end", () => {
  const log = createEventLog();
  for (let at = 0; at < 50_001; at++) log.addEvent(TEXT, at);
  assert.equal(log.rows.length, 45_001);
  assert.deepEqual([log.rows[0]?.number, log.rows.at(-1)?.number], [5_001, 50_001]);
});
