/** Ordinary turns, as they were recorded: text, thought, tools, pictures, a model that cannot see. */
import assert from "node:assert/strict";
import { questionsOf, sentIn, tell } from "../support/story.ts";

Deno.test("two turns are two messages, each under the kernel's id", async () => {
  await tell("text", {}, async ({ talk, replay }) => {
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "text T1-message: Hello |there, |this |is |a |reply.",
      "success (openai/other 11+7=18)",
    ]);
    assert.deepEqual(await talk().run("r2"), [
      "run r2",
      "session r2 E2 T2 S1 inv-1",
      "text T2-message: Second |turn.",
      "success (openai/other 11+7=18)",
    ]);
    assert.deepEqual(await talk().post("r2", { message: "something else" }), ["refused 409 RUN_ID_CONFLICT"]);
    assert.deepEqual(talk().history(), [
      "user msg-r1",
      "assistant: Hello there, this is a reply.",
      "user msg-r2",
      "assistant: Second turn.",
    ]);
    assert.deepEqual(replay.unplayed(), []);
  });
});

Deno.test("a thought is closed before the answer begins", async () => {
  await tell("thinking", {}, async ({ talk }) => {
    // docs/protocol.md, "Text and tools": a thought's id is made of its task's, so that it is unique in the thread.
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "thought T1-reasoning: Let |me |think |about |it.",
      "text T1-message: Answer |after |thinking.",
      "success (openai/other 11+7=18)",
    ]);
    assert.deepEqual(talk().history(), [
      "user msg-r1",
      "reasoning: Let me think about it.",
      "assistant: Answer after thinking.",
    ]);
  });
});

Deno.test("two tools side by side keep apart, and what follows them is a new thought and a new message", async () => {
  await tell("thinking-two-tools", {}, async ({ talk }) => {
    const listed = "Directory: /workspace/session-1…";
    // docs/protocol.md, "Text and tools": the Python adapter keeps one message open around the tools, and its client then
    // shows "Listing. Both listed. " before them.
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "thought T1-reasoning: I |need |the |list. ",
      "text T1-message: Listing. ",
      "call opens K1 list_files of T1-message",
      "call opens K2 list_files of T1-message",
      'call closes K1: {"path":"."}',
      'call closes K2: {"path":"/workspace/session-1"}',
      `result K1: ${listed}`,
      `result K2: ${listed}`,
      "thought T1-reasoning.2: Two |lists |now. ",
      "text T1-message.2: Both |listed. ",
      "success (openai/other 20+10=30)",
    ]);
    assert.deepEqual(talk().history(), [
      "user msg-r1",
      "reasoning: I need the list. ",
      "assistant: Listing.  [K1 list_files] [K2 list_files]",
      `tool K1: ${listed}`,
      `tool K2: ${listed}`,
      "reasoning: Two lists now. ",
      "assistant: Both listed. ",
    ]);
  });
});

Deno.test("text before a tool and text after it stay on their sides of it", async () => {
  await tell("tool-read", {}, async ({ talk }) => {
    // docs/protocol.md, "Text and tools": a tool start closes the message, and what follows is a new one.
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "text T1-message: I |will |list.",
      'call K1 list_files of T1-message: {"path":"."}',
      "result K1: Directory /workspace/session-1 is empty.",
      "text T1-message.2: Listed.",
      "success (openai/other 22+14=36)",
    ]);
    assert.deepEqual(talk().history(), [
      "user msg-r1",
      "assistant: I will list. [K1 list_files]",
      "tool K1: Directory /workspace/session-1 is empty.",
      "assistant: Listed.",
    ]);
  });
});

Deno.test("a tool that fails and one that does not exist answer like any other", async () => {
  await tell("tool-failed", {}, async ({ talk }) => {
    // docs/protocol.md, "Text and tools": as above, and JSON has no 1.0.
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "text T1-message: Reading. ",
      "call opens K1 read_file of T1-message",
      "call opens K2 no_such_tool of T1-message",
      'call closes K1: {"path":"does-not-exist.txt"}',
      'call closes K2: {"a":1}',
      "result K1: File not found: /workspace/session-1/does-not-exist.txt",
      "result K2: Unknown tool: no_such_tool",
      "text T1-message.2: It |failed. ",
      "success (openai/other 20+10=30)",
    ]);
    assert.deepEqual(talk().history(), [
      "user msg-r1",
      "assistant: Reading.  [K1 read_file] [K2 no_such_tool]",
      "tool K1: File not found: /workspace/session-1/does-not-exist.txt",
      "tool K2: Unknown tool: no_such_tool",
      "assistant: It failed. ",
    ]);
  });
});

Deno.test("what the kernel made of a model's error is passed on as it came", async () => {
  await tell("llm-error", {}, async ({ talk }) => {
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "text T1-message: title",
      "success (openai/other 11+7=18)",
    ]);
    assert.deepEqual(talk().history(), ["user msg-r1", "assistant: title"]);
  });
});

Deno.test("pictures reach models that can see, each thread its own", async () => {
  const threads = { "agui-9aab79e99423dd14097044776054262281376ba4": "tools-after-pictures" };
  await tell("image", { threads }, async ({ talk, replay, wire }) => {
    const [first, second] = wire.runs.map(({ request }) => talk(String(request.threadId)));
    assert.deepEqual(await first?.run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "text T1-message: A |picture.",
      "success (openai/qwen3.8-max 11+7=18)",
    ]);
    assert.deepEqual(await second?.run("r1"), [
      "run r1",
      "session r1 E2 T2 S2 inv-1",
      "text T2-message: A |picture.",
      "success (openai/gpt-5.2 11+7=18)",
    ]);
    const third = talk("tools-after-pictures");
    assert.deepEqual(await third.run("r1", { message: sentIn(wire, 3) }), [
      "run r1",
      "session r1 E3 T3 S3 inv-1",
      "text T3-message: I |will |list.",
      'call K1 list_files of T3-message: {"path":"."}',
      "result K1: Directory: /workspace/session-1…",
      "text T3-message.2: Now |write.",
      'call K2 write_file of T3-message.2: {"path":"q.txt","content":"x"}',
      "asks Q1 (openai/other 22+14=36)",
    ]);
    const interruptId = questionsOf(third.events("r1"))[0] ?? "";
    const resume = [{ interruptId, status: "resolved" as const, payload: { decision: "allow_once" } }];
    assert.deepEqual(await third.run("r2", { resume }), [
      "run r2",
      "session r2 E3 T3 S3 inv-1",
      "artifact A1",
      "result K2: Successfully wrote 1 lines to /workspace/session-1/q.txt",
      "text T3-message.r2: All |done.",
      "success (openai/other 11+7=18)",
    ]);
    assert.deepEqual(third.history(), [
      "user msg-r1",
      "assistant: I will list. [K1 list_files]",
      "tool K1: Directory: /workspace/session-1…",
      "assistant: Now write. [K2 write_file]",
      "tool K2: Successfully wrote 1 lines to /workspace/session-1/q.txt",
      "assistant: All done.",
    ]);
    assert.deepEqual(replay.unplayed(), []);
  });
});

Deno.test("a model that cannot see ends the run with the kernel's reason, and the next turn works", async () => {
  await tell("image-unsupported", {}, async ({ talk }) => {
    // docs/protocol.md, "The stream": no session is told of before there is a task. "Ends of a run": the reason is in the
    // message.
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "error A2A_EXECUTION_FAILED The execution failed: Current model deepseek-v3 does not support imag…",
    ]);
    assert.deepEqual(await talk().run("r2"), [
      "run r2",
      "session r2 E1 T1 S1 inv-1",
      "text T1-message: Text |is |fine. ",
      "success (openai/other 10+5=15)",
    ]);
    assert.deepEqual(talk().history(), ["user msg-r1", "user msg-r2", "assistant: Text is fine. "]);
  });
});

Deno.test("a clean-up with nothing to clean ends with the kernel's reason", async () => {
  await tell("pipeline-cleanup-only", {}, async ({ talk }) => {
    // docs/protocol.md, "The stream", "Ends of a run": as above.
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "error A2A_EXECUTION_FAILED The execution failed: Cleanup-only continuation requires a completed …",
    ]);
    assert.deepEqual(talk().history(), ["user msg-r1"]);
  });
});
