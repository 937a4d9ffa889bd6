/** The `pipeline` story: five steps, two candidates at the same time, a choice, a deployment. Nothing is deployed. */
import type { JsonObject } from "../src/json.ts";
import { type Candidate, CANDIDATES, detailOf, diagramOf } from "./candidates.ts";
import { randomHex } from "./frames.ts";
import { openPipeline, type Pipeline, type Place } from "./pipeline.ts";
import { TOOL_MS, type Turn } from "./turn.ts";

export const SELLING = "selling";
const SUB_PIPELINE = "evaluate_candidate";
const STEPS = ["intent_parsing", "architecture_planning", "evaluate_candidates", "confirm_and_select", "deploying"];

/** Tells the whole pipeline. */
export async function tellPipeline(turn: Turn): Promise<void> {
  const pipeline = openPipeline(turn, SELLING, STEPS);
  await tellStep(
    pipeline,
    "intent_parsing",
    "This is a demo pipeline: nothing is deployed. You want a web site. ",
    "intent",
    {
      "is_infra_intent": true,
      confidence: "high",
    },
  );
  await tellStep(pipeline, "architecture_planning", "Two ways to build it come to mind. ", "architecture", {
    candidates: CANDIDATES.map(({ name, summary, cost }) => ({ name, summary, "monthly_estimate": cost })),
  });
  const evaluation = pipeline.startStep("evaluate_candidates", "parallel_sub_pipeline");
  const setId = `call_${randomHex(8)}`;
  const told = CANDIDATES.map((candidate, index) => tellCandidate(pipeline, evaluation, candidate, index, setId));
  // When the one is stopped, the other is still at work.
  await Promise.allSettled(told);
  await Promise.all(told);
  pipeline.emit("step_completed", evaluation, { candidatesCount: CANDIDATES.length, conclusionField: "candidates" });
  const chosen = await tellSelection(pipeline);
  await tellDeployment(pipeline, chosen);
  pipeline.complete();
}

async function tellStep(
  pipeline: Pipeline,
  id: string,
  words: string,
  field: string,
  conclusion: JsonObject,
): Promise<void> {
  const place = pipeline.startStep(id);
  await pipeline.say(place, words);
  await pipeline.conclude(place, field, conclusion);
}

/** What one candidate's parts have in common. */
interface Evaluation {
  readonly pipeline: Pipeline;
  readonly place: Place;
  readonly candidate: Candidate;
  readonly index: number;
  /** The fields that name the candidate in each event's data. */
  readonly named: JsonObject;
}

async function tellCandidate(
  pipeline: Pipeline,
  step: Place,
  candidate: Candidate,
  index: number,
  setId: string,
): Promise<void> {
  const place = candidatePlace(step, candidate, index);
  const named = {
    candidateIndex: index,
    candidateName: candidate.name,
    subPipelineName: SUB_PIPELINE,
    subPipelineId: place.candidate?.id ?? "",
    totalSteps: 2,
  };
  const evaluation = { pipeline, place, candidate, index, named };
  pipeline.emit("candidate_started", place, named);
  const template = await tellTemplate(evaluation);
  const cost = await tellCost(evaluation, setId);
  pipeline.emit("candidate_completed", place, { ...named, failed: false, conclusions: { template, cost } });
}

/** Writes the template, if the user lets it. */
async function tellTemplate({ pipeline, place, candidate, named }: Evaluation): Promise<JsonObject> {
  const writing = candidateStep(place, "template_generating", 1);
  pipeline.emit("candidate_step_started", writing, { ...named, stepId: "template_generating", stepIndex: 0 });
  const { file, name, template, summary } = candidate;
  await pipeline.say(writing, `Writing the template of ${name}. `);
  const write = await pipeline.startTool(writing, "write_file", { path: file, content: template });
  const allowed = await pipeline.permission(writing, write, file);
  await pipeline.say(writing, allowed ? `${file} is written. ` : `Then I keep ${file} to myself. `);
  const conclusion = { "file_path": file, description: summary, written: allowed };
  await pipeline.conclude(writing, "template", conclusion);
  if (allowed) await pipeline.artifact(writing, file, template);
  return conclusion;
}

/** Shows what the candidate costs and how it looks. */
async function tellCost({ pipeline, place, candidate, index, named }: Evaluation, setId: string): Promise<JsonObject> {
  const pricing = candidateStep(place, "cost_estimating", 2);
  pipeline.emit("candidate_step_started", pricing, { ...named, stepId: "cost_estimating", stepIndex: 1 });
  const { name, cost } = candidate;
  await pipeline.say(pricing, `${name} costs **${cost}**. `);
  const input = { "candidate_index": index, "candidate_name": name };
  const show = await pipeline.startTool(pricing, "show_candidate_detail", input);
  pipeline.emit("candidate_detail_shown", pricing, detailOf(candidate, index, setId, show.id));
  pipeline.emit("diagram_shown", pricing, diagramOf(candidate, index, setId));
  await pipeline.toolResult(pricing, show, `Displayed the detail of candidate ${index}.`);
  const conclusion = { "monthly_estimate": cost, currency: "CNY" };
  await pipeline.conclude(pricing, "cost", conclusion);
  return conclusion;
}

function candidatePlace({ step }: Place, { name }: Candidate, index: number): Place {
  const id = `${SUB_PIPELINE}_${randomHex(8)}`;
  const runId = `candidate-${id}-${index}-1`;
  const candidate = { id, runId, index, attempt: 1, name, pipelineName: SUB_PIPELINE, totalSteps: 2 };
  return { scope: "candidate", ...(step && { step }), candidate };
}

function candidateStep(about: Place, id: string, index: number): Place {
  const runId = `${about.candidate?.runId}-${id}-1`;
  return { ...about, scope: "candidate_step", candidateStep: { id, runId, attempt: 1, index, total: 2 } };
}

async function tellSelection(pipeline: Pipeline): Promise<Candidate> {
  const place = pipeline.startStep("confirm_and_select", "normal", "candidate_selection");
  await pipeline.say(place, "Both candidates stand side by side. ");
  const options = CANDIDATES.map(({ name, summary, cost }, index) => ({
    name,
    "candidate_index": index,
    summary: `${summary} ${cost}`,
  }));
  const prompt = "Which solution shall be deployed? (Demo: none will be.)";
  const conclusion = { options, "user_prompt": prompt };
  await pipeline.conclude(place, "selected_plan", conclusion);
  const about = {
    kind: "candidate_selection",
    prompt,
    options: options.map(({ name, summary }, index) => ({ id: String(index), label: name, summary })),
  };
  const data = { kind: "candidate_selection", stepId: "confirm_and_select", prompt, options };
  let selected = -1;
  while (selected < 0) selected = indexOf(await pipeline.ask(place, about, data));
  const option = options[selected] ?? {};
  const candidate = CANDIDATES[selected] ?? CANDIDATES[0];
  pipeline.emit("input_received", place, {
    kind: "candidate_selection",
    selectedValue: candidate.name,
    selectedIndex: selected,
    selectedOption: option,
  });
  await pipeline.say(place, `${candidate.name} it is. `);
  await pipeline.conclude(place, "selected_plan", { ...conclusion, "selected_candidate_index": selected });
  return candidate;
}

/** The candidate that an answer names: by its name, its id, or some text that holds the name. */
function indexOf(answer: string): number {
  const asked = answer.trim().toLowerCase();
  const exact = CANDIDATES.findIndex(({ name }, index) => asked === String(index) || asked === name.toLowerCase());
  return exact >= 0 ? exact : CANDIDATES.findIndex(({ name }) => asked.includes(name.toLowerCase()));
}

async function tellDeployment(pipeline: Pipeline, candidate: Candidate): Promise<void> {
  const place = pipeline.startStep("deploying");
  await pipeline.say(place, `I pretend to deploy ${candidate.name}. `);
  const stack = { stackId: `demo-${randomHex(8)}`, stackName: "demo-web-site", regionId: "cn-hangzhou" };
  const deploy = await pipeline.startTool(place, "ros_deploy", { action: "create", "stack_name": stack.stackName });
  const current = { toolUseId: deploy.id, toolName: "ros_deploy", action: "CreateStack", ...stack, current: true };
  pipeline.emit("stack_current_changed", { ...place, scope: "stack" }, {
    ...current,
    stackStatus: "CREATE_IN_PROGRESS",
  });
  for (const progressPercentage of [0, 50, 100]) {
    await pipeline.turn.pause(TOOL_MS);
    const status = progressPercentage < 100 ? "CREATE_IN_PROGRESS" : "CREATE_COMPLETE";
    const resources = candidate.items.map(({ name }) => ({ name, type: "ALIYUN::ECS::Instance", status }));
    const progress = { toolUseId: deploy.id, ...stack, status, progressPercentage, resources, elapsedSeconds: 0 };
    pipeline.emit("stack_progress", place, progress);
  }
  pipeline.emit("stack_current_changed", { ...place, scope: "stack" }, { ...current, stackStatus: "CREATE_COMPLETE" });
  await pipeline.toolResult(place, deploy, JSON.stringify({ ...stack, status: "CREATE_COMPLETE", "is_success": true }));
  await pipeline.artifact(place, "deployment.md", `# ${candidate.name}\n\nThis was a demo: nothing was deployed.\n`);
  await pipeline.conclude(place, "deployment", { status: "success", "stack_id": stack.stackId });
}
