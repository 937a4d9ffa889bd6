import assert from "node:assert/strict";
import type { Event } from "@ag-ui/core";
import type { Candidate } from "../../console/state/candidate.ts";
import type { Pipeline } from "../../console/state/pipeline.ts";
import { reduce } from "../../console/state/reduce.ts";
import { EMPTY_VIEW, type View } from "../../console/state/view.ts";
import { isObject, type JsonObject } from "../../src/json.ts";

const START = { type: "RUN_STARTED", threadId: "t", runId: "r" };
let sequence = 0;

function pipelineEvent(eventType: string, data: JsonObject = {}, more: JsonObject = {}): object {
  const value = { eventType, eventId: `event-${++sequence}`, pipelineName: "selling", data, ...more };
  return { type: "CUSTOM", name: "iac-code.pipeline.v1", value };
}

function play(events: readonly object[], view: View = EMPTY_VIEW): View {
  return events.reduce<View>((before, event) => reduce(before, event as Event), view);
}

function pipelineOf({ pipelines }: View): Pipeline {
  const newest = pipelines.at(-1);
  assert.ok(newest);
  return newest;
}

function stepsOf(view: View): Record<string, string> {
  return Object.fromEntries(pipelineOf(view).steps.map(({ name, status }) => [name, status]));
}

function step(type: "STEP_STARTED" | "STEP_FINISHED", stepName: string): object {
  return { type, stepName };
}

const started = (): object => pipelineEvent("pipeline_started", { stepNames: ["plan", "choose", "deploy"] });
const interrupt = (kind: string): object => ({
  type: "RUN_FINISHED",
  threadId: "t",
  runId: "r",
  outcome: { type: "interrupt", interrupts: [{ id: "i", reason: "input_required", metadata: { kind } }] },
});

Deno.test("the line of a pipeline has all its steps from the beginning", () => {
  const view = play([START, started(), step("STEP_STARTED", "plan")]);
  assert.equal(pipelineOf(view).name, "selling");
  assert.deepEqual(stepsOf(view), { plan: "running", choose: "pending", deploy: "pending" });
  const next = play([step("STEP_FINISHED", "plan"), step("STEP_STARTED", "choose")], view);
  assert.deepEqual(stepsOf(next), { plan: "done", choose: "running", deploy: "pending" });
});

Deno.test("steps that an interrupt closes only wait, and go on when the next run reopens them", () => {
  const asked = play([
    START,
    started(),
    step("STEP_STARTED", "plan"),
    step("STEP_FINISHED", "plan"),
    step("STEP_STARTED", "choose"),
    { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
    { type: "TEXT_MESSAGE_END", messageId: "m" },
    step("STEP_FINISHED", "choose"),
    interrupt("permission"),
  ]);
  assert.deepEqual(stepsOf(asked), { plan: "done", choose: "paused", deploy: "pending" });
  const resumed = play([START, step("STEP_STARTED", "choose")], asked);
  assert.deepEqual(stepsOf(resumed), { plan: "done", choose: "running", deploy: "pending" });
});

Deno.test("a step that the next run does not reopen had come to its end", () => {
  const asked = play([
    START,
    started(),
    step("STEP_STARTED", "plan"),
    step("STEP_FINISHED", "plan"),
    interrupt("permission"),
  ]);
  assert.equal(stepsOf(asked).plan, "paused");
  const resumed = play([START, step("STEP_STARTED", "choose"), pipelineEvent("context_compacted")], asked);
  assert.equal(stepsOf(resumed).plan, "done");
});

Deno.test("what an error closes has failed", () => {
  const view = play([
    START,
    started(),
    step("STEP_STARTED", "plan"),
    step("STEP_FINISHED", "plan"),
    { type: "RUN_ERROR", code: "A2A_UNAVAILABLE", message: "" },
  ]);
  assert.equal(stepsOf(view).plan, "failed");
  assert.equal(pipelineOf(view).status, "failed");
});

Deno.test("candidates gather what several events say of them, in the order of their indexes", () => {
  const candidate = (index: number): JsonObject => ({
    id: `c${index}`,
    runId: `run-${index}`,
    index,
    name: `name-${index}`,
  });
  const detail = {
    candidateName: "Small",
    summary: "one server",
    totalMonthlyCost: "¥96",
    costItems: [{ name: "ECS" }],
  };
  const view = play([
    START,
    started(),
    pipelineEvent("candidate_started", {}, { candidate: candidate(1) }),
    pipelineEvent("candidate_started", {}, { candidate: candidate(0) }),
    step("STEP_STARTED", "candidate:c0:template"),
    pipelineEvent("candidate_detail_shown", { candidateIndex: 0, keyTradeoff: "cheap", detail }),
    pipelineEvent("diagram_shown", {
      candidateIndex: 0,
      mermaidSource: "flowchart TD\n a --> b",
      templateContent: "T",
    }),
    pipelineEvent("candidate_completed", {
      candidateIndex: 1,
      failed: false,
      conclusions: { cost: { "monthly_estimate": "¥300" } },
    }),
    pipelineEvent("candidate_failed", { candidateIndex: 0 }),
  ]);
  const [first, second] = pipelineOf(view).candidates as [Candidate, Candidate];
  assert.deepEqual(first, {
    index: 0,
    id: "c0",
    runId: "run-0",
    name: "Small",
    status: "failed",
    selected: false,
    steps: [{ name: "template", status: "running" }],
    summary: "one server",
    tradeoff: "cheap",
    cost: "¥96",
    costItems: [{ name: "ECS", spec: "", cost: "" }],
    diagrams: [{ title: "", source: "flowchart TD\n a --> b" }],
    template: "T",
  });
  assert.deepEqual([second.name, second.status, second.cost], ["name-1", "done", "¥300"]);
  assert.deepEqual(view.entries.map(({ kind }) => kind), ["progress", "candidates", "notice"]);
});

Deno.test("what a candidate says carries its name", () => {
  const view = play([
    START,
    started(),
    pipelineEvent("candidate_started", {}, { candidate: { id: "c0", runId: "run-0", index: 0, name: "Small" } }),
    { type: "TEXT_MESSAGE_START", messageId: "pipeline:task:run-0:step", role: "assistant" },
    { type: "TOOL_CALL_START", toolCallId: "x", toolCallName: "write", parentMessageId: "pipeline:task:run-0:step" },
    { type: "TEXT_MESSAGE_START", messageId: "pipeline:task:other", role: "assistant" },
  ]);
  assert.deepEqual(
    view.entries.flatMap((entry) => "lane" in entry ? [[entry.kind, entry.lane]] : []),
    [["text", "Small"], ["tool", "Small"], ["text", undefined]],
  );
});

Deno.test("the candidates stand beside the question which one to take", () => {
  const before = [
    START,
    started(),
    pipelineEvent("candidate_started", {}, { candidate: { id: "c", runId: "r", index: 0, name: "Small" } }),
    { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
  ];
  const kinds = (view: View): string[] => view.entries.map(({ kind }) => kind);
  assert.deepEqual(kinds(play([...before, interrupt("permission")])), ["progress", "candidates", "text", "end"]);
  assert.deepEqual(kinds(play([...before, interrupt("candidate_selection")])), [
    "progress",
    "text",
    "candidates",
    "end",
  ]);
});

Deno.test("a candidate that is selected takes the mark from the others", () => {
  const view = play([
    START,
    started(),
    ...[0, 1].map((candidateIndex) => pipelineEvent("candidate_detail_shown", { candidateIndex })),
    pipelineEvent("candidate_selected", { candidateIndex: 0 }),
    pipelineEvent("candidate_selected", { candidateIndex: 1 }),
  ]);
  assert.deepEqual(pipelineOf(view).candidates.map(({ selected }) => selected), [false, true]);
});

Deno.test("a repeated pipeline event is shown once", () => {
  const warning = pipelineEvent("pipeline_warning", { message: "careful" });
  const view = play([START, started(), warning, warning]);
  assert.deepEqual(view.entries.filter(({ kind }) => kind === "notice").map((entry) => entry), [
    {
      kind: "notice",
      id: isObject((warning as { value: JsonObject }).value) ? (warning as { value: JsonObject }).value.eventId : "",
      tone: "warning",
      title: "pipeline_warning",
      text: "careful",
    },
  ]);
});

Deno.test("a stack is one entry that moves on", () => {
  const progress = (progressPercentage: number, status: string): object =>
    pipelineEvent("stack_progress", {
      stackId: "s",
      stackName: "web",
      status,
      progressPercentage,
      resources: [{ name: "ecs", status }],
    });
  const view = play([START, started(), progress(10.4, "CREATE_IN_PROGRESS"), progress(100, "CREATE_COMPLETE")]);
  assert.deepEqual(view.entries.filter(({ kind }) => kind === "stack"), [{
    kind: "stack",
    id: "s",
    name: "web",
    status: "CREATE_COMPLETE",
    percent: 100,
    resources: [{ name: "ecs", status: "CREATE_COMPLETE" }],
  }]);
});

Deno.test("after a reload a recovery snapshot brings steps, candidates, costs and diagrams back", () => {
  const snapshot = {
    pipelineName: "selling",
    control: { stepNames: ["plan", "choose", "deploy"] },
    steps: [
      {
        id: "plan",
        status: "completed",
        candidates: [{ id: "c0", runId: "run-0", index: 0, name: "Small", steps: [] }],
      },
      { id: "choose", status: "running" },
    ],
    display: {
      candidateDetails: [{ candidateIndex: 0, detail: { summary: "one server" } }],
      diagrams: [{ candidateIndex: 0, mermaidSource: "flowchart TD\n a --> b" }],
    },
  };
  const content = { schemaVersion: 1, pipelineRunId: "p", snapshot };
  const view = play([START, { type: "ACTIVITY_SNAPSHOT", messageId: "p", activityType: "x", content, replace: true }]);
  assert.deepEqual(stepsOf(view), { plan: "done", choose: "running", deploy: "pending" });
  const [candidate] = pipelineOf(view).candidates;
  assert.deepEqual([candidate?.name, candidate?.summary, candidate?.diagrams.length], ["Small", "one server", 1]);
  assert.deepEqual(view.entries.map(({ kind }) => kind), ["progress", "candidates"]);
});

Deno.test("each recorded pipeline ends with a line of steps whose states are told apart", async () => {
  const recorded = new URL("../wires/pipeline-candidates.agui-0.16.json", import.meta.url);
  const exchanges = JSON.parse(await Deno.readTextFile(recorded)) as { response: { events?: object[] } }[];
  const events = exchanges.flatMap(({ response }) => response.events ?? []);
  const view = play(events);
  assert.deepEqual(stepsOf(view), {
    "solution_planning_and_selection": "done",
    "materialize_selected_candidate": "failed",
    deploying: "pending",
  });
  assert.deepEqual(
    pipelineOf(view).candidates.map(({ name, cost, diagrams }) => [name, cost, diagrams[0]?.title]),
    [["Single ECS", "100/month", "Architecture plan"], ["SLB + 2 ECS", "300/month", "Architecture plan"]],
  );
});
