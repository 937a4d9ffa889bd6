/** Events → what the page shows. Pure: the view before and an event go in, the view after comes out. */
import type { Event, Interrupt, RunFinishedEvent } from "@ag-ui/core";
import { isObject } from "../../src/json.ts";
import { followCustom } from "./custom.ts";
import { endRun, finishStep, goOn, laneOf, restorePipeline, settlePaused, startStep } from "./pipeline.ts";
import { openPipeline, withCandidates, withPipeline } from "./pipeline_entries.ts";
import { append, change, type Entry, has, type SpokenEntry, type View } from "./view.ts";

/** Events that close what is open: they say nothing about what was going on. */
const CLOSING: ReadonlySet<string> = new Set([
  "STEP_FINISHED",
  "TEXT_MESSAGE_END",
  "REASONING_MESSAGE_END",
  "REASONING_END",
  "TOOL_CALL_END",
  "RUN_FINISHED",
  "RUN_ERROR",
]);
const REOPENING: ReadonlySet<string> = new Set(["RUN_STARTED", "STEP_STARTED", "ACTIVITY_SNAPSHOT"]);

/** The view after an event. */
export function reduce(view: View, event: Event): View {
  let next = view;
  if (!CLOSING.has(event.type)) next = withPipeline(next, goOn);
  if (!CLOSING.has(event.type) && !REOPENING.has(event.type)) next = settle(next);
  return apply(next, event);
}

function apply(view: View, event: Event): View {
  switch (event.type) {
    case "RUN_STARTED":
      return startRun(view, event.runId, event.timestamp);
    case "TEXT_MESSAGE_START":
      return speak(view, "text", event.messageId);
    case "REASONING_MESSAGE_START":
      return speak(view, "reasoning", event.messageId);
    case "TEXT_MESSAGE_CONTENT":
      return change(view, "text", event.messageId, (entry) => say(entry, event.delta));
    case "REASONING_MESSAGE_CONTENT":
      return change(view, "reasoning", event.messageId, (entry) => say(entry, event.delta));
    case "TEXT_MESSAGE_END":
      return change(view, "text", event.messageId, (entry) => ({ ...entry, open: false }));
    case "REASONING_MESSAGE_END":
      return change(view, "reasoning", event.messageId, (entry) => ({ ...entry, open: false }));
    case "TOOL_CALL_START":
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END":
    case "TOOL_CALL_RESULT":
      return callTool(view, event);
    case "STEP_STARTED":
      return withPipeline(openPipeline(view), (pipeline) => startStep(pipeline, event.stepName));
    case "STEP_FINISHED":
      return withPipeline(view, (pipeline) => finishStep(pipeline, event.stepName));
    case "ACTIVITY_SNAPSHOT":
      return restore(view, event.content);
    case "CUSTOM":
      return followCustom(view, event.name, event.value);
    case "RUN_FINISHED":
      return finish(view, event);
    case "RUN_ERROR":
      return fail(view, event.code, event.message, event.timestamp);
    default:
      return view;
  }
}

function startRun(view: View, id: string, startedAt: number | undefined): View {
  return { ...view, phase: "running", run: { ...view.run, id, startedAt } };
}

/** What the user wrote, before its run begins. */
export function addMessage(view: View, id: string, text: string): View {
  const run = { ...view.run, id: "", startedAt: undefined, answers: "none" } as const;
  return { ...append(view, { kind: "user", id, text }), phase: "running", interrupts: [], executionId: undefined, run };
}

/** What the user answered, before its run begins; the questions stay until the agent has taken the answers. */
export function addAnswers(view: View, id: string, answers: readonly { question: string; answer: string }[]): View {
  const run = { ...view.run, id: "", startedAt: undefined, answers: "sent" } as const;
  return { ...append(view, { kind: "answer", id, answers }), phase: "running", run };
}

/** Questions that the service named outside of a run. */
export function addInterrupts(view: View, interrupts: readonly Interrupt[], executionId: string | undefined): View {
  return { ...view, phase: "idle", interrupts, ...(executionId !== undefined && { executionId }) };
}

function speak(view: View, kind: SpokenEntry["kind"], id: string): View {
  const entry = { kind, id, text: "", open: true, lane: laneOf(view.pipelines.at(-1), id) };
  return has(view, kind, id) ? change(view, kind, id, (known) => ({ ...known, open: true })) : append(view, entry);
}

function say(entry: SpokenEntry, delta: string): SpokenEntry {
  return { ...entry, text: entry.text + delta };
}

type ToolEvent = Extract<Event, { type: `TOOL_CALL_${string}` }>;

function callTool(view: View, event: ToolEvent): View {
  switch (event.type) {
    case "TOOL_CALL_START": {
      const { toolCallId: id, toolCallName: name, parentMessageId = "" } = event;
      const lane = laneOf(view.pipelines.at(-1), parentMessageId);
      const fresh = { args: "", result: undefined, progress: undefined, status: "preparing" } as const;
      return has(view, "tool", id) ? view : append(view, { kind: "tool", id, name, ...fresh, lane });
    }
    case "TOOL_CALL_ARGS":
      return change(view, "tool", event.toolCallId, (tool) => ({ ...tool, args: tool.args + event.delta }));
    case "TOOL_CALL_END":
      return change(view, "tool", event.toolCallId, (tool) => ({
        ...tool,
        status: tool.status === "preparing" ? "running" : tool.status,
      }));
    case "TOOL_CALL_RESULT": {
      const { toolCallId: id, content } = event;
      const result = typeof content === "string" ? content : JSON.stringify(content, null, 2);
      // After a reload the call was announced to the page before this one.
      const known = has(view, "tool", id) ? view : append(view, orphan(id));
      return change(known, "tool", id, (tool) => ({ ...tool, result, status: "done" }));
    }
    default:
      return view;
  }
}

function orphan(id: string): Entry {
  return {
    kind: "tool",
    id,
    name: id,
    args: "",
    result: undefined,
    progress: undefined,
    status: "running",
    lane: undefined,
  };
}

function finish(view: View, { outcome, usage = [], timestamp, runId }: RunFinishedEvent): View {
  const interrupts = outcome?.type === "interrupt" ? outcome.interrupts : [];
  const isInterrupt = interrupts.length > 0;
  const paused = withPipeline(view, (pipeline) => endRun(pipeline, isInterrupt ? "paused" : "done"));
  const ended = isInterrupt ? bringCandidates(holdTools(paused, interrupts), interrupts) : stopOpen(paused);
  const end: Entry = {
    kind: "end",
    id: runId,
    outcome: isInterrupt ? "interrupt" : "success",
    usage,
    tookMs: took(view, timestamp),
  };
  return { ...append(ended, end), phase: "idle", interrupts };
}

/** The calls that the questions are about. */
function holdTools(view: View, interrupts: readonly Interrupt[]): View {
  const hold = (held: View, { toolCallId = "" }: Interrupt): View =>
    change(held, "tool", toolCallId, (tool) => ({ ...tool, status: "waiting" }));
  return interrupts.reduce(hold, view);
}

/** Who has to choose among candidates sees them beside the question, however long ago they began. */
function bringCandidates(view: View, interrupts: readonly Interrupt[]): View {
  if (!interrupts.some(({ metadata }) => metadata?.kind === "candidate_selection")) return view;
  const newest = view.entries.findLast(({ kind }) => kind === "candidates");
  if (newest === undefined) return view;
  return { ...view, entries: [...view.entries.filter((entry) => entry !== newest), newest] };
}

/** Codes after which the questions are gone, whatever was answered. */
const FORGOTTEN: ReadonlySet<string> = new Set([
  "CANCELLED",
  "EXECUTION_EXPIRED",
  "EXECUTION_LOST",
  "UNKNOWN_INTERRUPT",
  "RESUME_ALREADY_APPLIED",
]);

/** A run that failed, or that was refused (then `timestamp` is undefined). */
export function fail(view: View, code: string | undefined, message: string, timestamp: number | undefined): View {
  const areGone = view.run.answers !== "sent" || FORGOTTEN.has(code ?? "");
  const stopped = stopOpen(withPipeline(view, (pipeline) => endRun(pipeline, "failed")));
  const failed = addError(stopped, code, message);
  const end: Entry = { kind: "end", id: view.run.id, outcome: "error", usage: [], tookMs: took(view, timestamp) };
  const ended = timestamp === undefined ? failed : append(failed, end);
  return { ...ended, phase: "idle", interrupts: areGone ? [] : view.interrupts };
}

/** Something that went wrong beside the run. */
export function addError(view: View, code: string | undefined, message: string): View {
  return append(view, { kind: "error", id: `${view.entries.length}`, code, message });
}

function took({ run }: View, timestamp: number | undefined): number | undefined {
  return run.startedAt === undefined || timestamp === undefined ? undefined : timestamp - run.startedAt;
}

/** Nothing goes on after a run. */
function stopOpen(view: View): View {
  const entries = view.entries.map((entry): Entry => {
    if ((entry.kind === "text" || entry.kind === "reasoning") && entry.open) return { ...entry, open: false };
    const isOpenTool = entry.kind === "tool" && entry.status !== "done" && entry.status !== "stopped";
    return isOpenTool ? { ...entry, status: "stopped" } : entry;
  });
  return { ...view, entries };
}

function restore(view: View, content: unknown): View {
  const snapshot = isObject(content) ? content.snapshot : undefined;
  if (!isObject(snapshot)) return view;
  return withCandidates(withPipeline(openPipeline(view), (pipeline) => restorePipeline(pipeline, snapshot)));
}

function settle(view: View): View {
  const isPaused = view.pipelines.at(-1)?.steps.some(({ status }) => status === "paused") ||
    view.pipelines.at(-1)?.candidates.some(({ steps }) => steps.some(({ status }) => status === "paused"));
  return isPaused ? withPipeline(view, settlePaused) : view;
}
