/**
 * Pipeline envelopes → events: repeats dropped, text and thought of each step apart, steps as spans, and the useful rest
 * as CUSTOM iac-code.pipeline.v1 (reference "iac-code.pipeline.v1"; docs/protocol.md, "Pipelines"). Pure.
 */
import { integer, isObject, type JsonObject, text } from "../json.ts";
import type { PipelineState } from "../kernel/wire.ts";
import { PIPELINE_SPEAKERS, SEEN_EVENT_IDS } from "../limits.ts";
import type { RunEvent } from "./event.ts";
import type { Spans } from "./spans.ts";
import { createSpeaker, type Speaker } from "./text.ts";
import type { Tools } from "./tools.ts";
import type { Usage } from "./usage.ts";

/** Event types that have no complete standard equivalent (the reference's list). */
const CUSTOM = new Set([
  ..."pipeline_started pipeline_resumed pipeline_completed pipeline_error pipeline_warning backup_blocked".split(" "),
  ..."candidate_started candidate_completed candidate_failed candidate_interrupted".split(" "),
  ..."candidate_restart_requested candidate_selected candidate_detail_shown candidate_step_failed".split(" "),
  ..."sub_pipeline_started sub_pipeline_completed sub_step_failed step_failed".split(" "),
  ..."stack_progress stack_instances_progress stack_current_changed".split(" "),
  ..."cleanup_started cleanup_progress cleanup_completed cleanup_failed".split(" "),
  ..."rollback_triggered rollback_completed".split(" "),
  ..."context_compaction_started context_compacted context_compaction_failed fields_marked_stale".split(" "),
  ..."diagram_shown mcp_status tool_progress".split(" "),
]);
const OPENS_STEP = new Set(["step_started", "candidate_step_started", "input_received"]);
const CLOSES_STEP = new Set(["step_completed", "step_failed", "candidate_step_completed", "candidate_step_failed"]);
const ENDS_PIPELINE = new Set(["pipeline_completed", "pipeline_failed"]);

export interface Pipeline {
  /** Maps the envelopes of metadata.iac_code: one, or a batch. */
  accept(iac: JsonObject): void;
  /** Maps the envelope that a task's own account repeats, when it is the very next one. */
  acceptNext(iac: JsonObject): void;
  /** Maps what was missed: the snapshot, once a run, and the envelopes. */
  recover(state: PipelineState): void;
  /** The last sequence that was applied. */
  readonly sequence: number;
  /** Keys of the steps that are under way, in the order in which they began. */
  readonly openSteps: readonly string[];
  /** Why a step failed, when that is all the kernel tells. */
  readonly failure: string | undefined;
  /** Whether more candidates and steps have spoken than any pipeline has: the kernel is broken. */
  readonly isCrowded: boolean;
  /** Closes every message. */
  close(): void;
}

export interface PipelineStart {
  readonly sequence: number;
  readonly openSteps: readonly string[];
  readonly contextId: string;
  /** Makes ids unique among the tasks of a thread, whose pipelines share one run id. */
  readonly taskId: () => string;
  /** As in SpeakerIds. */
  readonly run: string | undefined;
}

interface Outputs {
  readonly spans: Spans;
  readonly tools: Tools;
  readonly usage: Usage;
  readonly emit: (event: RunEvent) => void;
}

/** A pipeline's position, and the messages of its steps. */
export function createPipeline(start: PipelineStart, { spans, tools, usage, emit }: Outputs): Pipeline {
  const speakers = new Map<string, Speaker>();
  /** Ids of events, the newest in the first. To drop the oldest of one set, id by id, took a twelfth of a mixed wire's time. */
  let seen = new Set<string>();
  let seenBefore = new Set<string>();
  const openSteps = new Set(start.openSteps);
  let sequence = start.sequence;
  let failure: string | undefined;
  let isSnapshotShown = false;

  function isRepeat(envelope: JsonObject): boolean {
    const id = text(envelope.eventId);
    const at = integer(envelope.sequence);
    const repeated = (id !== undefined && (seen.has(id) || seenBefore.has(id))) || (at !== undefined && at <= sequence);
    if (at !== undefined) sequence = Math.max(sequence, at);
    if (id !== undefined) remember(id);
    return repeated;
  }

  function remember(id: string): void {
    if (seen.size >= SEEN_EVENT_IDS) {
      seenBefore = seen;
      seen = new Set();
    }
    seen.add(id);
  }

  function speakerOf(envelope: JsonObject): Speaker {
    const key = speakerKey(envelope);
    const known = speakers.get(key);
    if (known) return known;
    const base = `${start.taskId()}:${key}`;
    const ids = { text: () => `pipeline:${base}`, reasoning: () => `pipeline-reasoning:${base}`, run: start.run };
    const speaker = createSpeaker(ids, spans, emit);
    speakers.set(key, speaker);
    return speaker;
  }

  function step(envelope: JsonObject, type: string): void {
    const found = stepOf(envelope);
    if (!found) return;
    if (OPENS_STEP.has(type)) {
      openSteps.add(found.key);
      spans.startStep(found.name);
    } else if (CLOSES_STEP.has(type)) {
      speakers.get(speakerKey(envelope))?.close();
      openSteps.delete(found.key);
      spans.finishStep(found.name);
    }
  }

  function apply(envelope: JsonObject): void {
    if (isRepeat(envelope)) return;
    const type = text(envelope.eventType) ?? "";
    const data = isObject(envelope.data) ? envelope.data : {};
    switch (type) {
      case "text_delta":
        return speakerOf(envelope).say(typeof data.text === "string" ? data.text : "");
      case "thinking_delta":
        return speakerOf(envelope).think(rawThinking(data) ?? "");
      case "tool_started":
        return tool(envelope, data, (id, name, speaker) => {
          tools.start(id, name, speaker);
          if (data.input !== undefined) tools.input(id, name, data.input, speaker);
        });
      case "tool_result":
        return tool(envelope, data, (id, name, speaker) => tools.result(id, name, data.result, speaker));
      case "usage":
        return usage.add(data);
    }
    if (OPENS_STEP.has(type)) step(envelope, type);
    if (type === "step_failed" || type === "pipeline_error") {
      failure = text(data.error) ?? text(data.message) ?? failure;
    }
    if (CUSTOM.has(type)) emit({ type: "CUSTOM", name: "iac-code.pipeline.v1", value: envelope });
    if (CLOSES_STEP.has(type)) step(envelope, type);
    if (ENDS_PIPELINE.has(type)) openSteps.clear();
  }

  function tool(
    envelope: JsonObject,
    data: JsonObject,
    then: (id: string, name: string, speaker: Speaker) => void,
  ): void {
    const id = text(data.toolUseId);
    if (id !== undefined) then(id, text(data.toolName) ?? "tool", speakerOf(envelope));
  }

  return {
    accept({ pipeline, pipelineBatch }) {
      if (isObject(pipeline)) apply(pipeline);
      if (isObject(pipelineBatch) && Array.isArray(pipelineBatch.events)) {
        for (const envelope of pipelineBatch.events) if (isObject(envelope)) apply(envelope);
      }
    },
    acceptNext({ pipeline }) {
      if (isObject(pipeline) && integer(pipeline.sequence) === sequence + 1) apply(pipeline);
    },
    recover({ snapshot, events }) {
      if (snapshot && !isSnapshotShown) emit(snapshotEvent(snapshot, start.contextId));
      isSnapshotShown ||= snapshot !== undefined;
      events.forEach(apply);
    },
    get sequence() {
      return sequence;
    },
    get isCrowded() {
      return speakers.size > PIPELINE_SPEAKERS;
    },
    get openSteps() {
      return [...openSteps];
    },
    get failure() {
      return failure;
    },
    close: () => speakers.forEach((speaker) => speaker.close()),
  };
}

/** Who speaks: pipeline run, scope, and the run ids of candidate and step. */
function speakerKey({ pipelineRunId, scope, candidate, candidateStep, step }: JsonObject): string {
  const own = runId(candidateStep) ?? runId(step);
  return [text(pipelineRunId), text(scope), runId(candidate), own].map((part) => part ?? "").join(":");
}

function runId(value: unknown): string | undefined {
  return isObject(value) ? text(value.runId) ?? text(value.id) : undefined;
}

/** The step that an envelope is about: its durable key, and its name in AG-UI. */
function stepOf({ scope, candidate, candidateStep, step }: JsonObject): { key: string; name: string } | undefined {
  const candidateId = isObject(candidate) ? text(candidate.id) : undefined;
  const ownId = isObject(candidateStep) ? text(candidateStep.id) : undefined;
  if (candidateId !== undefined && ownId !== undefined) {
    const key = `candidate:${candidateId}:${ownId}`;
    return { key, name: key };
  }
  const id = isObject(step) && scope !== "candidate" ? text(step.id) : undefined;
  return id === undefined ? undefined : { key: `step:${id}`, name: id };
}

/** The text of a raw thought; summaries and other kinds of thinking are not shown. */
export function rawThinking(thinking: unknown): string | undefined {
  if (!isObject(thinking) || thinking.type !== "raw_thinking") return undefined;
  return typeof thinking.text === "string" ? thinking.text : undefined;
}

/** The AG-UI name of a step that was kept under its durable key. */
export function stepName(key: string): string {
  return key.startsWith("step:") ? key.slice("step:".length) : key;
}

/** The event that shows a pipeline's snapshot, which takes the place of the one before. */
function snapshotEvent(snapshot: JsonObject, contextId: string): RunEvent {
  const pipelineRunId = text(snapshot.pipelineRunId) ?? contextId;
  return {
    type: "ACTIVITY_SNAPSHOT",
    messageId: `pipeline:${pipelineRunId}`,
    activityType: "iac-code.pipeline.v1",
    content: { schemaVersion: 1, pipelineRunId, snapshot },
    replace: true,
  };
}

/** The session that metadata.iac_code names, itself or in a pipeline event. */
export function sessionIn({ iacCodeSessionId, pipeline, pipelineBatch }: JsonObject): string | undefined {
  const own = text(iacCodeSessionId) ?? (isObject(pipeline) ? text(pipeline.iacCodeSessionId) : undefined);
  if (own !== undefined || !isObject(pipelineBatch) || !Array.isArray(pipelineBatch.events)) return own;
  return pipelineBatch.events.filter(isObject).map((event) => text(event.iacCodeSessionId)).find(Boolean);
}
