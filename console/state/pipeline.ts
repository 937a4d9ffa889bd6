/** A pipeline as the page shows it: its steps as a line, and its candidates side by side. Pure. */
import { integer, isObject, type JsonObject, text } from "../../src/json.ts";
import { type Candidate, followCandidates, type Step, update } from "./candidate.ts";

export interface Pipeline {
  readonly name: string;
  readonly status: "running" | "done" | "failed";
  readonly steps: readonly Step[];
  readonly candidates: readonly Candidate[];
  /** Steps that finished at the very end of the stream so far: at an interrupt they only pause. */
  readonly closing: readonly string[];
}

/** A pipeline of which nothing is known but its name. */
export function newPipeline(name = ""): Pipeline {
  return { name, status: "running", steps: [], candidates: [], closing: [] };
}

/** A step begins, or goes on after an interrupt. */
export function startStep(pipeline: Pipeline, stepName: string): Pipeline {
  return withStep(pipeline, stepName, "running");
}

/** A step ends; whether for good shows what comes next. */
export function finishStep(pipeline: Pipeline, stepName: string): Pipeline {
  const next = withStep(pipeline, stepName, "done");
  return { ...next, closing: [...pipeline.closing, stepName] };
}

/** Something else happened: the steps that have finished were finished for good. */
export function goOn(pipeline: Pipeline): Pipeline {
  return pipeline.closing.length === 0 ? pipeline : { ...pipeline, closing: [] };
}

/** The run ends: the steps that were closed only because of that are not done. */
export function endRun(pipeline: Pipeline, status: "paused" | "failed" | "done"): Pipeline {
  let next = pipeline;
  if (status !== "done") { for (const step of pipeline.closing) next = withStep(next, step, status); }
  return { ...next, closing: [], ...(status === "failed" && { status }) };
}

/** The resumed run has reopened what is still under way: what it has not is done. */
export function settlePaused(pipeline: Pipeline): Pipeline {
  const settle = (steps: readonly Step[]): readonly Step[] =>
    steps.some(({ status }) => status === "paused")
      ? steps.map((step) => step.status === "paused" ? { ...step, status: "done" as const } : step)
      : steps;
  return {
    ...pipeline,
    steps: settle(pipeline.steps),
    candidates: pipeline.candidates.map((candidate) => ({ ...candidate, steps: settle(candidate.steps) })),
  };
}

const CANDIDATE_STEP = /^candidate:([^:]+):(.+)$/;

function withStep(pipeline: Pipeline, stepName: string, status: Step["status"]): Pipeline {
  const [, candidateId, candidateStep] = CANDIDATE_STEP.exec(stepName) ?? [];
  if (candidateId === undefined || candidateStep === undefined) {
    return { ...pipeline, steps: setStep(pipeline.steps, stepName, status) };
  }
  const candidates = pipeline.candidates.map((candidate) =>
    candidate.id === candidateId ? { ...candidate, steps: setStep(candidate.steps, candidateStep, status) } : candidate
  );
  return { ...pipeline, candidates };
}

function setStep(steps: readonly Step[], name: string, status: Step["status"]): readonly Step[] {
  if (!steps.some((step) => step.name === name)) return [...steps, { name, status }];
  return steps.map((step) => step.name === name ? { ...step, status } : step);
}

/** The pipeline after one of its events (reference "iac-code.pipeline.v1"). */
export function followPipeline(pipeline: Pipeline, type: string, envelope: JsonObject): Pipeline {
  const data = isObject(envelope.data) ? envelope.data : {};
  const step = isObject(envelope.step) ? text(envelope.step.id) : undefined;
  switch (type) {
    case "pipeline_started":
    case "pipeline_resumed":
      return { ...pipeline, name: text(envelope.pipelineName) ?? pipeline.name, steps: planned(pipeline, data) };
    case "pipeline_completed":
      return { ...pipeline, status: "done" };
    case "pipeline_error":
      return { ...pipeline, status: "failed" };
    case "step_failed":
      return step === undefined ? pipeline : withStep(pipeline, step, "failed");
    default: {
      const candidates = followCandidates(pipeline.candidates, type, envelope);
      return candidates === pipeline.candidates ? pipeline : { ...pipeline, candidates };
    }
  }
}

/** The steps that the pipeline announces, those under way among them. */
function planned({ steps }: Pipeline, data: JsonObject): readonly Step[] {
  const names = Array.isArray(data.stepNames) ? data.stepNames.flatMap((name) => text(name) ?? []) : [];
  const known = new Map(steps.map((step) => [step.name, step]));
  const listed = names.map((name): Step => known.get(name) ?? { name, status: "pending" });
  return [...listed, ...steps.filter(({ name }) => !names.includes(name))];
}

/** What a recovery snapshot knows that the events of this page have not told. */
export function restorePipeline(pipeline: Pipeline, snapshot: JsonObject): Pipeline {
  const { control, display } = snapshot;
  const name = text(snapshot.pipelineName) ?? pipeline.name;
  let next: Pipeline = { ...pipeline, name, steps: planned(pipeline, isObject(control) ? control : {}) };
  for (const step of objects(snapshot.steps)) {
    const id = text(step.id);
    if (id !== undefined) next = restoreStep(next, id, step);
    for (const candidate of objects(step.candidates)) next = restoreCandidate(next, candidate);
  }
  const shownBefore = isObject(display) ? display : {};
  for (const data of objects(shownBefore.candidateDetails)) {
    next = followPipeline(next, "candidate_detail_shown", { data });
  }
  for (const data of objects(shownBefore.diagrams)) next = followPipeline(next, "diagram_shown", { data });
  return next;
}

function restoreStep(pipeline: Pipeline, id: string, { status }: JsonObject): Pipeline {
  const known = pipeline.steps.find(({ name }) => name === id);
  if (known && known.status !== "pending") return pipeline;
  return withStep(pipeline, id, status === "completed" ? "done" : status === "failed" ? "failed" : "running");
}

function restoreCandidate(pipeline: Pipeline, candidate: JsonObject): Pipeline {
  const index = integer(candidate.index);
  if (index === undefined || pipeline.candidates.some((known) => known.index === index)) return pipeline;
  const steps = objects(candidate.steps).flatMap(({ id, status }) => {
    const name = text(id);
    return name === undefined ? [] : [{ name, status: status === "completed" ? "done" as const : "running" as const }];
  });
  const [id, runId] = [text(candidate.id), text(candidate.runId)];
  const status = candidate.status === "completed" ? "done" : candidate.status === "failed" ? "failed" : "working";
  const news = { id, runId, name: text(candidate.name) ?? "", steps, status } as const;
  return { ...pipeline, candidates: update(pipeline.candidates, index, news) };
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Name of the candidate whose run a message id names. */
export function laneOf(pipeline: Pipeline | undefined, messageId: string): string | undefined {
  return pipeline?.candidates.find(({ runId }) => runId !== undefined && messageId.includes(runId))?.name;
}
