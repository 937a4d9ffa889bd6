/** Checks that what a run's events carry from the kernel is whole: what a line about an event leaves out is compared here. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type JsonObject, text } from "../../src/json.ts";
import type { Wire } from "./wires.ts";

/** What a wire holds, by id. */
interface Holdings {
  readonly envelopes: Map<string, JsonObject>;
  readonly artifacts: Map<string, JsonObject>;
  readonly inputs: Map<string, Json>;
  readonly results: Map<string, Json>;
  /** The kernel tells of a question in several places, and not always of all of it. */
  readonly questions: Map<string, JsonObject[]>;
  readonly snapshots: Json[];
}

/** A check of events against a wire; an answer to a question may stand for the result of its tool. */
export function carriedBy(wire: Wire): (events: readonly JsonObject[]) => void {
  const held = holdingsOf(wire);
  return (events) => events.forEach((event) => checkEvent(event, held));
}

function checkEvent(event: JsonObject, held: Holdings): void {
  const { type, name, value, toolCallId } = event;
  const id = String(toolCallId);
  if (type === "TOOL_CALL_ARGS") {
    assert.deepEqual(JSON.parse(String(event.delta)), held.inputs.get(id), `input of ${id}`);
  }
  if (type === "TOOL_CALL_RESULT" && held.results.has(id)) {
    const result = held.results.get(id);
    assert.equal(event.content, typeof result === "string" ? result : JSON.stringify(result), `result of ${id}`);
  }
  if (type === "ACTIVITY_SNAPSHOT") checkSnapshot(event, held);
  if (type === "RUN_FINISHED") interruptsOf(event).forEach((interrupt) => checkInterrupt(interrupt, held));
  if (type !== "CUSTOM" || !isObject(value)) return;
  if (name === "iac-code.pipeline.v1") assert.deepEqual(value, held.envelopes.get(String(value.eventId)));
  if (name === "iac-code.artifact.v1") {
    assert.deepEqual(value, { schemaVersion: 1, ...held.artifacts.get(String(value.artifactId)) });
  }
}

function checkSnapshot({ content, messageId }: JsonObject, { snapshots }: Holdings): void {
  assert.ok(isObject(content) && isObject(content.snapshot));
  const { snapshot, pipelineRunId } = content;
  assert.deepEqual(content, { schemaVersion: 1, pipelineRunId, snapshot });
  assert.deepEqual([messageId, snapshot.pipelineRunId], [`pipeline:${pipelineRunId}`, pipelineRunId]);
  assert.ok(snapshots.some((known) => JSON.stringify(known) === JSON.stringify(snapshot)), "a snapshot of the kernel");
}

/** The fields of an interrupt that are the kernel's own words; those that are made of them have tests of their own. */
function checkInterrupt(interrupt: JsonObject, { questions }: Holdings): void {
  const { metadata, id, toolCallId } = interrupt;
  assert.ok(isObject(metadata));
  const { schemaVersion, standardOptions: _, ...told } = metadata;
  assert.equal(schemaVersion, 1);
  const asked = questions.get(String(id)) ?? [];
  const fitting = asked.find((question) => isDeepStrictEqual({ ...told, schemaVersion: 1 }, question));
  assert.ok(fitting, `the kernel has not asked ${id} like that: ${JSON.stringify(told)}`);
  assert.equal(toolCallId, fitting.toolUseId);
}

function interruptsOf({ outcome }: JsonObject): JsonObject[] {
  return isObject(outcome) && Array.isArray(outcome.interrupts) ? outcome.interrupts.filter(isObject) : [];
}

function holdingsOf(wire: Wire): Holdings {
  const held: Holdings = {
    envelopes: new Map(),
    artifacts: new Map(),
    inputs: new Map(),
    results: new Map(),
    questions: new Map(),
    snapshots: [],
  };
  for (const { frames, body } of wire.exchanges) {
    for (const { data } of frames) look(data, held);
    if (body !== undefined) look(body, held);
    if (isObject(body) && isObject(body.snapshot)) held.snapshots.push(body.snapshot);
  }
  return held;
}

function look(value: Json, held: Holdings): void {
  if (Array.isArray(value)) return value.forEach((item) => look(item, held));
  if (!isObject(value)) return;
  const { eventId, eventType, data, artifact, toolUseId, toolInput, result, inputId, required } = value;
  if (text(eventId) !== undefined && eventType !== undefined) held.envelopes.set(String(eventId), value);
  if (isObject(artifact) && value.contextId !== undefined) {
    const { append, lastChunk } = value;
    const chunk = { ...(append !== undefined && { append }), ...(lastChunk !== undefined && { lastChunk }) };
    held.artifacts.set(String(artifact.artifactId), { ...artifact, ...chunk });
  }
  if (toolInput !== undefined) held.inputs.set(String(toolUseId), toolInput);
  if (eventType === "tool_started" && isObject(data)) held.inputs.set(String(data.toolUseId), data.input ?? null);
  if (result !== undefined && toolUseId !== undefined) held.results.set(String(toolUseId), result);
  // The pipeline's own event of a question has the same id; the projection that is announced names its task.
  if (required === true && value.requestTaskId !== undefined) {
    held.questions.set(String(inputId), [...held.questions.get(String(inputId)) ?? [], value]);
  }
  for (const item of Object.values(value)) look(item, held);
}
