/** Pipelines that ask the user, think, and take guidance, as they were recorded. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/json.ts";
import { tell } from "../support/story.ts";

/** docs/protocol.md, "Pipelines": the ids of a step's messages are made of task, pipeline run, scope and step run. */
const words = {
  "pipeline-reasoning:T1:C1:step::step-solution_planning_and_selection-1": "planning-thought",
  "pipeline:T1:C1:step::step-solution_planning_and_selection-1": "planning-text",
  "solution_planning_and_selection": "planning",
};
const COMPLETED = "Step Solution planning and selection completed. Conclusion submitted.";

Deno.test("a question is answered by an option, whose label is the result of its tool", async () => {
  await tell("pipeline-question", { words, repeated: [6] }, async ({ talk, kernel, replay }) => {
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "pipeline 1 pipeline_started",
      "step planning",
      "text planning-text: Planning.",
      'call K1 ask_user_question of planning-text: {"options":[{"label":"Hangzhou","id":"hz"},{"label":…',
      "step over planning",
      "asks Q1 (openai/other 11+7=18)",
    ]);
    // docs/protocol.md, "Text and tools": the text is closed before the call, and a resume run's ids are its own.
    assert.deepEqual(await talk().run("r2"), [
      "run r2",
      "step planning",
      "snapshot pipeline:C1",
      "session r2 E1 T1 S1 inv-1",
      "result K1: Hangzhou",
      "text planning-text.r2: Thanks.",
      'call K2 complete_step of planning-text.r2: {"conclusion":{"rejection_reason":"not a cloud task",…',
      `result K2: ${COMPLETED}`,
      "step over planning",
      "pipeline 21 pipeline_completed",
      "success (openai/other 11+7=18)",
    ]);
    // docs/protocol.md, "The stream": the kernel winds down for longer than anybody waits; each attempt is a task of its
    // own, and none of them is announced. The Python adapter gives up at the first.
    assert.deepEqual(await talk().run("r9"), [
      "run r9",
      "error A2A_EXECUTION_FAILED The execution failed: Task is already working.",
    ]);
    assert.ok(kernel.got("SendStreamingMessage").length > 10, "attempts over 30 s");
    assert.deepEqual(talk().history(), [
      "user msg-r1",
      "assistant: Planning. [K1 ask_user_question]",
      "tool K1: Hangzhou",
      "activity pipeline:C1",
      "assistant: Thanks. [K2 complete_step]",
      `tool K2: ${COMPLETED}`,
      "user msg-r9",
    ]);
    assert.deepEqual(replay.unplayed(), []);
  });
});

Deno.test("a question is answered in the user's own words", async () => {
  await tell("pipeline-free-text", { words }, async ({ talk, replay }) => {
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "pipeline 1 pipeline_started",
      "step planning",
      'call K1 ask_user_question: {"options":[{"label":"Hangzhou","id":"hz"}],"question":"Which region?…',
      "step over planning",
      "asks Q1 (openai/other 10+5=15)",
    ]);
    assert.deepEqual(await talk().run("r2"), [
      "run r2",
      "step planning",
      "snapshot pipeline:C1",
      "session r2 E1 T1 S1 inv-1",
      "result K1: Somewhere near Berlin",
      'call K2 complete_step: {"conclusion":{"rejection_reason":"none","status":"rejected"}}',
      `result K2: ${COMPLETED}`,
      "step over planning",
      "pipeline 19 pipeline_completed",
      "success (openai/other 10+5=15)",
    ]);
    assert.deepEqual(talk().history(), [
      "user msg-r1",
      "assistant:  [K1 ask_user_question]",
      "tool K1: Somewhere near Berlin",
      "activity pipeline:C1",
      "assistant:  [K2 complete_step]",
      `tool K2: ${COMPLETED}`,
    ]);
    assert.deepEqual(replay.unplayed(), []);
  });
});

Deno.test("a question that nobody wants to answer cancels the execution", async () => {
  await tell("pipeline-question-cancelled", { words }, async ({ talk, kernel, replay }) => {
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "pipeline 1 pipeline_started",
      "step planning",
      'call K1 ask_user_question: {"options":[{"label":"Hangzhou","id":"hz"}],"question":"Which region?…',
      "step over planning",
      "asks Q1 (openai/other 10+5=15)",
    ]);
    // docs/protocol.md, "The stream": the Python adapter leaves the step open.
    assert.deepEqual(await talk().run("r2"), [
      "run r2",
      "step planning",
      "snapshot pipeline:C1",
      "step over planning",
      "error CANCELLED The execution was cancelled.",
    ]);
    await kernel.called("CancelTask");
    assert.deepEqual(talk().history(), ["user msg-r1", "assistant:  [K1 ask_user_question]", "activity pipeline:C1"]);
    assert.deepEqual(replay.unplayed(), []);
  });
});

Deno.test("a pipeline's step thinks, speaks and calls tools like an agent", async () => {
  await tell("pipeline-thinking", { words }, async ({ talk }) => {
    // docs/protocol.md, "Text and tools": the thought and the text are closed before each tool.
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "pipeline 1 pipeline_started",
      "step planning",
      "thought planning-thought: First, |look |at |it. ",
      "text planning-text: Looking. ",
      'call K1 list_files of planning-text: {"path":"."}',
      "result K1: Directory: /workspace/session-1…",
      "thought planning-thought.2: Now |decide. ",
      'call K2 complete_step: {"conclusion":{"rejection_reason":"none","status":"rejected"}}',
      `result K2: ${COMPLETED}`,
      "step over planning",
      "pipeline 24 pipeline_completed",
      "success (openai/other 20+10=30)",
    ]);
    assert.deepEqual(talk().history(), [
      "user msg-r1",
      "reasoning: First, look at it. ",
      "assistant: Looking.  [K1 list_files]",
      "tool K1: Directory: /workspace/session-1…",
      "reasoning: Now decide. ",
      "assistant:  [K2 complete_step]",
      `tool K2: ${COMPLETED}`,
    ]);
  });
});

Deno.test("guidance goes into a pipeline that runs, and its own stream repeats nothing of it", async () => {
  await tell("pipeline-guidance", { words }, async ({ talk, replay }) => {
    const running = talk().run("r1");
    await talk().seen((event: JsonObject) => event.delta === "s5 ");
    assert.deepEqual(await talk().post("r2"), ["run r2", "success"]);
    assert.deepEqual(await running, [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "pipeline 1 pipeline_started",
      "step planning",
      "text planning-text: Starting. |s0 |s1 |s2 |s3 |s4 |s5 |s6 |s7 |s8 |s9 |s10 |s11 |s12 |s13 |s14 ",
      'call K1 list_files of planning-text: {"path":"."}',
      "result K1: Directory: /workspace/session-1…",
      "text planning-text.2: s0 |s1 |s2 |s3 |s4 |s5 |s6 |s7 |s8 |s9 ",
      'call K2 complete_step of planning-text.2: {"conclusion":{"rejection_reason":"none","status":"rej…',
      `result K2: ${COMPLETED}`,
      "step over planning",
      "pipeline 45 pipeline_completed",
      "success (openai/other 20+10=30)",
    ]);
    assert.deepEqual(talk().history(), [
      "user msg-r1",
      "assistant: Starting. s0 s1 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 s12 s13 s14  [K1 list_files]",
      "tool K1: Directory: /workspace/session-1…",
      "assistant: s0 s1 s2 s3 s4 s5 s6 s7 s8 s9  [K2 complete_step]",
      `tool K2: ${COMPLETED}`,
    ]);
    assert.deepEqual(replay.unplayed(), []);
  });
});
