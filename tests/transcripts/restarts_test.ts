/** Restarts and breaks, as they were recorded: of ours and of the kernel at a question, of the kernel and of a stream mid-run. */
import assert from "node:assert/strict";
import { sentIn, tell } from "../support/story.ts";

Deno.test("a question outlives a restart of the service", async () => {
  await tell("adapter-restart-at-interrupt", {}, async ({ talk, restart, replay }) => {
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "text T1-message: I |will |write.",
      'call K1 write_file of T1-message: {"content":"hi","path":"ar.txt"}',
      "asks Q1 (openai/other 11+7=18)",
    ]);
    await restart();
    assert.deepEqual(await talk().run("r2"), [
      "run r2",
      "session r2 E1 T1 S1 inv-1",
      "artifact A1",
      "result K1: Successfully wrote 1 lines to /workspace/session-1/ar.txt",
      "text T1-message.r2: Written.",
      "success (openai/other 11+7=18)",
    ]);
    assert.deepEqual(talk().history(), [
      "user msg-r1",
      "assistant: I will write. [K1 write_file]",
      "tool K1: Successfully wrote 1 lines to /workspace/session-1/ar.txt",
      "assistant: Written.",
    ]);
    assert.deepEqual(replay.unplayed(), []);
  });
});

Deno.test("a question outlives a restart of the kernel, which then names no question in its account of the task", async () => {
  await tell("kernel-restart-at-interrupt", {}, async ({ talk, kernel, replay }) => {
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "text T1-message: I |will |write.",
      'call K1 write_file of T1-message: {"content":"hi","path":"kr.txt"}',
      "asks Q1 (openai/other 11+7=18)",
    ]);
    await kernel.down();
    kernel.up();
    assert.deepEqual(await talk().run("r2"), [
      "run r2",
      "session r2 E1 T1 S1 inv-1",
      "artifact A1",
      "result K1: Successfully wrote 1 lines to /workspace/session-1/kr.txt",
      "text T1-message.r2: Written.",
      "success (openai/other 11+7=18)",
    ]);
    assert.deepEqual(await talk().run("r3"), [
      "run r3",
      "session r3 E2 T2 S1 inv-1",
      "text T2-message: next",
      "success (openai/other 11+7=18)",
    ]);
    assert.deepEqual(talk().history(), [
      "user msg-r1",
      "assistant: I will write. [K1 write_file]",
      "tool K1: Successfully wrote 1 lines to /workspace/session-1/kr.txt",
      "assistant: Written.",
      "user msg-r3",
      "assistant: next",
    ]);
    assert.deepEqual(replay.unplayed(), []);
  });
});

Deno.test("a kernel that dies mid-run ends the run with its spans closed, and works again when it is back", async () => {
  await tell("kernel-dies-mid-run", { dies: [1] }, async ({ talk, kernel, server, replay }) => {
    // docs/protocol.md, "The stream": the Python adapter leaves the text open.
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "text T1-message: s0 |s1 |s2 |s3 |s4 |s5 |s6 |s7 |s8 ",
      "error A2A_UNAVAILABLE The iac-code execution service is unavailable.",
    ]);
    assert.deepEqual(await talk().run("r2"), [
      "run r2",
      "error A2A_UNAVAILABLE The iac-code execution service is unavailable.",
    ]);
    await server.services.aftermath.settled();
    kernel.up();
    assert.deepEqual(await talk().run("r3"), [
      "run r3",
      "session r3 E2 T2 S1 inv-1",
      "text T2-message: kernel |is |back",
      "success (openai/other 11+7=18)",
    ]);
    assert.deepEqual(talk().history(), [
      "user msg-r1",
      "assistant: s0 s1 s2 s3 s4 s5 s6 s7 s8 ",
      "user msg-r2",
      "user msg-r3",
      "assistant: kernel is back",
    ]);
    // The cancellation and the message that no kernel heard.
    assert.deepEqual(replay.unplayed(), [2, 3]);
  });
});

Deno.test("a stream that is cut is picked up again, with all its text in order", async () => {
  const threads = { "ctx-8b57836b": "cut" };
  await tell("upstream-cut", { threads, cut: [1] }, async ({ talk, wire, replay }) => {
    const cut = talk("cut");
    const listed = "Directory: /workspace/session-1…";
    // docs/protocol.md, "A cut stream": there is no recording of the Python adapter, which does not do this.
    assert.deepEqual(await cut.run("r1", { message: sentIn(wire, 1) }), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "text T1-message: Before |the |tool. |s0 |s1 |s2 ",
      'call K1 list_files of T1-message: {"path":"."}',
      `result K1: ${listed}`,
      "text T1-message.2: Between. |s0 |s1 |s2 ",
      'call K2 list_files of T1-message.2: {"path":"/workspace/session-1"}',
      `result K2: ${listed}`,
      "text T1-message.3: s0 |s1 |s2 |s3 |At |the |end. ",
      "success (openai/other 30+15=45)",
    ]);
    assert.deepEqual(cut.history(), [
      "user msg-r1",
      "assistant: Before the tool. s0 s1 s2  [K1 list_files]",
      `tool K1: ${listed}`,
      "assistant: Between. s0 s1 s2  [K2 list_files]",
      `tool K2: ${listed}`,
      "assistant: s0 s1 s2 s3 At the end. ",
    ]);
    // The last account was asked for by the recorder.
    assert.deepEqual(replay.unplayed(), [4]);
  });
});
