import assert from "node:assert/strict";
import type { Event, Interrupt } from "@ag-ui/core";
import { addAnswers, addError, addInterrupts, addMessage, fail, reduce } from "../../console/state/reduce.ts";
import { EMPTY_VIEW, type Entry, type View } from "../../console/state/view.ts";

/** The view after events, each with a time one second behind the one before. */
function play(events: readonly object[], view: View = EMPTY_VIEW): View {
  return events.reduce<View>(
    (before, event, at) => reduce(before, { timestamp: at * 1_000, ...event } as Event),
    view,
  );
}

const START = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const SUCCESS = { type: "RUN_FINISHED", threadId: "t", runId: "r", outcome: { type: "success" } };
const ASK: Interrupt = { id: "permission-1", reason: "tool_call", message: "Allow?", toolCallId: "call-1" };

function asks(...interrupts: Interrupt[]): object {
  return { type: "RUN_FINISHED", threadId: "t", runId: "r", outcome: { type: "interrupt", interrupts } };
}

function kinds({ entries }: View): string[] {
  return entries.map(({ kind }) => kind);
}

function entry<K extends Entry["kind"]>(view: View, kind: K): Extract<Entry, { kind: K }> {
  const found = view.entries.findLast((one) => one.kind === kind);
  assert.ok(found, `there is no ${kind}`);
  return found as Extract<Entry, { kind: K }>;
}

function custom(name: string, value: object): object {
  return { type: "CUSTOM", name: `iac-code.${name}.v1`, value };
}

Deno.test("text and reasoning grow while they are open, each under its own id", () => {
  const open = play([
    START,
    { type: "REASONING_MESSAGE_START", messageId: "a", role: "reasoning" },
    { type: "REASONING_MESSAGE_CONTENT", messageId: "a", delta: "hm" },
    { type: "REASONING_MESSAGE_END", messageId: "a" },
    { type: "TEXT_MESSAGE_START", messageId: "b", role: "assistant" },
    { type: "TEXT_MESSAGE_START", messageId: "c", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "b", delta: "one " },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "c", delta: "two" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "b", delta: "more" },
    { type: "TEXT_MESSAGE_END", messageId: "c" },
  ]);
  assert.deepEqual(open.entries, [
    { kind: "reasoning", id: "a", text: "hm", open: false, lane: undefined },
    { kind: "text", id: "b", text: "one more", open: true, lane: undefined },
    { kind: "text", id: "c", text: "two", open: false, lane: undefined },
  ]);
  assert.equal(open.phase, "running");
  const done = play([SUCCESS], open);
  assert.equal(done.phase, "idle");
  assert.ok(done.entries.every((one) => one.kind !== "text" || !one.open));
});

Deno.test("a tool call goes from its name to its result", () => {
  const called = play([
    START,
    { type: "TOOL_CALL_START", toolCallId: "call-1", toolCallName: "write_file" },
    { type: "TOOL_CALL_ARGS", toolCallId: "call-1", delta: '{"a":' },
    { type: "TOOL_CALL_ARGS", toolCallId: "call-1", delta: "1}" },
  ]);
  assert.equal(entry(called, "tool").status, "preparing");
  const running = play([
    { type: "TOOL_CALL_END", toolCallId: "call-1" },
    custom("tool-progress", { toolUseId: "call-1", message: "half" }),
  ], called);
  assert.deepEqual(
    [entry(running, "tool").status, entry(running, "tool").args, entry(running, "tool").progress],
    ["running", '{"a":1}', "half"],
  );
  const done = play([
    { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "call-1", content: "ok", role: "tool" },
  ], running);
  assert.deepEqual([entry(done, "tool").status, entry(done, "tool").result], ["done", "ok"]);
});

Deno.test("a result whose call was announced before a reload is shown all the same", () => {
  const view = play([START, { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "call-9", content: "ok" }]);
  assert.deepEqual([entry(view, "tool").name, entry(view, "tool").result], ["call-9", "ok"]);
});

Deno.test("a tool that did not come to its end is stopped by the end of the run, and waits at an interrupt", () => {
  const call = [
    START,
    { type: "TOOL_CALL_START", toolCallId: "call-1", toolCallName: "write_file" },
    { type: "TOOL_CALL_END", toolCallId: "call-1" },
  ];
  assert.equal(entry(play([...call, SUCCESS]), "tool").status, "stopped");
  assert.equal(entry(play([...call, asks(ASK)]), "tool").status, "waiting");
});

Deno.test("an end carries its outcome, its usage and the time that the run took", () => {
  const usage = [{ provider: "p", model: "m", inputTokens: 3, outputTokens: 2 }];
  const end = entry(play([START, { type: "STEP_STARTED", stepName: "s" }, { ...SUCCESS, usage }]), "end");
  assert.deepEqual(end, { kind: "end", id: "r", outcome: "success", usage, tookMs: 2_000 });
});

Deno.test("questions stay while their answers are under way, and go when the agent has taken them", () => {
  const asked = play([START, asks(ASK)]);
  assert.deepEqual(asked.interrupts, [ASK]);
  const sent = play([START], addAnswers(asked, "a", [{ question: "Allow?", answer: "Yes" }]));
  assert.deepEqual([sent.interrupts.length, sent.phase], [1, "running"]);
  assert.deepEqual(play([custom("session", { executionId: "e" })], sent).interrupts, []);
});

Deno.test("an answer that failed can be given again, unless its question is gone", () => {
  const sent = addAnswers(play([START, asks(ASK)]), "a", []);
  const error = (code: string): object => ({ type: "RUN_ERROR", code, message: "no" });
  assert.equal(play([START, error("RESUME_PAYLOAD_INVALID")], sent).interrupts.length, 1);
  assert.equal(play([START, error("A2A_UNAVAILABLE")], sent).interrupts.length, 1);
  for (const code of ["CANCELLED", "EXECUTION_EXPIRED", "UNKNOWN_INTERRUPT", "RESUME_ALREADY_APPLIED"]) {
    assert.equal(play([START, error(code)], sent).interrupts.length, 0, code);
  }
  const taken = play([START, custom("session", { executionId: "e" })], sent);
  assert.equal(play([error("A2A_UNAVAILABLE")], taken).interrupts.length, 0);
});

Deno.test("a message begins anew: no question, no execution of the run before", () => {
  const before = play([START, custom("session", { executionId: "e" }), asks(ASK)]);
  assert.equal(before.executionId, "e");
  const after = addMessage(before, "m", "hello");
  assert.deepEqual([after.interrupts, after.executionId, after.phase], [[], undefined, "running"]);
  assert.deepEqual(after.entries.at(-1), { kind: "user", id: "m", text: "hello" });
});

Deno.test("a refusal shows its code and leaves no run behind", () => {
  const view = fail(addMessage(EMPTY_VIEW, "m", "hello"), "UNAUTHORIZED", "No.", undefined);
  assert.deepEqual(kinds(view), ["user", "error"]);
  assert.equal(view.phase, "idle");
  assert.deepEqual(kinds(addError(view, "EXECUTION_NOT_FOUND", "")), ["user", "error", "error"]);
});

Deno.test("two errors in a row are two entries with keys of their own", () => {
  const view = fail(fail(EMPTY_VIEW, "UNAUTHORIZED", "", undefined), "UNAUTHORIZED", "", undefined);
  assert.equal(new Set(view.entries.map(({ id }) => id)).size, 2);
});

Deno.test("questions that the service names with RESUME_REQUIRED are shown", () => {
  const view = addInterrupts(addMessage(EMPTY_VIEW, "m", "hello"), [ASK], "execution");
  assert.deepEqual([view.interrupts, view.executionId, view.phase], [[ASK], "execution", "idle"]);
});

Deno.test("an artifact is one entry, whose chunks are joined", () => {
  const chunk = (text: string, append: boolean): object =>
    custom("artifact", { artifactId: "x", name: "a.txt", parts: [{ text }], append });
  const view = play([START, chunk("one ", false), chunk("two", true)]);
  assert.deepEqual(kinds(view), ["artifact"]);
  assert.deepEqual(entry(view, "artifact").artifact.content, { as: "text", text: "one two" });
});

Deno.test("an artifact that is only named gets the content that a tool wrote to it, if its size agrees", () => {
  const call = (content: string): object[] => [
    START,
    { type: "TOOL_CALL_START", toolCallId: "call-1", toolCallName: "write_file" },
    { type: "TOOL_CALL_ARGS", toolCallId: "call-1", delta: JSON.stringify({ path: "dir/ä.txt", content }) },
  ];
  const named = custom("artifact", {
    artifactId: "x",
    name: "ä.txt",
    parts: [{ url: "iac-code-artifact://x" }],
    metadata: { byteSize: 4 },
  });
  assert.deepEqual(entry(play([...call("äö"), named]), "artifact").artifact.content, { as: "text", text: "äö" });
  assert.equal(entry(play([...call("other"), named]), "artifact").artifact.content, undefined);
});

Deno.test("unknown events and unknown custom events change nothing", () => {
  const view = play([START]);
  const same = play([
    custom("news-of-tomorrow", { a: 1 }),
    custom("artifact", []),
    { type: "STATE_SNAPSHOT", snapshot: {} },
  ], view);
  assert.deepEqual(same, view);
});
