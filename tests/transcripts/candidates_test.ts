/** A pipeline that shows candidates and lets the user select one, as it was recorded. */
import assert from "node:assert/strict";
import { tell } from "../support/story.ts";

const words = {
  "pipeline-reasoning:T1:C1:step::step-solution_planning_and_selection-1": "planning-thought",
  "pipeline:T1:C1:step::step-solution_planning_and_selection-1": "planning-text",
  "pipeline:T1:C1:step::step-materialize_selected_candidate-1": "materialize-text",
  "solution_planning_and_selection": "planning",
  "materialize_selected_candidate": "materialize",
};

Deno.test("candidates are shown as they come, and a failed step is the reason of the run's error", async () => {
  await tell("pipeline-candidates", { words }, async ({ talk, replay }) => {
    const planned = "Displayed 2 candidate outlines; candidateSetId=K1. Do not repeat show_architecture_pl…";
    const [one, two] = [0, 1].map((at) => `Displayed rich detail for candidate ${at} "`);
    // docs/protocol.md, "Text and tools": the text is closed before the first call, and later calls belong to no message.
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "pipeline 1 pipeline_started",
      "step planning",
      "thought planning-thought: planning",
      "text planning-text: Planning.",
      'call K1 show_architecture_plan of planning-text: {"candidates":[{"key_tradeoff":"cheap","candida…',
      "pipeline 10 candidate_detail_shown",
      "pipeline 11 candidate_detail_shown",
      `result K1: ${planned}`,
      'call K2 show_candidate_detail: {"cost_confidence":"medium","topology_graph":{"nodes":[{"label":"…',
      "pipeline 17 candidate_detail_shown",
      "pipeline 18 diagram_shown",
      `result K2: ${one}Single ECS" in candidateSetId=K1.`,
      'call K3 show_candidate_detail: {"cost_confidence":"medium","topology_graph":{"nodes":[{"label":"…',
      "pipeline 24 candidate_detail_shown",
      "pipeline 25 diagram_shown",
      `result K3: ${two}SLB + 2 ECS" in candidateSetId=K1.`,
      'call K4 complete_step: {"conclusion":{"intent":{"resource_intents":[{"action":"create","product"…',
      "result K4: Step Solution planning and selection completed. Conclusion submitted.",
      "step over planning",
      "asks Q1 (openai/other 44+28=72)",
    ]);
    // docs/protocol.md, "Ends of a run": the reason stands in the failed step only. "Pipelines": its event comes before its
    // span closes.
    assert.deepEqual(await talk().run("r2"), [
      "run r2",
      "snapshot pipeline:C1",
      "session r2 E1 T1 S1 inv-1",
      "step planning",
      "step over planning",
      "step materialize",
      "text opens materialize-text.r2: Hello |from |the |fake |model.|(end |of |script)|(end |of |script)",
      "pipeline 58 step_failed",
      "text closes materialize-text.r2",
      "step over materialize",
      "error A2A_EXECUTION_FAILED The execution failed: No conclusion extracted (openai/other 33+21=54)",
    ]);
    assert.deepEqual(talk().history(), [
      "user msg-r1",
      "reasoning: planning",
      "assistant: Planning. [K1 show_architecture_plan]",
      `tool K1: ${planned.slice(0, -1)}an…`,
      "assistant:  [K2 show_candidate_detail]",
      `tool K2: ${one}Single ECS" in candidateSetId=K1.`,
      "assistant:  [K3 show_candidate_detail]",
      `tool K3: ${two}SLB + 2 ECS" in candidateSetId=K1.`,
      "assistant:  [K4 complete_step]",
      "tool K4: Step Solution planning and selection completed. Conclusion submitted.",
      "activity pipeline:C1",
      "assistant: Hello from the fake model.(end of script)(end of script)",
    ]);
    assert.deepEqual(replay.unplayed(), []);
  });
});
