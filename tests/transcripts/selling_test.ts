/**
 * The pipeline that sells: two candidates side by side, each asking leave to write a file, then a selection, then a
 * deployment that fails. As it was recorded, with the permissions allowed, allowed in the rich presentation, and denied.
 */
import assert from "node:assert/strict";
import { tell } from "../support/story.ts";

interface Recording {
  readonly wire: string;
  /** What tells the two candidates' ids apart. */
  readonly candidates: readonly [string, string];
  readonly files: readonly [string, string];
  readonly denied: boolean;
  /** Exchanges of the Python adapter's second round. */
  readonly unplayed: readonly number[];
}

const RECORDINGS: readonly Recording[] = [
  {
    wire: "pipeline-selling",
    candidates: ["49b44988", "d588bd1b"],
    files: ["d3fd9d.yml", "84292f.yml"],
    denied: false,
    unplayed: [4, 5, 6],
  },
  {
    wire: "pipeline-selling-rich",
    candidates: ["55b64fa3", "44b80bcc"],
    files: ["d80c79.yml", "8f1540.yml"],
    denied: false,
    unplayed: [5, 6, 7],
  },
  {
    wire: "pipeline-selling-deny",
    candidates: ["87ad7a70", "476a8e03"],
    files: ["bb218a.yml", "1a84f3.yml"],
    denied: true,
    unplayed: [5, 6, 7],
  },
];

/** docs/protocol.md, "Pipelines": parallel candidates have ids and step names of their own. */
function wordsOf([one, two]: Recording["candidates"]): Record<string, string> {
  const candidate = (id: string, at: number, word: string): Record<string, string> => {
    const run = `candidate-evaluate_candidate_${id}-${at}-1`;
    return {
      [`pipeline:T1:C1:candidate_step:${run}:${run}-`]: `${word}/`,
      [`candidate:evaluate_candidate_${id}:`]: `${word}/`,
    };
  };
  const steps = { "pipeline:T1:C1:step::step-": "", "template_generating": "template", "cost_estimating": "cost" };
  return { ...candidate(one, 0, "one"), ...candidate(two, 1, "two"), ...steps };
}

/** Until both candidates have asked: docs/protocol.md, "Interrupts", announces them together. */
function firstRun({ files }: Recording): string[] {
  return [
    "run r1",
    "session r1 E1 T1 S1 inv-1",
    "pipeline 1 pipeline_started",
    "step intent_parsing",
    "text intent_parsing-1: Working |on |it. ",
    'call K1 complete_step of intent_parsing-1: {"conclusion":{"is_infra_intent":true,"confidence":"h…',
    "result K1: Step Intent parsing completed. Conclusion submitted.",
    "step over intent_parsing",
    "step architecture_planning",
    "text architecture_planning-1: Working |on |it. ",
    'call K2 complete_step of architecture_planning-1: {"conclusion":{"candidates":[{"products":["pro…',
    "result K2: Step Architecture planning completed. Conclusion submitted.",
    "step over architecture_planning",
    "step evaluate_candidates",
    "pipeline 25 candidate_started",
    "pipeline 26 candidate_started",
    "step one/template",
    "step two/template",
    "text opens one/template-1: Writing. ",
    "text opens two/template-1: Writing. ",
    "text closes one/template-1",
    `call K3 write_file of one/template-1: {"content":"a: 1","path":"${files[0]}"}`,
    "text closes two/template-1",
    `call K4 write_file of two/template-1: {"content":"a: 1","path":"${files[1]}"}`,
    "step over two/template",
    "step over one/template",
    "step over evaluate_candidates",
    "asks Q1, Q2 (openai/other 40+20=60)",
  ];
}

/**
 * From the answers to the selection. docs/protocol.md, "Pipelines": what was missed comes first and in its order; the Python adapter
 * puts it behind what came later.
 */
function answers(results: readonly string[]): string[] {
  return [
    "run r3",
    "step evaluate_candidates",
    "step one/template",
    "step two/template",
    "snapshot pipeline:C1",
    "session r3 E1 T1 S1 inv-1",
    `result K3: ${results[0]}`,
    "text one/template-1.r3: Working |on |it. ",
    'call K9 complete_step of one/template-1.r3: {"conclusion":{"template":"template-1","file_path":"…',
    `result K4: ${results[1]}`,
    "result K9: Step Template generation completed. Conclusion submitted.",
    "text opens two/template-1.r3: Working ",
    "step over one/template",
    "text goes on two/template-1.r3: on ",
    "step one/cost",
    "text goes on two/template-1.r3: it. ",
    "text opens one/cost-1.r3: Working ",
    "text closes two/template-1.r3",
    'call K5 complete_step of two/template-1.r3: {"conclusion":{"template":"template-1","file_path":"…',
    "text goes on one/cost-1.r3: on |it. ",
    "result K5: Step Template generation completed. Conclusion submitted.",
    "step over two/template",
    "text closes one/cost-1.r3",
    'call K6 complete_step of one/cost-1.r3: {"conclusion":{"monthly_estimate":"monthly_estimate-1","…',
    "step two/cost",
    "result K6: Step Cost estimation completed. Conclusion submitted.",
    "text opens two/cost-1.r3: Working ",
    "step over one/cost",
    "text goes on two/cost-1.r3: on ",
    "pipeline 82 candidate_completed",
    "text closes two/cost-1.r3: it. ",
    'call K7 complete_step of two/cost-1.r3: {"conclusion":{"monthly_estimate":"monthly_estimate-1","…',
    "result K7: Step Cost estimation completed. Conclusion submitted.",
    "step over two/cost",
    "pipeline 89 candidate_completed",
    "step over evaluate_candidates",
    "step confirm_and_select",
    "text confirm_and_select-1.r3: Working |on |it. ",
    'call K8 complete_step of confirm_and_select-1.r3: {"conclusion":{"user_prompt":"user_prompt-1","…',
    "result K8: Step Confirm and select completed. Conclusion submitted.",
    "step over confirm_and_select",
    "asks Q3 (openai/other 50+25=75)",
  ];
}

/** The selection, and the deployment that fails. docs/protocol.md, "Ends of a run": with its reason. */
function selection(): string[] {
  return [
    "run r4",
    "snapshot pipeline:C1",
    "session r4 E1 T1 S1 inv-1",
    "step confirm_and_select",
    "text confirm_and_select-1.r4: Working |on |it. ",
    'call K10 complete_step of confirm_and_select-1.r4: {"conclusion":{"options":[{"name":"name-1","c…',
    "result K10: Step Confirm and select completed. Conclusion submitted.",
    "step over confirm_and_select",
    "step deploying",
    "text deploying-1.r4: Working |on |it. ",
    'call K11 complete_step of deploying-1.r4: {"conclusion":{"error":"error-1","stack_id":"stack_id-…',
    "result K11: conclusion validation failed; fix it and call complete_step again: A successful depl…",
    "text deploying-1.r4.2: Working |on |it. ",
    'call K12 complete_step of deploying-1.r4.2: {"conclusion":{"error":"error-1","stack_id":"stack_i…',
    "result K12: conclusion validation failed; fix it and call complete_step again: A successful depl…",
    "text deploying-1.r4.3: Working |on |it. ",
    'call K13 complete_step of deploying-1.r4.3: {"conclusion":{"error":"error-1","stack_id":"stack_i…',
    "result K13: conclusion validation failed after exceeding the maximum retry count (2): A successf…",
    "pipeline 140 step_failed",
    "step over deploying",
    "error A2A_EXECUTION_FAILED The execution failed: Schema validation failed after 3 attempts: A su…",
  ];
}

function history(tools: readonly string[]): string[] {
  return [
    "user msg-r1",
    "assistant: Working on it.  [K1 complete_step]",
    "tool K1: Step Intent parsing completed. Conclusion submitted.",
    "assistant: Working on it.  [K2 complete_step]",
    "tool K2: Step Architecture planning completed. Conclusion submitted.",
    "assistant: Writing.  [K3 write_file]",
    `tool K3: ${tools[0]}`,
    "assistant: Writing.  [K4 write_file]",
    `tool K4: ${tools[1]}`,
    "activity pipeline:C1",
    "assistant: Working on it.  [K9 complete_step]",
    "tool K9: Step Template generation completed. Conclusion submitted.",
    "assistant: Working on it.  [K5 complete_step]",
    "tool K5: Step Template generation completed. Conclusion submitted.",
    "assistant: Working on it.  [K6 complete_step]",
    "tool K6: Step Cost estimation completed. Conclusion submitted.",
    "assistant: Working on it.  [K7 complete_step]",
    "tool K7: Step Cost estimation completed. Conclusion submitted.",
    "assistant: Working on it.  [K8 complete_step]",
    "tool K8: Step Confirm and select completed. Conclusion submitted.",
    "assistant: Working on it.  [K10 complete_step]",
    "tool K10: Step Confirm and select completed. Conclusion submitted.",
    "assistant: Working on it.  [K11 complete_step]",
    "tool K11: conclusion validation failed; fix it and call complete_step again: A successful deploy…",
    "assistant: Working on it.  [K12 complete_step]",
    "tool K12: conclusion validation failed; fix it and call complete_step again: A successful deploy…",
    "assistant: Working on it.  [K13 complete_step]",
    "tool K13: conclusion validation failed after exceeding the maximum retry count (2): A successful…",
  ];
}

for (const recording of RECORDINGS) {
  const { wire, candidates, files, denied, unplayed } = recording;
  Deno.test(`two candidates ask at once, are answered together, and go on side by side: ${wire}`, async () => {
    const refused = "The user explicitly denied this tool operation. This is not a cloud API or IAM permis";
    const result = (file: string): string =>
      denied ? `${refused}…` : `Successfully wrote 1 lines to /workspace/session-1/${file}`;
    const results = files.map(result);
    await tell(wire, { eager: [1], words: wordsOf(candidates) }, async ({ talk, replay }) => {
      assert.deepEqual(await talk().run("r1"), firstRun(recording));
      // r2 of the recording is the Python adapter's second round: the first one has announced one question of two.
      assert.deepEqual(await talk().run("r3"), answers(results));
      assert.deepEqual(await talk().run("r4"), selection());
      assert.deepEqual(talk().history(), history(results.map((text) => denied ? `${refused}si…` : text)));
      assert.deepEqual(replay.unplayed(), unplayed);
    });
  });
}
