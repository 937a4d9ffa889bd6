import assert from "node:assert/strict";
import { isObject, type JsonObject, text } from "../../src/json.ts";
import {
  collect,
  decisionParams,
  iacOf,
  labelOf,
  labels,
  messageParams,
  questionIn,
  taskIdOf,
  type WireClient,
  withKernel,
} from "./wire_client.ts";

const PIPELINE = { runMode: "pipeline" };

function pipelineTest(title: string, test: (client: WireClient) => Promise<void>): void {
  Deno.test(title, () => withKernel(test));
}

/** Starts the pipeline and reads until both candidates have asked. */
async function untilPermissions({ stream }: WireClient): Promise<{ frames: JsonObject[]; inputs: JsonObject[] }> {
  const frames: JsonObject[] = [];
  const inputs: JsonObject[] = [];
  for await (const frame of stream("SendStreamingMessage", messageParams("Design a web site", PIPELINE))) {
    frames.push(frame);
    const { input } = iacOf(frame);
    if (isObject(input)) inputs.push(input);
    if (inputs.length === 2) break;
  }
  return { frames, inputs };
}

function events(frames: readonly JsonObject[]): JsonObject[] {
  return frames.map((frame) => iacOf(frame).pipeline).filter(isObject);
}

function types(list: readonly JsonObject[]): string[] {
  return list.map(({ eventType }) => String(eventType));
}

async function state({ fetch }: WireClient, taskId: string, afterSequence: number): Promise<JsonObject> {
  const response = await fetch(`/iac-code/pipeline/state?taskId=${taskId}&afterSequence=${afterSequence}`);
  assert.equal(response.status, 200);
  return await response.json();
}

/** The pipeline up to its selection: everything that was seen on the way. */
async function untilSelection(client: WireClient, decision: string): Promise<{ taskId: string; frames: JsonObject[] }> {
  const { frames, inputs } = await untilPermissions(client);
  const taskId = taskIdOf(frames);
  for (const input of inputs) await client.call("SendMessage", decisionParams(input, decision));
  const seen = Number(events(frames).at(-1)?.sequence);
  const rest = await collect(client.stream("SubscribeToTask", { id: taskId }));
  const { events: missed } = await state(client, taskId, seen);
  assert.ok(Array.isArray(missed));
  const asFrames = missed.filter(isObject).map((pipeline) => ({
    statusUpdate: { metadata: { "iac_code": { pipeline } }, status: { state: "TASK_STATE_WORKING" } },
  }));
  return { taskId, frames: [...frames, ...asFrames, ...rest] };
}

pipelineTest("`question` asks in a pipeline's envelope, with options and free text", async ({ say }) => {
  const asked = await say("question", PIPELINE);
  assert.deepEqual(labels(asked), [
    "task SUBMITTED",
    "pipeline_started",
    "step_started",
    "thinking_delta",
    "message_started",
    "text_delta",
    "tool_started",
    "usage",
    "context_usage",
    "INPUT_REQUIRED asks ask_user_question",
  ]);
  const input = questionIn(asked);
  assert.equal(input.allowFreeText, true);
  assert.ok(Array.isArray(input.options) && input.options.length === 2);
  assert.deepEqual(events(asked).map(({ sequence }) => sequence), events(asked).map((_, index) => index + 1));
});

for (
  const [answer, selectedId, freeText] of [["Beijing", "bj", ""], ["hz", "hz", ""], ["Frankfurt", "", "Frankfurt"]]
) {
  pipelineTest(
    `the answer ${answer} is ${selectedId ? "an option" : "free text"}, and the pipeline completes`,
    async ({ say }) => {
      const asked = await say("question", PIPELINE);
      const done = await say(answer ?? "", { ...PIPELINE, taskId: taskIdOf(asked) });
      assert.deepEqual(labels(done), [
        "input_received",
        "message_started",
        "text_delta",
        "tool_started",
        "usage",
        "context_usage",
        "tool_result",
        "step_completed",
        "COMPLETED pipeline_completed",
        "COMPLETED pipeline_handoff_ready",
      ]);
      const data = events(done)[0]?.data;
      assert.ok(isObject(data));
      assert.deepEqual([data.selectedId, data.freeText], [selectedId, freeText]);
    },
  );
}

pipelineTest("a normal run asks the question too, in the same envelopes", async ({ say }) => {
  const asked = await say("question");
  assert.deepEqual(labels(asked).slice(0, 4), ["task SUBMITTED", "SUBMITTED", "WORKING", "pipeline_started"]);
});

pipelineTest("both candidates ask while the task works on, each in the name of its sub-pipeline", async (client) => {
  const { frames, inputs } = await untilPermissions(client);
  assert.equal(labelOf(frames.at(-1) ?? {}), "WORKING asks permission");
  assert.deepEqual(inputs.map(({ scope }) => scope), ["candidate_step", "candidate_step"]);
  assert.equal(new Set(inputs.map(({ subPipelineId }) => subPipelineId)).size, 2);
  const started = ["pipeline_started", "step_started", "step_completed", "candidate_started", "candidate_step_started"];
  assert.deepEqual(started.filter((type) => !types(events(frames)).includes(type)), []);
});

pipelineTest("GetTask shows both pending permissions, without the candidate that asks", async (client) => {
  const { frames, inputs } = await untilPermissions(client);
  const { result } = await client.call("GetTask", { id: taskIdOf(frames), historyLength: 100 });
  assert.ok(isObject(result));
  const { pendingPermissions, input } = iacOf(result);
  assert.equal(input, undefined);
  assert.ok(Array.isArray(pendingPermissions));
  const shown = pendingPermissions.filter(isObject);
  assert.deepEqual(shown.map(({ inputId }) => inputId), inputs.map(({ inputId }) => inputId));
  assert.deepEqual(shown.filter((permission) => "scope" in permission || "subPipelineId" in permission), []);
});

pipelineTest("a sideband permission is acknowledged, with and without a stream", async (client) => {
  const { inputs: [first = {}, second = {}] } = await untilPermissions(client);
  const { result } = await client.call("SendMessage", decisionParams(first, "allow_once"));
  assert.ok(isObject(result) && isObject(result.message) && Array.isArray(result.message.parts));
  const [part] = result.message.parts;
  assert.ok(isObject(part) && isObject(part.data));
  const { kind, accepted, inputId, decision } = part.data;
  assert.deepEqual({ kind, accepted, inputId, decision }, {
    kind: "permission_ack",
    accepted: true,
    inputId: first.inputId,
    decision: "allow_once",
  });
  assert.deepEqual(labels(await client.decide(second, "deny")), ["message"]);
});

pipelineTest("a permission can be answered once", async (client) => {
  const { inputs: [input = {}] } = await untilPermissions(client);
  await client.call("SendMessage", decisionParams(input, "allow_once"));
  const { error } = await client.call("SendMessage", decisionParams(input, "deny"));
  assert.ok(isObject(error) && error.code === -32602);
});

pipelineTest("candidates complete with their costs and a diagram each, and two options are offered", async (client) => {
  const { frames } = await untilSelection(client, "allow_once");
  const all = [...new Map(events(frames).map((event) => [event.sequence, event])).values()];
  const data = (type: string) =>
    all.filter(({ eventType }) => eventType === type).map((event) => event.data).filter(isObject);
  assert.equal(data("candidate_completed").length, 2);
  for (const { detail } of data("candidate_detail_shown")) {
    assert.ok(isObject(detail) && text(detail.totalMonthlyCost) && Array.isArray(detail.costItems));
  }
  assert.deepEqual(data("diagram_shown").map(({ format }) => format), ["mermaid", "mermaid"]);
  assert.equal(data("artifact_created").length, 2);
  const input = questionIn(frames);
  assert.equal(input.kind, "candidate_selection");
  assert.ok(Array.isArray(input.options));
  assert.deepEqual(input.options.map((option) => isObject(option) && option.id), ["0", "1"]);
});

pipelineTest("denied candidates go on without their file", async (client) => {
  const { frames } = await untilSelection(client, "deny");
  assert.ok(!types(events(frames)).includes("artifact_created"));
  assert.equal(questionIn(frames).kind, "candidate_selection");
});

pipelineTest("the selection leads to a deployment and to the pipeline's end", async (client) => {
  const { taskId } = await untilSelection(client, "allow_once");
  const done = await client.say("SLB + 2 ECS", { ...PIPELINE, taskId });
  assert.deepEqual(labels(done), [
    "input_received",
    "message_started",
    "text_delta",
    "tool_started",
    "usage",
    "context_usage",
    "tool_result",
    "step_completed",
    "step_started",
    "message_started",
    "text_delta",
    "tool_started",
    "usage",
    "context_usage",
    "stack_current_changed",
    "stack_progress",
    "stack_current_changed",
    "tool_result",
    "artifact_created",
    "artifact",
    "tool_started",
    "usage",
    "context_usage",
    "tool_result",
    "step_completed",
    "COMPLETED pipeline_completed",
    "COMPLETED pipeline_handoff_ready",
  ]);
  const data = events(done)[0]?.data;
  assert.ok(isObject(data) && data.selectedIndex === 1);
});

pipelineTest("an answer that names no candidate is asked again, under a new id", async (client) => {
  const { taskId, frames } = await untilSelection(client, "allow_once");
  const again = await client.say("the cheaper one", { ...PIPELINE, taskId });
  assert.deepEqual(labels(again), ["INPUT_REQUIRED asks candidate_selection"]);
  assert.notEqual(questionIn(again).inputId, questionIn(frames).inputId);
});

pipelineTest("the pipeline's state has a snapshot, and the events behind a sequence", async (client) => {
  const { taskId } = await untilSelection(client, "allow_once");
  const { snapshot, events: missed } = await state(client, taskId, 10);
  assert.ok(isObject(snapshot) && isObject(snapshot.display) && Array.isArray(missed) && Array.isArray(snapshot.steps));
  assert.deepEqual(missed.filter(isObject).map(({ sequence }) => sequence), missed.map((_, index) => index + 11));
  assert.equal(snapshot.lastSequence, missed.length + 10);
  assert.equal(snapshot.status, "waiting_input");
  const steps = snapshot.steps.filter(isObject);
  assert.deepEqual(steps.map(({ id }) => id), [
    "intent_parsing",
    "architecture_planning",
    "evaluate_candidates",
    "confirm_and_select",
  ]);
  const candidates = steps[2]?.candidates;
  assert.ok(Array.isArray(candidates));
  for (const candidate of candidates) assert.ok(isObject(candidate) && candidate.status === "completed");
  const { artifacts, candidateDetails, diagrams, permissions } = snapshot.display;
  for (const list of [artifacts, candidateDetails, diagrams, permissions]) {
    assert.ok(Array.isArray(list) && list.length === 2);
  }
  assert.ok(isObject(snapshot.pendingInput) && snapshot.pendingInput.kind === "candidate_selection");
});

pipelineTest("a normal task has no pipeline state", async ({ say, fetch }) => {
  const taskId = taskIdOf(await say("hello"));
  const response = await fetch(`/iac-code/pipeline/state?taskId=${taskId}&afterSequence=0`);
  assert.equal(response.status, 404);
  assert.deepEqual(await response.json(), { error: "A2A pipeline state not found" });
});

pipelineTest("guidance is heard by a pipeline that works, and both streams see it", async (client) => {
  const { frames, inputs } = await untilPermissions(client);
  const heard = await client.say("Please use Hangzhou.", { ...PIPELINE, taskId: taskIdOf(frames) });
  assert.deepEqual(labels(heard), ["interrupt_received", "interrupt_classified"]);
  assert.equal(inputs.length, 2);
});

pipelineTest("after a pipeline, a message without a keyword is a normal turn", async ({ say }) => {
  const asked = await say("question", PIPELINE);
  await say("Beijing", { ...PIPELINE, taskId: taskIdOf(asked) });
  assert.deepEqual(labels(await say("thank you", PIPELINE)), [
    "task SUBMITTED",
    "text",
    "usage",
    "final",
    "INPUT_REQUIRED",
  ]);
});
