/** What else a pipeline run takes: a message while it works, and a clean-up (docs/protocol.md, "Guidance", "Pipelines"). */
import assert from "node:assert/strict";
import { type Lab, openLab } from "./support/lab.ts";
import { scripted, type Turn } from "./support/person.ts";
import { assertHistory, goOn, pipelineEvents, SOLUTION_FIRST } from "./support/stories.ts";

const REJECTED = { conclusion: { status: "rejected", "rejection_reason": "none" } };

Deno.test("pipelines", async (t) => {
  await using lab = await openLab();
  await t.step("a message into a pipeline run under way neither ends nor repeats it", () => guidance(lab));
  await t.step("a message into a pipeline needs one that is under way", () => guidanceOfNothing(lab));
  await t.step("a clean-up with nothing to clean says so, and the next turn works", () => cleanup(lab));
  await t.step("candidates are shown with their details and diagrams", () => candidates(lab));
});

async function guidance(lab: Lab): Promise<void> {
  const person = await lab.person(SOLUTION_FIRST);
  const another = person.elsewhere();
  let guided: Promise<Turn> | undefined;
  const design = scripted(
    "Design it.",
    [{ text: "Starting." }, { slow: 20, gap: 0.2 }, { tool: "list_files", args: { path: "." } }],
    [{ slow: 5, gap: 0.1 }, { tool: "complete_step", args: REJECTED }],
  );
  const main = await person.say(design, {
    heard(event) {
      if (event.type === "TEXT_MESSAGE_CONTENT") {
        guided ??= another.say("Please use Hangzhou.", { fields: { activeGuidance: true } });
      }
    },
  });
  const told = await guided;
  assert.equal(told?.end, "success", told?.message);
  assert.deepEqual(told?.events.map(({ type }) => type), ["RUN_STARTED", "RUN_FINISHED"]);
  assert.equal(main.end, "success", main.message);
  assert.deepEqual(pipelineEvents(main).at(-1), "pipeline_completed");
  assertHistory(person, [
    "user Design it.",
    /^agent Starting\. (s\d+ ?)+$/,
    'call list_files {"path":"."}',
    "result Directory ~ is empty.",
    "agent s0 s1 s2 s3 s4",
    'call complete_step {"conclusion":{"rejection_reason":"none","status":"rejected"}}',
    /^result Step .* completed/,
  ]);
}

async function guidanceOfNothing(lab: Lab): Promise<void> {
  const person = await lab.person(SOLUTION_FIRST);
  const turn = await person.say("Please use Hangzhou.", { fields: { activeGuidance: true } });
  assert.equal(turn.end, "EXECUTION_LOST");
}

async function cleanup(lab: Lab): Promise<void> {
  const person = await lab.person(SOLUTION_FIRST);
  const turn = await person.say("Clean up.", { fields: { cleanupOnly: true } });
  assert.equal(turn.end, "A2A_EXECUTION_FAILED");
  assert.match(turn.message, /[Cc]leanup-only/);
  const design = scripted("Design it.", [{ text: "No." }, { tool: "complete_step", args: REJECTED }]);
  const next = await person.say(design);
  assert.equal(next.end, "success", next.message);
  await goOn(person);
}

async function candidates(lab: Lab): Promise<void> {
  const person = await lab.person({ ...SOLUTION_FIRST, candidatePresentation: "rich" });
  const plan = ["Single ECS", "SLB + 2 ECS"].map((name) => ({
    "candidate_name": name,
    summary: name,
    "total_monthly_cost": "100/month",
    "key_tradeoff": "cheap",
  }));
  const conclusion = {
    status: "awaiting_selection",
    intent: { "resource_intents": [{ product: "ECS", action: "create" }], "hard_constraints": [] },
  };
  const turn = await person.say(scripted(
    "Design it.",
    [{ text: "Planning." }, { tool: "show_architecture_plan", args: { candidates: plan } }],
    ...plan.map(({ candidate_name }, at) => [{ tool: "show_candidate_detail", args: detail(at, candidate_name) }]),
    [{ tool: "complete_step", args: { conclusion } }],
  ));
  assert.equal(turn.end, "interrupt", turn.message);
  assert.deepEqual(person.open.map(({ metadata }) => metadata?.kind), ["candidate_selection"]);
  const shown = pipelineEvents(turn);
  assert.equal(shown.filter((type) => type === "candidate_detail_shown").length, 4);
  assert.equal(shown.filter((type) => type === "diagram_shown").length, 2);
}

function detail(index: number, name: string) {
  return {
    "candidate_index": index,
    "candidate_name": name,
    "applicable_scenarios": ["small site"],
    "resource_intents": [{ product: "ECS", action: "create" }],
    "topology_graph": {
      nodes: [{ id: "vpc", label: "VPC", product: "VPC" }, { id: "ecs", label: "ECS", product: "ECS" }],
      edges: [{ source: "vpc", target: "ecs" }],
    },
    "resource_inventory": [
      { "resource_id": "ecs", product: "ECS", purpose: "web", quantity: 1, lifecycle: "create" },
    ],
    "cost_assumptions": ["pay as you go"],
    "cost_exclusions": ["traffic"],
    "cost_confidence": "medium",
    "decision_notes": {
      "why_recommended": ["simple"],
      "problems_solved": ["hosting"],
      pros: ["cheap", "simple"],
      cons: ["single zone"],
    },
  };
}
