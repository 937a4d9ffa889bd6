/** What a pipeline's story can do: its events, each in an envelope with a sequence of its own. */
import type { JsonObject } from "../src/json.ts";
import {
  artifactUpdate,
  permissionDisplay,
  permissionInput,
  randomHex,
  statusUpdate,
  textArtifact,
  type ToolCall,
  toolCall,
  usageRecord,
  working,
} from "./frames.ts";
import { type DemoTask, publish } from "./tasks.ts";
import { DENIED, TOOL_MS, type Turn, WORD_MS, wordsOf } from "./turn.ts";

/** Where in a pipeline something happens. */
export interface Place {
  readonly scope: "pipeline" | "step" | "candidate" | "candidate_step" | "stack" | "interrupt";
  readonly step?: JsonObject;
  readonly candidate?: JsonObject;
  readonly candidateStep?: JsonObject;
}

export interface Pipeline {
  readonly turn: Turn;
  /** Publishes an event; `more` are fields of the envelope beside `data`. */
  emit(eventType: string, place: Place, data: JsonObject, more?: JsonObject): void;
  say(place: Place, text: string): Promise<void>;
  think(place: Place, text: string): Promise<void>;
  startTool(place: Place, name: string, input: JsonObject): Promise<ToolCall>;
  toolResult(place: Place, call: ToolCall, result: string, more?: JsonObject): Promise<void>;
  /** Starts the pipeline's next step. */
  startStep(id: string, type?: string, uiMode?: string): Place;
  /** The agent submits a step's conclusion, and the step is done. */
  conclude(place: Place, field: string, conclusion: JsonObject): Promise<void>;
  /** Publishes an artifact that a step made. */
  artifact(place: Place, name: string, content: string): Promise<void>;
  /** Asks beside the work whether a call may run, and runs it: its result. */
  permission(place: Place, call: ToolCall, target: string): Promise<boolean>;
  /** Asks the user; `about` are the fields of the question, `data` those of the event. */
  ask(place: Place, about: JsonObject, data: JsonObject, more?: JsonObject): Promise<string>;
  /** The pipeline is done. What comes behind the end state is of no use to anybody, and is sent all the same. */
  complete(data?: JsonObject): void;
}

const WHOLE: Place = { scope: "pipeline" };

/** Starts a pipeline in a turn. */
export function openPipeline(turn: Turn, pipelineName: string, stepNames: readonly string[]): Pipeline {
  const { task } = turn;
  const log = createJournal(task, pipelineName);
  let started = 0;

  function emit(eventType: string, place: Place, data: JsonObject, more: JsonObject = {}): void {
    publish(task, working(task, { pipeline: log(eventType, place, data, more) }));
  }

  const verbs = speech(turn, emit);
  emit("pipeline_started", WHOLE, {
    pipelineType: pipelineName,
    stepNames: [...stepNames],
    totalSteps: stepNames.length,
    userRequest: task.request.text,
  });

  return {
    turn,
    emit,
    ...verbs,
    ...questions(turn, emit, log),
    startStep(id, type = "normal", uiMode) {
      const step = { id, runId: `step-${id}-1`, attempt: 1, index: ++started, total: stepNames.length };
      const data = {
        name: id,
        index: started,
        total: stepNames.length,
        attempt: 1,
        stepType: type,
        uiMode: uiMode ?? null,
      };
      emit("step_started", { scope: "step", step: { ...step, type, uiMode: uiMode ?? null } }, data);
      return { scope: "step", step };
    },
    async conclude(place, field, conclusion) {
      const call = await verbs.startTool(place, "complete_step", { conclusion });
      await verbs.toolResult(place, call, "Step completed. Conclusion submitted.", {
        normalizedConclusion: conclusion,
      });
      const done = place.scope === "candidate_step" ? "candidate_step_completed" : "step_completed";
      const of = place.candidate
        ? { candidateIndex: place.candidate.index ?? 0, stepId: place.candidateStep?.id ?? "" }
        : {};
      emit(done, place, { ...of, conclusion, conclusionField: field });
    },
    async artifact(place, name, content) {
      const { artifact, summary } = await textArtifact(name, content);
      const data = { source: "conclusion", role: "final", ...summary };
      emit("artifact_created", place, data, { artifact: data });
      publish(task, artifactUpdate(task, artifact));
    },
    complete: (data = {}) => complete(turn, log, { totalSteps: stepNames.length, ...data }),
  };
}

function complete({ task }: Turn, log: Log, data: JsonObject): void {
  const last = { status: "completed", visibility: "committed" };
  publish(task, statusUpdate(task, "COMPLETED", { pipeline: log("pipeline_completed", WHOLE, data, last) }));
  const handoff = { outcome: "completed", targetMode: "normal", action: "switch_to_normal" };
  publish(task, statusUpdate(task, "COMPLETED", { pipeline: log("pipeline_handoff_ready", WHOLE, handoff, last) }));
}

type Emit = Pipeline["emit"];
type Log = (eventType: string, place: Place, data: JsonObject, more: JsonObject) => JsonObject;

/** Writes events into the task's journal: each gets the next sequence. */
function createJournal(task: DemoTask, pipelineName: string): Log {
  return (eventType, place, data, more) => {
    const envelope: JsonObject = {
      schemaVersion: "1.0",
      extensionUri: "urn:iac-code:a2a:pipeline-events:v1",
      eventId: `evt-${randomHex(32)}`,
      sequence: task.journal.length + 1,
      createdAt: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
      eventType,
      pipelineName,
      pipelineRunId: task.contextId,
      taskId: task.id,
      contextId: task.contextId,
      iacCodeSessionId: task.sessionId,
      status: "working",
      data,
      ...place,
      ...more,
    };
    task.journal.push(envelope);
    return envelope;
  };
}

function speech(
  turn: Turn,
  emit: Emit,
): Pick<Pipeline, "say" | "think" | "startTool" | "toolResult"> {
  return {
    async say(place, text) {
      emit("message_started", place, { messageId: `msg_${randomHex(24)}` });
      for (const word of wordsOf(text)) {
        await turn.pause(WORD_MS);
        emit("text_delta", place, { text: word });
      }
    },
    async think(place, text) {
      for (const word of wordsOf(text)) {
        await turn.pause(WORD_MS);
        emit("thinking_delta", place, { type: "raw_thinking", text: word });
      }
    },
    async startTool(place, name, input) {
      await turn.pause(WORD_MS);
      const call = toolCall(name, input);
      emit("tool_started", place, { toolUseId: call.id, toolName: name, input });
      emit("usage", place, usageRecord(7));
      emit("context_usage", place, { totalTokens: 1_000, contextWindow: 128_000, usagePercent: 0.78125 });
      return call;
    },
    async toolResult(place, call, result, more = {}) {
      await turn.pause(TOOL_MS);
      const { id: toolUseId, name: toolName, input } = call;
      emit("tool_result", place, { toolUseId, toolName, input, isError: false, result, ...more });
    },
  };
}

function questions(turn: Turn, emit: Emit, log: Log): Pick<Pipeline, "permission" | "ask"> {
  const { task } = turn;
  return {
    async permission(place, call, target) {
      const display = permissionDisplay(call, target);
      const input = permissionInput(task, display);
      const inputId = String(input.inputId);
      const asked = { toolUseId: call.id, toolName: call.name };
      const permission = { ...display, inputId, permissionId: inputId, pending: true };
      const pipeline = log("permission_requested", place, asked, { permission });
      const scoped = { ...input, scope: place.scope, subPipelineId: place.candidate?.id ?? "" };
      const decision = await turn.askBeside(working(task, { input: scoped, pipeline }), scoped);
      const resolved = { permissionId: inputId, inputId, ...asked, decision, pending: false };
      emit("permission_resolved", place, { kind: "permission", ...resolved }, { permission: resolved });
      const allowed = decision === "allow_once";
      await turn.pause(TOOL_MS);
      const result = allowed ? `Successfully wrote ${target} (demo: no file was touched)` : DENIED;
      const outcome = { toolUseId: call.id, toolName: call.name, input: call.input, isError: !allowed, result };
      emit("tool_result", place, outcome);
      return allowed;
    },
    async ask(place, about, data, more = {}) {
      const pipeline = log("input_required", place, data, { status: "input_required", ...more });
      const input = {
        schemaVersion: 1,
        required: true,
        requestTaskId: task.id,
        contextId: task.contextId,
        inputId: `input-${pipeline.eventId}`,
        ...about,
      };
      return await turn.ask(statusUpdate(task, "INPUT_REQUIRED", { input, pipeline }), input);
    },
  };
}

/** What the kernel says when a message reaches a pipeline that runs: it is heard, and the pipeline goes on. */
export function hearGuidance(task: DemoTask, pipelineName: string, userInput: string): void {
  const log = createJournal(task, pipelineName);
  const place: Place = { scope: "interrupt" };
  const received = log("interrupt_received", place, { userInput, messageLength: userInput.length }, {});
  publish(task, working(task, { pipeline: received }));
  const verdict = { action: "continue", reason: "The demo kernel only listens.", paused: false };
  publish(task, working(task, { pipeline: log("interrupt_classified", place, verdict, {}) }));
}
