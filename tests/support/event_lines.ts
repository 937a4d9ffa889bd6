/**
 * Events as lines that a person can read and a test can compare: a span that nothing interrupts is one line, the pieces of a
 * text stand between bars, ids have short names.
 */
import { isObject, type Json, type JsonObject } from "../../src/json.ts";

/** Short names of ids: the id → its name. */
export type Names = ReadonlyMap<string, string>;

/** All events of a run, in their order. */
export function eventLines(events: readonly JsonObject[], names: Names = new Map()): string[] {
  const lines: string[] = [];
  for (let at = 0; at < events.length;) {
    const [line, count] = lineAt(events, at);
    lines.push(rename(line, names));
    at += count;
  }
  return lines;
}

/** A text with its ids replaced by their names. */
export function rename(line: string, names: Names): string {
  return [...names].reduce((result, [id, name]) => result.replaceAll(id, name), line);
}

const SPANS = [
  {
    word: "text",
    start: ["TEXT_MESSAGE_START"],
    content: "TEXT_MESSAGE_CONTENT",
    end: ["TEXT_MESSAGE_END"],
    id: "messageId",
  },
  {
    word: "thought",
    start: ["REASONING_START", "REASONING_MESSAGE_START"],
    content: "REASONING_MESSAGE_CONTENT",
    end: ["REASONING_MESSAGE_END", "REASONING_END"],
    id: "messageId",
  },
  { word: "call", start: ["TOOL_CALL_START"], content: "TOOL_CALL_ARGS", end: ["TOOL_CALL_END"], id: "toolCallId" },
] as const;

/** The line that begins with an event, and how many events it tells of. */
function lineAt(events: readonly JsonObject[], at: number): [string, number] {
  const event = events[at] ?? {};
  for (const span of SPANS) {
    const id = event[span.id];
    const has = (types: readonly string[], from: number): boolean =>
      types.every((type, offset) => events[from + offset]?.type === type && events[from + offset]?.[span.id] === id);
    const starts = has(span.start, at);
    let next = starts ? at + span.start.length : at;
    const pieces: string[] = [];
    for (; has([span.content], next); next++) pieces.push(String(events[next]?.delta));
    const ends = has(span.end, next);
    if (ends) next += span.end.length;
    if (next === at) continue;
    const part = starts ? (ends ? "" : " opens") : (ends ? " closes" : " goes on");
    const pieced = pieces.length > 0 ? `: ${pieces.join("|")}` : "";
    return [`${span.word}${part} ${id}${toolOf(event)}${pieced}`, next - at];
  }
  return [plainLine(event), 1];
}

function toolOf({ type, toolCallName, parentMessageId }: JsonObject): string {
  if (type !== "TOOL_CALL_START") return "";
  return ` ${toolCallName}${parentMessageId === undefined ? "" : ` of ${parentMessageId}`}`;
}

function plainLine(event: JsonObject): string {
  switch (event.type) {
    case "RUN_STARTED":
      return `run ${event.runId}${event.parentRunId === undefined ? "" : ` after ${event.parentRunId}`}`;
    case "TOOL_CALL_RESULT":
      return `result ${event.toolCallId}: ${event.content}`;
    case "STEP_STARTED":
      return `step ${event.stepName}`;
    case "STEP_FINISHED":
      return `step over ${event.stepName}`;
    case "ACTIVITY_SNAPSHOT":
      return `snapshot ${event.messageId}`;
    case "CUSTOM":
      return customLine(event);
    case "RUN_FINISHED":
      return `${outcomeLine(event.outcome)}${usageOf(event)}`;
    case "RUN_ERROR":
      return `error ${event.code} ${event.message}${usageOf(event)}`;
    default:
      return JSON.stringify(event);
  }
}

function customLine({ name, value }: JsonObject): string {
  const { taskId, sessionId, executionId, rosInvocationId, aguiRunId, artifactId, toolUseId, sequence, eventType } =
    isObject(value) ? value : {};
  switch (name) {
    case "iac-code.session.v1":
      return `session ${[aguiRunId, executionId, taskId, sessionId, rosInvocationId].join(" ")}`;
    case "iac-code.artifact.v1":
      return `artifact ${artifactId}`;
    case "iac-code.tool-progress.v1":
      return `progress ${toolUseId}`;
    case "iac-code.pipeline.v1":
      return `pipeline ${sequence} ${eventType}`;
    default:
      return `custom ${name}`;
  }
}

function outcomeLine(outcome: Json | undefined): string {
  if (!isObject(outcome) || outcome.type !== "interrupt") return isObject(outcome) ? `${outcome.type}` : "finished";
  const interrupts = Array.isArray(outcome.interrupts) ? outcome.interrupts.filter(isObject) : [];
  return `asks ${interrupts.map(({ id }) => id).join(", ")}`;
}

function usageOf({ usage }: JsonObject): string {
  if (!Array.isArray(usage)) return "";
  const sums = usage.filter(isObject).map(({ provider, model, inputTokens, outputTokens, totalTokens }) =>
    `${provider}/${model} ${inputTokens}+${outputTokens}=${totalTokens}`
  );
  return ` (${sums.join(", ")})`;
}
