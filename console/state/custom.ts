/** The `iac-code.*` events → what the page shows; unknown ones change nothing (reference "iac-code custom events"). Pure. */
import { integer, isObject, type JsonObject, text } from "../../src/json.ts";
import { type Artifact, fillFromCall, readArtifact } from "./artifact.ts";
import { shown } from "./candidate.ts";
import { followPipeline } from "./pipeline.ts";
import { addPipeline, withCandidates, withPipeline } from "./pipeline_entries.ts";
import { append, change, has, type NoticeEntry, type StackEntry, type View } from "./view.ts";

/** The view after a CUSTOM event. */
export function followCustom(view: View, name: string, value: unknown): View {
  if (!isObject(value)) return view;
  switch (name) {
    case "iac-code.session.v1":
      return followSession(view, value);
    case "iac-code.artifact.v1":
      return followArtifact(view, value);
    case "iac-code.tool-progress.v1": {
      const progress = progressOf(value);
      return change(view, "tool", text(value.toolUseId) ?? "", (tool) => ({ ...tool, progress }));
    }
    case "iac-code.pipeline.v1":
      return isRepeat(view, name, value) ? view : followEvent(remember(view, name, value), value);
    default:
      return view;
  }
}

/** The agent has accepted the run; in a run with answers: the answers. */
function followSession(view: View, value: JsonObject): View {
  const executionId = text(value.executionId);
  const taken = view.run.answers === "sent"
    ? { interrupts: [], run: { ...view.run, answers: "taken" as const } }
    : undefined;
  return { ...view, ...taken, ...(executionId !== undefined && { executionId }) };
}

function followArtifact(view: View, value: JsonObject): View {
  const known = view.entries.findLast((entry) => entry.kind === "artifact" && entry.id === value.artifactId);
  const before = known?.kind === "artifact" ? known.artifact : undefined;
  const artifact = filled(view, readArtifact(value, before));
  if (before) return change(view, "artifact", artifact.id, (entry) => ({ ...entry, artifact }));
  return append(view, { kind: "artifact", id: artifact.id, artifact });
}

function filled(view: View, artifact: Artifact): Artifact {
  let result = artifact;
  for (const entry of view.entries.toReversed()) {
    if (result.content) break;
    if (entry.kind === "tool") result = fillFromCall(result, entry.args);
  }
  return result;
}

function progressOf(value: JsonObject): string {
  const { progress, message } = value;
  return shown(message) ?? shown(progress) ?? JSON.stringify(progress ?? value);
}

function isRepeat(view: View, name: string, value: JsonObject): boolean {
  return view.run.seen.has(`${name} ${value.eventId}`);
}

function remember(view: View, name: string, { eventId }: JsonObject): View {
  if (text(eventId) === undefined) return view;
  return { ...view, run: { ...view.run, seen: new Set(view.run.seen).add(`${name} ${eventId}`) } };
}

/** Events that say only that something began or ended, which the steps and candidates show. */
const SHOWN_ELSEWHERE =
  /^(pipeline_(started|resumed|completed)|candidate_(started|completed|selected|detail_shown)|sub_pipeline_|diagram_shown|stack_)/;

function followEvent(view: View, envelope: JsonObject): View {
  const type = text(envelope.eventType) ?? "";
  const begun = type === "pipeline_started" || view.pipelines.length === 0 ? addPipeline(view) : view;
  const followed = withCandidates(withPipeline(begun, (pipeline) => followPipeline(pipeline, type, envelope)));
  const data = isObject(envelope.data) ? envelope.data : {};
  if (type === "stack_progress" || type === "stack_current_changed") return followStack(followed, data);
  return SHOWN_ELSEWHERE.test(type) ? followed : append(followed, notice(type, envelope, data));
}

function notice(type: string, envelope: JsonObject, data: JsonObject): NoticeEntry {
  const said = [data.error, data.message, data.errorSummary, data.reason, data.warning].map(shown);
  const tone = /failed|error|blocked/.test(type)
    ? "error"
    : /warning|interrupted|stale/.test(type)
    ? "warning"
    : "info";
  const id = text(envelope.eventId) ?? `${type}-${String(envelope.sequence)}`;
  return { kind: "notice", id, tone, title: type, text: said.find((value) => value !== undefined) ?? "" };
}

function followStack(view: View, data: JsonObject): View {
  const id = text(data.stackId) ?? text(data.stackName);
  if (id === undefined) return view;
  const known = has(view, "stack", id)
    ? view
    : append(view, { kind: "stack", id, name: id, status: "", percent: undefined, resources: [] });
  const percent = typeof data.progressPercentage === "number" ? data.progressPercentage : undefined;
  const resources = Array.isArray(data.resources)
    ? data.resources.filter(isObject).map((item) => ({
      name: shown(item.name) ?? "",
      status: shown(item.status) ?? "",
    }))
    : undefined;
  return change(known, "stack", id, (stack): StackEntry => ({
    ...stack,
    name: text(data.stackName) ?? stack.name,
    status: text(data.status) ?? text(data.stackStatus) ?? stack.status,
    percent: integer(percent === undefined ? undefined : Math.round(percent)) ?? stack.percent,
    resources: resources ?? stack.resources,
  }));
}
