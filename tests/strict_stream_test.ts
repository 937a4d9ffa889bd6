/** The judge of all streams is judged: each rule it stands for has a stream that breaks it, and only it. */
import assert from "node:assert/strict";
import type { JsonObject } from "../src/json.ts";
import { strictThread } from "./support/strict_stream.ts";

const started = (runId = "run-1"): JsonObject => ({ type: "RUN_STARTED", threadId: "thread", runId });
const finished = (runId = "run-1", more: JsonObject = {}): JsonObject => ({
  type: "RUN_FINISHED",
  threadId: "thread",
  runId,
  outcome: { type: "success" },
  ...more,
});
const failed: JsonObject = { type: "RUN_ERROR", code: "X", message: "x", threadId: "thread", runId: "run-1" };
const event = (type: string, more: JsonObject): JsonObject => ({ type, ...more });
const textStart = (messageId: string) => event("TEXT_MESSAGE_START", { messageId, role: "assistant" });
const textPiece = (messageId: string, delta = "x") => event("TEXT_MESSAGE_CONTENT", { messageId, delta });
const textEnd = (messageId: string) => event("TEXT_MESSAGE_END", { messageId });
const text = (messageId: string) => [textStart(messageId), textPiece(messageId), textEnd(messageId)];
const callStart = (toolCallId: string, more: JsonObject = {}) =>
  event("TOOL_CALL_START", { toolCallId, toolCallName: "list_files", ...more });
const callEnd = (toolCallId: string) => event("TOOL_CALL_END", { toolCallId });
const args = (toolCallId: string, delta: string) => event("TOOL_CALL_ARGS", { toolCallId, delta });
const result = (toolCallId: string, messageId = `result-${toolCallId}`) =>
  event("TOOL_CALL_RESULT", { toolCallId, messageId, content: "ok", role: "tool" });
const step = (type: string, stepName: string) => event(`STEP_${type}`, { stepName });
const custom = (name: string, value: JsonObject) => event("CUSTOM", { name, value });
const thought = (type: string, messageId: string, more: JsonObject = {}) =>
  event(`REASONING_${type}`, { messageId, ...more });
const run = (...events: JsonObject[]): JsonObject[] => [started(), ...events, finished()];

const RIGHT: ReadonlyArray<[string, JsonObject[]]> = [
  ["nothing at all happens", run()],
  ["it fails", [started(), failed]],
  [
    "everything happens",
    run(
      thought("START", "r"),
      thought("MESSAGE_START", "r", { role: "reasoning" }),
      thought("MESSAGE_CONTENT", "r", { delta: "hm" }),
      thought("MESSAGE_END", "r"),
      thought("END", "r"),
      ...text("m"),
      callStart("c", { parentMessageId: "m" }),
      args("c", '{"a":'),
      args("c", "1}"),
      callEnd("c"),
      result("c"),
      step("STARTED", "s"),
      step("FINISHED", "s"),
      step("STARTED", "s"),
      step("FINISHED", "s"),
      custom("iac-code.pipeline.v1", { eventId: "e", nothing: null }),
    ),
  ],
];

for (const [what, events] of RIGHT) {
  Deno.test(`strict: a run in which ${what} is right`, () => strictThread({ timestamps: false }).check(events));
}

const WRONG: ReadonlyArray<[string, JsonObject[]]> = [
  ["has no events", []],
  ["is only a start", [started()]],
  ["does not start", [...text("m"), finished()]],
  ["starts twice", run(started("run-2"))],
  ["does not end", [started(), ...text("m")]],
  ["goes on after its end", [started(), finished(), ...text("m")]],
  ["fails after its end", [started(), finished(), failed]],
  ["ends as another run", [started(), finished("run-2")]],
  ["ends without an outcome", [started(), { ...finished(), outcome: {} }]],
  ["has an event that nobody knows", run(event("SURPRISE", {}))],
  ["has an event of the protocol that is none of ours", run(event("STATE_SNAPSHOT", { snapshot: {} }))],
  ["has a field that nobody knows", run(textStart("m"), { ...textPiece("m"), secret: "x" }, textEnd("m"))],
  ["has a null", run(callStart("c", { parentMessageId: null }), callEnd("c"))],
  ["has a field of the wrong kind", run(textStart("m"), { ...textPiece("m"), delta: 5 }, textEnd("m"))],
  ["has a lone half of a pair", run(textStart("m"), textPiece("m", "\ud83d"), textEnd("m"))],
  ["has an empty delta", run(textStart("m"), textPiece("m", ""), textEnd("m"))],
  ["leaves a text open at its end", run(textStart("m"))],
  ["leaves a text open when it fails", [started(), textStart("m"), failed]],
  ["leaves a step open", run(step("STARTED", "s"))],
  ["leaves a call open", run(callStart("c"))],
  ["leaves a thought open", run(thought("START", "r"))],
  ["opens a text twice", run(textStart("m"), textStart("m"), textEnd("m"))],
  ["uses a text's id again", run(...text("m"), ...text("m"))],
  ["uses a thought's id for a text", run(thought("START", "m"), thought("END", "m"), ...text("m"))],
  ["speaks outside of a text", run(textPiece("m"))],
  ["ends a text that is not open", run(textEnd("m"))],
  [
    "ends a thought around an open message",
    run(
      thought("START", "r"),
      thought("MESSAGE_START", "r", { role: "reasoning" }),
      thought("END", "r"),
      thought("MESSAGE_END", "r"),
    ),
  ],
  ["opens a step twice", run(step("STARTED", "s"), step("STARTED", "s"), step("FINISHED", "s"))],
  ["finishes a step that is not open", run(step("FINISHED", "s"))],
  ["starts a call twice", run(callStart("c"), callEnd("c"), callStart("c"), callEnd("c"))],
  ["gives a call arguments after its end", run(callStart("c"), callEnd("c"), args("c", "{}"))],
  ["gives a call arguments that are no JSON", run(callStart("c"), args("c", "{"), callEnd("c"))],
  ["gives a call a parent that nobody has seen", run(callStart("c", { parentMessageId: "m" }), callEnd("c"))],
  ["tells a result without a call", run(result("c"))],
  ["tells a result before its call has ended", run(callStart("c"), result("c"), callEnd("c"))],
  ["tells two results", run(callStart("c"), callEnd("c"), result("c"), result("c", "other"))],
  ["tells a result under an id that is used", run(...text("m"), callStart("c"), callEnd("c"), result("c", "m"))],
  ["tells of its session twice", run(custom("iac-code.session.v1", {}), custom("iac-code.session.v1", {}))],
  [
    "tells a pipeline's event twice",
    run(
      custom("iac-code.pipeline.v1", { eventId: "e" }),
      custom("iac-code.pipeline.v1", { eventId: "e" }),
    ),
  ],
  ["asks nothing", [started(), finished("run-1", { outcome: { type: "interrupt", interrupts: [] } })]],
  ["asks the same twice", [
    started(),
    finished("run-1", {
      outcome: { type: "interrupt", interrupts: ["q", "q"].map((id) => ({ id, reason: "r", responseSchema: {} })) },
    }),
  ]],
];

for (const [what, events] of WRONG) {
  Deno.test(`strict: a run that ${what} is wrong`, () => {
    assert.throws(() => strictThread({ timestamps: false }).check(events), assert.AssertionError);
  });
}

const REUSED: ReadonlyArray<[string, JsonObject[]]> = [
  ["a run's id", [started(), finished()]],
  ["a text's id", [started("run-2"), ...text("m"), finished("run-2")]],
  ["a call's id", [started("run-2"), callStart("c"), callEnd("c"), finished("run-2")]],
  ["a call's result", [started("run-2"), result("c", "other"), finished("run-2")]],
];

for (const [what, second] of REUSED) {
  Deno.test(`strict: ${what} is used once in a thread`, () => {
    const strict = strictThread({ timestamps: false });
    strict.check(run(...text("m"), callStart("c"), callEnd("c"), result("c")));
    assert.throws(() => strict.check(second), assert.AssertionError);
  });
}

Deno.test("strict: a result may come in a later run than its call", () => {
  const strict = strictThread({ timestamps: false });
  strict.check(run(callStart("c"), callEnd("c")));
  strict.check([started("run-2"), result("c"), finished("run-2")]);
});

Deno.test("strict: the time of an event is now, in ms", () => {
  const at = (timestamp: unknown): JsonObject[] => run().map((each) => ({ ...each, timestamp: timestamp as number }));
  strictThread().check(at(Date.now()));
  for (const wrong of [undefined, Date.now() / 1000, Date.now() + 0.5, 0]) {
    assert.throws(() => strictThread().check(at(wrong)), assert.AssertionError, String(wrong));
  }
});
