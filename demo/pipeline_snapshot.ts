/** A pipeline's state, folded from its journal: what `/iac-code/pipeline/state` answers. */
import { isObject, type Json, type JsonObject, text } from "../src/json.ts";
import type { DemoTask } from "./tasks.ts";

/** The state of a task's pipeline with the events after a sequence; undefined when it has none. */
export function pipelineState(task: DemoTask, afterSequence: number): JsonObject | undefined {
  if (task.journal.length === 0) return undefined;
  const events = task.journal.filter(({ sequence }) => typeof sequence === "number" && sequence > afterSequence);
  return { snapshot: fold(task), events };
}

interface Folded {
  readonly steps: Map<string, JsonObject>;
  readonly candidates: Map<string, JsonObject>;
  readonly messages: Map<string, JsonObject>;
  readonly permissions: Map<string, JsonObject>;
  readonly lists: Record<"artifacts" | "candidateDetails" | "diagrams" | "toolResults" | "inputHistory", JsonObject[]>;
  readonly stacks: Map<string, JsonObject>;
  pendingInput: JsonObject | null;
  status: string;
}

function fold(task: DemoTask): JsonObject {
  const folded: Folded = {
    steps: new Map(),
    candidates: new Map(),
    messages: new Map(),
    permissions: new Map(),
    lists: { artifacts: [], candidateDetails: [], diagrams: [], toolResults: [], inputHistory: [] },
    stacks: new Map(),
    pendingInput: null,
    status: "working",
  };
  for (const event of task.journal) {
    followSteps(folded, event);
    followQuestions(folded, event);
    followDisplay(folded, event);
  }
  return frame(task, folded);
}

function frame(
  task: DemoTask,
  { steps, messages, permissions, lists, stacks, pendingInput, status }: Folded,
): JsonObject {
  const { inputHistory, ...display } = lists;
  const [first] = task.journal;
  const started = isObject(first?.data) ? first.data : {};
  return {
    schemaVersion: "1.2",
    snapshotVersion: task.journal.length,
    generatedAt: new Date().toISOString(),
    lastSequence: task.journal.length,
    taskId: task.id,
    contextId: task.contextId,
    pipelineRunId: task.contextId,
    pipelineName: first?.pipelineName ?? "",
    status: task.state === "CANCELED" ? "canceled" : status,
    steps: [...steps.values()],
    pendingInput,
    display: { ...display, messages: [...messages.values()], permissions: [...permissions.values()] },
    control: {
      stepNames: started.stepNames ?? [],
      totalSteps: started.totalSteps ?? 0,
      userRequest: started.userRequest ?? "",
      inputHistory,
    },
    stacks: { byId: Object.fromEntries(stacks), current: [...stacks.values()].at(-1) ?? null, history: [] },
    cleanup: { status: "none", resourceCount: 0, resources: [], history: [] },
    normalHandoff: null,
    pendingNormalHandoff: null,
    pendingTerminal: null,
  };
}

/** What an event is about: the run id of its innermost part. */
function runOf({ step, candidate, candidateStep }: JsonObject): string {
  for (const part of [candidateStep, candidate, step]) if (isObject(part)) return text(part.runId) ?? "";
  return "";
}

/** The parts of the pipeline that an event belongs to. */
function placeOf({ scope = "", step, candidate, candidateStep }: JsonObject): JsonObject {
  return { scope, ...(step && { step }), ...(candidate && { candidate }), ...(candidateStep && { candidateStep }) };
}

function entryOf(event: JsonObject): JsonObject {
  const { data, eventId = "", sequence = 0, createdAt = "" } = event;
  return { ...(isObject(data) && data), eventId, sequence, createdAt, runId: runOf(event), ...placeOf(event) };
}

function followSteps({ steps, candidates }: Folded, event: JsonObject): void {
  const { eventType, step, candidate, candidateStep, createdAt = "", data } = event;
  const conclusion: Json = isObject(data) ? data.conclusion ?? null : null;
  const stepOf = isObject(step) ? steps.get(text(step.id) ?? "") : undefined;
  const candidateOf = isObject(candidate) ? candidates.get(text(candidate.runId) ?? "") : undefined;
  const begun = { status: "running", startedAt: createdAt };
  const done = { status: "completed", completedAt: createdAt, conclusion };
  switch (eventType) {
    case "step_started":
      if (isObject(step)) steps.set(text(step.id) ?? "", { ...step, ...begun, candidates: [] });
      break;
    case "step_completed":
      if (stepOf) Object.assign(stepOf, done);
      break;
    case "candidate_started":
      if (isObject(candidate) && Array.isArray(stepOf?.candidates)) {
        const entry: JsonObject = { ...candidate, ...begun, steps: [] };
        candidates.set(text(candidate.runId) ?? "", entry);
        stepOf.candidates.push(entry);
      }
      break;
    case "candidate_completed":
      if (candidateOf) Object.assign(candidateOf, done);
      break;
    case "candidate_step_started":
      if (isObject(candidateStep) && Array.isArray(candidateOf?.steps)) {
        candidateOf.steps.push({ ...candidateStep, ...begun });
      }
      break;
    case "candidate_step_completed":
      if (Array.isArray(candidateOf?.steps)) Object.assign(candidateOf.steps.at(-1) ?? {}, done);
      break;
  }
}

function followQuestions(folded: Folded, event: JsonObject): void {
  const { eventType, permission } = event;
  if (isObject(permission)) {
    const id = text(permission.permissionId) ?? "";
    folded.permissions.set(id, { ...folded.permissions.get(id), ...entryOf(event), ...permission, id });
  }
  if (eventType === "input_required") {
    const entry = { ...entryOf(event), ...(isObject(event.input) && event.input), required: true };
    folded.pendingInput = entry;
    folded.status = "waiting_input";
    folded.lists.inputHistory.push(entry);
  }
  if (eventType === "input_received") {
    folded.pendingInput = null;
    folded.status = "working";
  }
  if (eventType === "pipeline_completed") folded.status = "completed";
}

function followDisplay({ messages, lists, stacks }: Folded, event: JsonObject): void {
  const { eventType, data, createdAt = "" } = event;
  const entry = entryOf(event);
  switch (eventType) {
    case "text_delta": {
      const id = `message-${event.scope}-${runOf(event)}`;
      const message = messages.get(id);
      const said = `${message?.text ?? ""}${isObject(data) ? text(data.text) ?? "" : ""}`;
      const place = { runId: runOf(event), ...placeOf(event) };
      const segments = [{ kind: "text", text: said }];
      messages.set(id, { createdAt, ...message, ...place, id, text: said, segments, updatedAt: createdAt });
      break;
    }
    case "tool_result":
      lists.toolResults.push({ ...entry, id: entry.toolUseId ?? "" });
      break;
    case "artifact_created":
      lists.artifacts.push({ ...entry, id: entry.artifactId ?? "" });
      break;
    case "candidate_detail_shown":
      lists.candidateDetails.push({ ...entry, id: entry.detailId ?? "" });
      break;
    case "diagram_shown":
      lists.diagrams.push({ ...entry, id: entry.eventId ?? "", diagramId: entry.eventId ?? "" });
      break;
    case "stack_current_changed": {
      const id = text(entry.stackId) ?? "";
      stacks.delete(id);
      stacks.set(id, { ...entry, id });
      break;
    }
  }
}
