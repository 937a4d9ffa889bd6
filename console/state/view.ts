/** What the page shows of a thread: plain data, made from events by reduce.ts and drawn by ../parts. */
import type { Interrupt, TokenUsage } from "@ag-ui/core";
import type { Artifact } from "./artifact.ts";
import type { Pipeline } from "./pipeline.ts";

export interface ToolEntry {
  readonly kind: "tool";
  readonly id: string;
  readonly name: string;
  /** Arguments as JSON; a part of it while they stream. */
  readonly args: string;
  readonly result: string | undefined;
  readonly progress: string | undefined;
  readonly status: "preparing" | "running" | "waiting" | "done" | "stopped";
  /** Name of the candidate whose work it is. */
  readonly lane: string | undefined;
}

export interface SpokenEntry {
  readonly kind: "text" | "reasoning";
  readonly id: string;
  readonly text: string;
  /** Whether more of it may come. */
  readonly open: boolean;
  readonly lane: string | undefined;
}

/** What was answered to an interrupt, to be read later. */
export interface AnswerEntry {
  readonly kind: "answer";
  readonly id: string;
  readonly answers: readonly { readonly question: string; readonly answer: string }[];
}

/** How a run ended. */
export interface EndEntry {
  readonly kind: "end";
  readonly id: string;
  readonly outcome: "success" | "interrupt" | "error";
  readonly usage: readonly TokenUsage[];
  /** Milliseconds from the first to the last event; undefined when the events carry no time. */
  readonly tookMs: number | undefined;
}

export interface ErrorEntry {
  readonly kind: "error";
  readonly id: string;
  /** Code of the service; undefined when it is none of its errors. */
  readonly code: string | undefined;
  readonly message: string;
}

/** News of a pipeline that has no place of its own. */
export interface NoticeEntry {
  readonly kind: "notice";
  readonly id: string;
  readonly tone: "info" | "warning" | "error";
  readonly title: string;
  readonly text: string;
}

/** A stack that is being created, changed or deleted. */
export interface StackEntry {
  readonly kind: "stack";
  readonly id: string;
  readonly name: string;
  readonly status: string;
  /** 0–100. */
  readonly percent: number | undefined;
  readonly resources: readonly { readonly name: string; readonly status: string }[];
}

export type Entry =
  | { readonly kind: "user"; readonly id: string; readonly text: string }
  | SpokenEntry
  | ToolEntry
  | { readonly kind: "artifact"; readonly id: string; readonly artifact: Artifact }
  | { readonly kind: "progress" | "candidates"; readonly id: string; readonly pipeline: number }
  | NoticeEntry
  | StackEntry
  | AnswerEntry
  | EndEntry
  | ErrorEntry;

export interface View {
  readonly entries: readonly Entry[];
  readonly phase: "idle" | "running";
  /** What waits for an answer. */
  readonly interrupts: readonly Interrupt[];
  readonly executionId: string | undefined;
  /** Pipelines of the thread in their order; entries name them by index. */
  readonly pipelines: readonly Pipeline[];
  /** About the run that is under way, or was last. */
  readonly run: RunView;
}

export interface RunView {
  readonly id: string;
  readonly startedAt: number | undefined;
  /** Whether it carries answers, and whether the agent has taken them. */
  readonly answers: "none" | "sent" | "taken";
  /** Keys (name and event id) of the pipeline events that were shown, since a resume may repeat some. */
  readonly seen: ReadonlySet<string>;
}

/** A thread of which nothing is known yet. */
export const EMPTY_VIEW: View = {
  entries: [],
  phase: "idle",
  interrupts: [],
  executionId: undefined,
  pipelines: [],
  run: { id: "", startedAt: undefined, answers: "none", seen: new Set() },
};

/** The view with one entry more. */
export function append(view: View, entry: Entry): View {
  return { ...view, entries: [...view.entries, entry] };
}

type OfKind<E, K> = E extends { kind: infer Kinds } ? K extends Kinds ? E : never : never;

/** The view with the newest entry of that kind and id changed; unchanged when there is none. */
export function change<K extends Entry["kind"]>(
  view: View,
  kind: K,
  id: string,
  update: (entry: OfKind<Entry, K>) => Entry,
): View {
  const at = view.entries.findLastIndex((entry) => entry.kind === kind && entry.id === id);
  const entry = view.entries[at];
  if (entry === undefined) return view;
  const entries = view.entries.slice();
  entries[at] = update(entry as OfKind<Entry, K>);
  return { ...view, entries };
}

/** Whether there is an entry of that kind and id. */
export function has(view: View, kind: Entry["kind"], id: string): boolean {
  return view.entries.some((entry) => entry.kind === kind && entry.id === id);
}
