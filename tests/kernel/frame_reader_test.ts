import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject } from "../../src/json.ts";
import { createFrameReader } from "../../src/kernel/frame_reader.ts";
import { parseFrame } from "../../src/kernel/wire.ts";

const TASK = "3580b60c-b9bb-4f53-979f-70fc4b5557d0";

interface Parts {
  text?: string;
  iac?: JsonObject;
  messageId?: string;
  timestamp?: string;
  more?: JsonObject[];
}

function frame({ text, iac = {}, messageId = `${TASK}-message`, timestamp, more = [] }: Parts): string {
  const parts = [{ text: text ?? "" }, ...more];
  const message = { messageId, contextId: "agui-1", taskId: TASK, role: "ROLE_AGENT", parts };
  const status = {
    state: "TASK_STATE_WORKING",
    ...(text !== undefined && { message }),
    ...(timestamp && { timestamp }),
  };
  const statusUpdate = { taskId: TASK, contextId: "agui-1", status, metadata: { "iac_code": iac } };
  return JSON.stringify({ result: { statusUpdate }, id: "1", jsonrpc: "2.0" });
}

/** Reads frames with one reader, and each by itself. */
function check(frames: readonly string[]): void {
  const read = createFrameReader();
  for (const data of frames) assert.deepEqual(read(data), parseFrame(data));
}

/** How often JSON.parse sees a whole frame while these are read. */
function wholeParses(frames: readonly string[]): number {
  const read = createFrameReader();
  const parse = JSON.parse;
  let whole = 0;
  JSON.parse = (text: string) => {
    if (text.startsWith("{")) whole++;
    return parse(text);
  };
  try {
    frames.forEach(read);
  } finally {
    JSON.parse = parse;
  }
  return whole;
}

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("", '"', "\\", '","x":"', "\u2028", "ROLE_AGENT", TASK),
);

Deno.test("a text of many frames is read as if each were parsed by itself", () => {
  fc.assert(fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (texts) => {
    check(texts.map((piece) => frame({ text: piece })));
  }));
});

Deno.test("frames of every kind in any order are read as if each were parsed by itself", () => {
  const kinds = fc.oneof(
    fc.record({ text }),
    fc.record({ text, timestamp: fc.constantFrom("2026-12-01T15:36:28Z", "2026-12-01T15:36:29Z") }),
    fc.record({ text, messageId: text }),
    fc.record({ text, iac: fc.record({ note: text }) }),
    fc.record({ text, more: fc.array(fc.record({ text }), { maxLength: 2 }) }),
    fc.record({ iac: fc.record({ thinking: fc.record({ type: fc.constant("raw_thinking"), text }) }) }),
  );
  fc.assert(fc.property(fc.array(kinds, { maxLength: 20 }), (parts) => check(parts.map((part) => frame(part)))));
});

Deno.test("frames that are cut, changed or no JSON are read as if each were parsed by itself", () => {
  const whole = frame({ text: "Hello" });
  const at = whole.indexOf("Hello");
  fc.assert(fc.property(fc.array(fc.tuple(fc.nat(whole.length), fc.nat(8), fc.string()), { maxLength: 10 }), (cuts) => {
    check([whole, ...cuts.map(([from, length, put]) => whole.slice(0, from) + put + whole.slice(from + length))]);
  }));
  const put = (raw: string) => whole.slice(0, at) + raw + whole.slice(at + "Hello".length);
  check([
    whole,
    put('","evil":"'),
    put("a\nb"),
    put('\\"'),
    put("\\"),
    put("\\ud83d"),
    put("\\u0000"),
    put('"'),
    put("x"),
  ]);
});

Deno.test("a text that also stands elsewhere in its frame is not mistaken for the other", () => {
  for (const twin of ["ROLE_AGENT", TASK, "agui-1", "TASK_STATE_WORKING", "1", "2.0", "text", "role"]) {
    check([
      frame({ text: twin }),
      frame({ text: "next" }),
      frame({ text: twin }),
      frame({ text: twin, messageId: "m" }),
    ]);
  }
});

Deno.test("of a text's deltas, only the first is parsed as a whole", () => {
  const deltas = Array.from({ length: 1000 }, (_, at) => frame({ text: `word ${at}\n` }));
  assert.equal(wholeParses(deltas), 2);
});

Deno.test("frames that differ in more than their text are soon no longer compared", () => {
  const stamped = Array.from(
    { length: 1000 },
    (_, at) => frame({ text: "word", timestamp: `2026-12-01T15:36:28.${at}Z` }),
  );
  assert.equal(wholeParses(stamped), 1000 + 4);
});
