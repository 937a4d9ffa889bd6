/** docs/protocol.md, "Text and tools": tool calls side by side, with or without their start, input and result. */
import assert from "node:assert/strict";
import type { Frame } from "../../src/kernel/wire.ts";
import type { ShownCalls, Thread } from "../../src/thread/thread.ts";
import { asks, BEGUN, ENDED, permission, piece, tool } from "../support/kernel_frames.ts";
import { mappedRun } from "../support/mapped_run.ts";
import { strictThread } from "../support/strict_stream.ts";

const TABLE: ReadonlyArray<{ title: string; frames: readonly Frame[]; lines: readonly string[] }> = [
  {
    title: "start, input and result",
    frames: [
      tool("call-1", "started"),
      tool("call-1", "input_delta", { partialJsonLength: 13 }),
      tool("call-1", "input_complete", { toolInput: { path: "." }, inputSummary: { fields: {} } }),
      tool("call-1", "completed", { result: "empty" }),
    ],
    lines: ['call call-1 list_files: {"path":"."}', "result call-1: empty"],
  },
  {
    title: "two that interleave keep apart",
    frames: [
      tool("call-1", "started"),
      tool("call-2", "started"),
      tool("call-2", "input_complete", { toolInput: { b: 2 } }),
      tool("call-1", "input_complete", { toolInput: { a: 1 } }),
      tool("call-2", "completed", { result: "two" }),
      tool("call-1", "failed", { result: "one failed" }),
    ],
    lines: [
      "call opens call-1 list_files",
      'call call-2 list_files: {"b":2}',
      'call closes call-1: {"a":1}',
      "result call-2: two",
      "result call-1: one failed",
    ],
  },
  {
    title: "without its input, the summary stands for it",
    frames: [
      tool("call-1", "started"),
      tool("call-1", "input_complete", { inputSummary: { fields: { path: { type: "str" } } } }),
      tool("call-2", "input_complete", { inputSummary: "a path" }),
      tool("call-3", "input_complete"),
    ],
    lines: [
      'call call-1 list_files: {"summary":{"fields":{"path":{"type":"str"}}}}',
      'call call-2 list_files: {"summary":"a path"}',
      "call call-3 list_files: {}",
    ],
  },
  {
    title: "half a surrogate pair in an input or a result is no character",
    frames: [
      tool("call-1", "input_complete", { toolInput: { path: "a\ud83d", "\ude00": 1 } }),
      tool("call-1", "completed", { result: ["\ude00", "\ud83d\ude00", "\\ud83d"] }),
    ],
    lines: [
      'call call-1 list_files: {"path":"a\ufffd","\ufffd":1}',
      'result call-1: ["\ufffd","\ud83d\ude00","\\\\ud83d"]',
    ],
  },
  {
    title: "a call whose input never came is ended before its result",
    frames: [tool("call-1", "started"), tool("call-1", "completed", { result: "ok" })],
    lines: ["call call-1 list_files", "result call-1: ok"],
  },
  {
    title: "a result without a start gets one",
    frames: [tool("call-1", "completed", { result: "ok" })],
    lines: ["call call-1 list_files", "result call-1: ok"],
  },
  {
    title: "a call has one start, one input and one result",
    frames: [
      tool("call-1", "started"),
      tool("call-1", "started"),
      tool("call-1", "input_complete", { toolInput: {} }),
      tool("call-1", "input_complete", { toolInput: { again: true } }),
      tool("call-1", "completed", { result: "ok" }),
      tool("call-1", "completed", { result: "again" }),
      tool("call-1", "started"),
      tool("call-1", "input_complete", { toolInput: {} }),
    ],
    lines: ["call call-1 list_files: {}", "result call-1: ok"],
  },
  {
    title: "a result that is no text is told as JSON, and none as an empty one",
    frames: [
      tool("call-1", "completed", { result: { files: 2, names: ["a", "b"] } }),
      tool("call-2", "completed"),
      tool("call-3", "completed", { result: "" }),
      tool("call-4", "completed", { result: null }),
    ],
    lines: [
      "call call-1 list_files",
      'result call-1: {"files":2,"names":["a","b"]}',
      "call call-2 list_files",
      "result call-2: ",
      "call call-3 list_files",
      "result call-3: ",
      "call call-4 list_files",
      "result call-4: null",
    ],
  },
  {
    title: "progress is an event of its own",
    frames: [tool("call-1", "started"), tool("call-1", "progress", { percent: 40 })],
    lines: ["call opens call-1 list_files", "progress call-1", "call closes call-1"],
  },
  {
    title: "without an id there is no call, without a name it is a tool",
    frames: [tool("", "started"), tool("", "completed", { result: "ok" }), tool("call-1", "started", { name: "" })],
    lines: ["call call-1 tool"],
  },
  {
    title: "a status that nobody knows is passed over",
    frames: [tool("call-1", "pondered")],
    lines: [],
  },
];

for (const { title, frames, lines } of TABLE) {
  Deno.test(`tools: ${title}`, () => {
    const run = mappedRun();
    run.accept(...BEGUN, ...frames, ENDED);
    assert.deepEqual(run.lines(), [...lines, "success"]);
    strictThread({ timestamps: false }).check(run.events);
  });
}

Deno.test("tools: progress carries all that the kernel tells of it", () => {
  const run = mappedRun();
  run.accept(...BEGUN, tool("call-1", "progress", { percent: 40 }));
  assert.deepEqual(run.events.at(-1), {
    type: "CUSTOM",
    name: "iac-code.tool-progress.v1",
    value: { schemaVersion: 1, toolUseId: "call-1", status: "progress", name: "list_files", percent: 40 },
  });
});

/** A thread that waits at a permission for `call-1`, after some frames. */
function waiting(...frames: readonly Frame[]): { thread: Thread; events: ReturnType<typeof mappedRun>["events"] } {
  const run = mappedRun();
  run.accept(...BEGUN, ...frames, asks(permission("question-1")));
  run.end({ cause: "interrupt", expiresAt: null });
  return { thread: run.thread, events: run.events };
}

Deno.test("tools: a call that a cut has swallowed is told before the user is asked about it", () => {
  const { events, thread } = waiting(piece("Writing."));
  const types = events.map(({ type }) => type);
  assert.deepEqual(types.slice(-4), ["TEXT_MESSAGE_END", "TOOL_CALL_START", "TOOL_CALL_END", "RUN_FINISHED"]);
  assert.deepEqual(events.at(-3), {
    type: "TOOL_CALL_START",
    toolCallId: "call-1",
    toolCallName: "write_file",
    parentMessageId: "task-1-message",
  });
  assert.deepEqual(thread.execution.shownCalls, { open: ["call-1"], answered: [] });
});

Deno.test("tools: a resumed run tells the result of a call that was shown, starts one that was not, and repeats none", () => {
  const { thread, events } = waiting(
    tool("call-0", "completed", { result: "done before" }),
    tool("call-1", "started"),
    tool("call-2", "started"),
  );
  const run = mappedRun({ runId: "run-2", resumes: thread });
  run.answered("question-1", "digest");
  run.accept(
    tool("call-0", "completed", { result: "done before" }),
    tool("call-1", "input_complete", { toolInput: {} }),
    tool("call-1", "completed", { result: "written" }),
    tool("call-3", "completed", { result: "unheard of" }),
    tool("call-2", "failed", { result: "no" }),
    ENDED,
  );
  assert.deepEqual(run.lines(), [
    "result call-1: written",
    "call call-3 list_files",
    "result call-3: unheard of",
    "result call-2: no",
    "success",
  ]);
  assert.deepEqual(run.thread.execution.shownCalls, { open: [], answered: ["call-0", "call-1", "call-2", "call-3"] });
  const strict = strictThread({ timestamps: false });
  strict.check(events);
  strict.check(run.events);
});

Deno.test("tools: on a thread whose shown calls nobody wrote down, a result needs no start", () => {
  const { thread } = waiting(tool("call-1", "started"));
  const { shownCalls: _, ...execution } = thread.execution;
  const run = mappedRun({ runId: "run-2", resumes: { ...thread, execution } });
  run.answered("question-1", "digest");
  run.accept(
    tool("call-1", "input_complete", { toolInput: {} }),
    tool("call-1", "completed", { result: "written" }),
    asks(permission("question-2", "call-9")),
  );
  run.end({ cause: "interrupt", expiresAt: null });
  assert.deepEqual(run.lines(), ["result call-1: written", "asks question-2"]);
  assert.equal(run.thread.execution.shownCalls, undefined);
});

Deno.test("tools: the words that answer a question are the result of its tool", () => {
  const question = permission("question-1", "call-1", { kind: "ask_user_question", toolName: "ask_user_question" });
  const before = mappedRun();
  before.accept(...BEGUN, tool("call-1", "started", { name: "ask_user_question" }), asks(question));
  before.end({ cause: "interrupt", expiresAt: null });
  const run = mappedRun({ runId: "run-2", resumes: before.thread });
  run.answered("question-1", "digest", "Hangzhou");
  run.accept(tool("call-1", "completed", { result: "Hangzhou" }), ENDED);
  assert.deepEqual(run.lines(), ["result call-1: Hangzhou", "success"]);
});

Deno.test("tools: the newest calls are kept with the thread, and no more than 1,024", () => {
  const run = mappedRun();
  run.accept(...BEGUN);
  for (let at = 0; at < 1_500; at++) run.accept(tool(`call-${at}`, "started"));
  run.accept(asks(permission("question-1", "call-1499")));
  run.end({ cause: "interrupt", expiresAt: null });
  const shown: ShownCalls | undefined = run.thread.execution.shownCalls;
  assert.equal(shown?.open.length, 1_024);
  assert.equal(shown?.open.at(-1), "call-1499");
});
