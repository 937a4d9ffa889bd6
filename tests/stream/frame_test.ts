/** docs/protocol.md, "The stream": an event as the record that goes to the client, and what is done when it is too large. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { RunEvent } from "../../src/mapping/event.ts";
import { createEncoder, encodeEvent, HEARTBEAT } from "../../src/stream/frame.ts";

const LIMIT = 8 * 1024 * 1024;
const content = (delta: string): RunEvent => ({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta });
const custom = (value: never): RunEvent => ({ type: "CUSTOM", name: "iac-code.artifact.v1", value });
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** The event in a record, which has the form of one. */
function decode(record: string): Record<string, unknown> {
  assert.match(record, /^data: [^\n\r]*\n\n$/);
  assert.ok(record.isWellFormed());
  return JSON.parse(record.slice("data: ".length));
}

const TEXTS: ReadonlyArray<[string, string, string]> = [
  ["plain", "Hello", "Hello"],
  ["line ends", "a\nb\r\nc\rd", "a\nb\r\nc\rd"],
  ["separators that are no line ends", "a\u2028b\u2029c\u0085d", "a\u2028b\u2029c\u0085d"],
  ["a pair", "\ud83d\ude00", "\ud83d\ude00"],
  ["a lone half", "a\ud83db\ude00c", "a\ufffdb\ufffdc"],
  ["a text that speaks of halves", "\\ud83d and \\\\ude00", "\\ud83d and \\\\ude00"],
];

for (const [what, text, told] of TEXTS) {
  Deno.test(`record: ${what}`, () => {
    assert.deepEqual(decode(encodeEvent(content(text), 5)), { ...content(told), timestamp: 5 });
    assert.deepEqual(decode(createEncoder()(content(text), 5)), { ...content(told), timestamp: 5 });
  });
}

Deno.test("record: halves are replaced in names and depths, too", () => {
  const event = custom({ "a\ud83d": [{ b: "\ude00" }], n: 1, yes: true, nothing: null } as never);
  assert.deepEqual(decode(encodeEvent(event, 1)).value, {
    "a\ufffd": [{ b: "\ufffd" }],
    n: 1,
    yes: true,
    nothing: null,
  });
});

Deno.test("record: a heartbeat is a comment", () => assert.equal(HEARTBEAT, ": heartbeat\n\n"));

Deno.test("record: those of one stream are what they would be alone", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }));
  const event = fc.oneof(
    fc.record({
      type: fc.constantFrom("TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT"),
      messageId: text,
      delta: text,
    }),
    fc.record({ type: fc.constant("TEXT_MESSAGE_END"), messageId: text }),
  ) as fc.Arbitrary<RunEvent>;
  fc.assert(
    fc.property(fc.array(fc.tuple(event, fc.nat())), (events) => {
      const encode = createEncoder();
      for (const [each, timestamp] of events) assert.equal(encode(each, timestamp), encodeEvent(each, timestamp));
    }),
    { seed: 11 },
  );
});

/** Texts of some bytes of JSON a character. */
const LARGE: ReadonlyArray<[string, string, number]> = [
  ["letters", "x", 1],
  ["quotes and line ends", '"\n', 4],
  ["control characters", "\u0001", 6],
  ["Chinese and umlauts", "\u4e2d\u00e4", 5],
  ["pairs", "\ud83d\ude00", 4],
];

for (const [what, unit, size] of LARGE) {
  Deno.test(`cut: a text of ${what} that is too large is cut as late as can be, and says what is missing`, () => {
    const text = unit.repeat(Math.ceil(LIMIT / size) + 1_000);
    const record = encodeEvent(content(text), 1);
    assert.ok(bytesOf(record) <= LIMIT + 16, `${bytesOf(record)} bytes`);
    assert.ok(bytesOf(record) > LIMIT - 1_024, "nearly nothing is left out that had room");
    const delta = String(decode(record).delta);
    const [, kept = "", missing] = /^([^]*)… \[(\d+) bytes left out\]$/.exec(delta) ?? [];
    assert.ok(text.startsWith(kept));
    assert.equal(bytesOf(kept) + Number(missing), bytesOf(text));
  });
}

Deno.test("cut: a text that just fits is left as it is", () => {
  const room = LIMIT - bytesOf(JSON.stringify(content(""))) - 64;
  const text = "x".repeat(room);
  assert.equal(decode(encodeEvent(content(text), 1)).delta, text);
  assert.notEqual(decode(encodeEvent(content(`${text}x`), 1)).delta, `${text}x`);
});

Deno.test("cut: the longest strings go first, short ones stay whole", () => {
  const value = {
    name: "report.txt",
    a: "a".repeat(LIMIT),
    parts: [{ text: "b".repeat(2 * LIMIT) }, { text: "short" }],
  };
  const told = decode(encodeEvent(custom(value as never), 1)).value as typeof value;
  assert.equal(told.name, "report.txt");
  assert.equal(told.parts[1]?.text, "short");
  assert.match(told.parts[0]?.text ?? "", /^… \[\d+ bytes left out\]$/);
  assert.match(told.a, /^a+… \[\d+ bytes left out\]$/);
});

/** Short enough that to cut it gains nothing. */
const ROW = "a row of sixty characters, too short to be cut any shorter. ";

Deno.test("cut: an event of nothing but short pieces loses the end of its largest list", () => {
  const value = { name: "many", rows: Array.from({ length: 150_000 }, (_, at) => ROW + at % 10), few: [1, 2, 3] };
  const record = encodeEvent(custom(value as never), 1);
  assert.ok(bytesOf(record) <= LIMIT + 16);
  const told = decode(record).value as typeof value;
  assert.deepEqual([told.name, told.few, told.rows[0]], ["many", [1, 2, 3], `${ROW}0`]);
  assert.ok(told.rows.length > 100_000, `${told.rows.length} rows`);
});

Deno.test("cut: an object of very many fields, and a list of very many objects, lose the last of them", () => {
  const fields = Object.fromEntries(Array.from({ length: 130_000 }, (_, at) => [`field ${at}`, ROW]));
  assert.ok(bytesOf(encodeEvent(custom({ fields } as never), 1)) <= LIMIT + 16);
  const objects = Array.from({ length: 130_000 }, (_, at) => ({ at, row: ROW }));
  assert.ok(bytesOf(encodeEvent(custom(objects as never), 1)) <= LIMIT + 16);
});
