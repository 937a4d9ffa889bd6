import assert from "node:assert/strict";
import { type Event, EventType } from "@ag-ui/core";
import { createEventPrinter } from "../../demo/print_events.ts";

function printed(events: readonly Event[], colour = false): string {
  let all = "";
  const printer = createEventPrinter((piece) => all += piece, colour);
  for (const event of events) printer.event(event);
  printer.close();
  return all;
}

const delta = (text: string): Event => ({ type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m", delta: text });

Deno.test("each event is a line; the pieces of a text are one", () => {
  const lines = printed([
    { type: EventType.TEXT_MESSAGE_START, messageId: "m", role: "assistant" },
    delta("Hello "),
    delta("there."),
    { type: EventType.TEXT_MESSAGE_END, messageId: "m" },
    { type: EventType.RUN_FINISHED, threadId: "t", runId: "r", outcome: { type: "success" } },
  ]).split("\n").map((line) => line.trim().replaceAll(/ +/g, " "));
  assert.deepEqual(lines, [
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT Hello there.",
    "TEXT_MESSAGE_END",
    "RUN_FINISHED success",
    "",
  ]);
});

Deno.test("a text is printed as it arrives, not when its line is full", () => {
  const pieces: string[] = [];
  const printer = createEventPrinter((piece) => pieces.push(piece), false);
  printer.event(delta("Hel"));
  assert.equal(pieces.at(-1), "Hel");
});

Deno.test("an interrupt says what is asked, an error its code and reason", () => {
  const interrupts = [{ id: "i", reason: "tool_call", message: "Write a file?" }];
  const text = printed([
    { type: EventType.RUN_FINISHED, threadId: "t", runId: "r", outcome: { type: "interrupt", interrupts } },
    { type: EventType.RUN_ERROR, message: "It broke.", code: "A2A_UNAVAILABLE" },
  ]);
  assert.match(text, /interrupt · tool_call: Write a file\?/);
  assert.match(text, /A2A_UNAVAILABLE It broke\./);
});

Deno.test("without colour there is no escape sequence, with it there is", () => {
  const error: Event = { type: EventType.RUN_ERROR, message: "It broke." };
  assert.ok(!printed([error]).includes("\x1b"));
  assert.ok(printed([error], true).includes("\x1b[31m"));
});

Deno.test("what the agent says cannot steer the terminal", () => {
  const hostile = "\x1b[2J\x9b31m\x07";
  const text = printed([delta(`a${hostile}b\nc`), { type: EventType.RUN_ERROR, message: `a${hostile}b` }]);
  assert.doesNotMatch(text, /[^\P{Cc}\n]/u);
});

Deno.test("long values are cut", () => {
  const text = printed([{ type: EventType.CUSTOM, name: "n", value: "x".repeat(10_000) }]);
  assert.ok(text.length < 250 && text.includes("…"));
});
