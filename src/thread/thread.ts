/** What a thread is, and every change it can go through (reference "Persistence and recovery", docs/protocol.md). Pure. */
import type { JsonObject } from "../json.ts";
import { APPLIED_RESUMES, RUN_DIGESTS, TERMINAL_EXECUTIONS } from "../limits.ts";
import { sha256 } from "../sha256.ts";

/** A question of the kernel that waits for the user. */
export interface PendingInput {
  /** The kernel's projection, cut down to the fields that are announced (docs/protocol.md, "Interrupts"). */
  readonly value: JsonObject;
  /** Asked by one of several parallel candidates: answered beside the stream. */
  readonly sideband: boolean;
  /** ms since the epoch; null: never. */
  readonly expiresAt: number | null;
  /** The process and run that asked it first: `<process>.<run>`; absent in a file of the Python adapter. */
  readonly askedBy?: string;
}

/** A stretch of agent text that was shown: enough to recognize it when the kernel repeats it, and nothing of it. */
export interface ShownText {
  /** UTF-16 code units. */
  readonly length: number;
  /** SHA-256 of its UTF-8, lower-case hex. */
  readonly digest: string;
}

/** Ids of the tool calls that an execution's runs have shown, oldest first. */
export interface ShownCalls {
  /** Without a result so far. */
  readonly open: readonly string[];
  readonly answered: readonly string[];
}

/** One task of the kernel: a user's turn and the resumes that belong to it. */
export interface Execution {
  readonly executionId: string;
  readonly rosInvocationId: string;
  readonly taskId: string | null;
  readonly pipelineSequence: number;
  /** Keys of pipeline steps that are under way, in the order in which they began. */
  readonly openSteps: readonly string[];
  /** Digests of shown text as the Python adapter keeps them; ours are those of `shownText`. */
  readonly textDigests: readonly string[];
  readonly shownText: readonly ShownText[];
  /** Absent when nobody wrote them down, as in a file of the Python adapter. */
  readonly shownCalls?: ShownCalls;
  readonly pending: ReadonlyMap<string, PendingInput>;
}

export interface AppliedResume {
  readonly executionId: string;
  readonly interruptId: string;
  /** SHA-256 of the answer's {status, payload}. */
  readonly digest: string;
}

export interface Thread {
  readonly threadId: string;
  readonly contextId: string;
  readonly cwd: string;
  readonly userId: string | null;
  readonly sessionId: string | null;
  readonly execution: Execution;
  /** runId → request digest, oldest first. */
  readonly runs: ReadonlyMap<string, string>;
  readonly applied: readonly AppliedResume[];
  readonly terminal: readonly string[];
  /** Whether older runs and ended executions were left on the disk. */
  readonly isPart?: boolean;
}

/** How far a run has come; durable at interrupts and ends. */
export interface Position {
  readonly pipelineSequence: number;
  readonly openSteps: readonly string[];
  readonly shownText: readonly ShownText[];
  readonly shownCalls?: ShownCalls;
}

/** A change that a run makes to its thread, as data. */
export type ThreadChange =
  | { readonly change: "task"; readonly taskId: string; readonly sessionId: string }
  | {
    readonly change: "interrupt";
    readonly taskId: string;
    readonly sessionId: string | null;
    readonly pending: ReadonlyMap<string, PendingInput>;
    readonly position: Position;
  }
  | { readonly change: "answered"; readonly interruptId: string; readonly digest: string; readonly position?: Position }
  | { readonly change: "position"; readonly position: Position }
  | { readonly change: "end"; readonly position?: Position };

/** The A2A context of a thread: `agui-` and the first 40 hex characters of the SHA-256 of its id. */
export function contextIdOf(threadId: string): string {
  return `agui-${sha256(threadId).slice(0, 40)}`;
}

/** A new thread, bound to its first request; it has no execution of its own until `beginExecution`. */
export function newThread(threadId: string, cwd: string, userId: string | null): Thread {
  return {
    threadId,
    contextId: contextIdOf(threadId),
    cwd,
    userId,
    sessionId: null,
    execution: newExecution("", ""),
    runs: new Map(),
    applied: [],
    terminal: [],
  };
}

function newExecution(executionId: string, rosInvocationId: string): Execution {
  return {
    executionId,
    rosInvocationId,
    taskId: null,
    pipelineSequence: 0,
    openSteps: [],
    textDigests: [],
    shownText: [],
    pending: new Map(),
  };
}

/** The thread with a run id used up; the oldest are forgotten past the bound. */
export function recordRun(thread: Thread, runId: string, digest: string): Thread {
  const runs = new Map(thread.runs);
  runs.set(runId, digest);
  for (const oldest of runs.keys()) {
    if (runs.size <= RUN_DIGESTS) break;
    runs.delete(oldest);
  }
  return { ...thread, runs };
}

/** The thread with a new execution; task, position and shown text of the old one are forgotten, the session stays. */
export function beginExecution(thread: Thread, executionId: string, rosInvocationId: string): Thread {
  return { ...thread, execution: newExecution(executionId, rosInvocationId) };
}

/** The thread with its execution over: nothing pending, and known as terminal. */
export function endExecution(thread: Thread): Thread {
  const { executionId } = thread.execution;
  return {
    ...thread,
    execution: { ...thread.execution, pending: new Map() },
    terminal: [...thread.terminal.filter((id) => id !== executionId), executionId].slice(-TERMINAL_EXECUTIONS),
  };
}

/** Whether the thread's current execution has ended. */
export function isTerminal(thread: Thread): boolean {
  return thread.terminal.includes(thread.execution.executionId);
}

/** Whether an interrupt can no longer be answered at `now` (ms). */
export function isExpired(pending: PendingInput, now: number): boolean {
  return pending.expiresAt !== null && pending.expiresAt <= now;
}

/** Whether the current execution's interrupt was answered already, and with which digest. */
export function appliedDigest(thread: Thread, interruptId: string): string | undefined {
  return thread.applied.find((applied) =>
    applied.executionId === thread.execution.executionId && applied.interruptId === interruptId
  )?.digest;
}

/**
 * The thread after a change of one of its runs. A run whose execution is no longer the thread's changes nothing: what an
 * ended run still does can only touch its own task.
 */
export function applyChange(thread: Thread, executionId: string, change: ThreadChange): Thread {
  if (thread.execution.executionId !== executionId) return thread;
  const { execution } = thread;
  switch (change.change) {
    case "task":
      return { ...thread, sessionId: change.sessionId, execution: { ...execution, taskId: change.taskId } };
    case "interrupt": {
      const { taskId, pending } = change;
      return {
        ...thread,
        sessionId: change.sessionId ?? thread.sessionId,
        execution: { ...at(execution, change.position), taskId, pending },
      };
    }
    case "answered": {
      const { interruptId, digest } = change;
      const pending = new Map(execution.pending);
      pending.delete(interruptId);
      const applied = thread.applied.filter((item) =>
        item.executionId !== executionId || item.interruptId !== interruptId
      );
      return {
        ...thread,
        execution: { ...at(execution, change.position), pending },
        applied: [...applied, { executionId, interruptId, digest }].slice(-APPLIED_RESUMES),
      };
    }
    case "position":
      return { ...thread, execution: at(execution, change.position) };
    case "end":
      return endExecution({ ...thread, execution: at(execution, change.position) });
  }
}

function at(execution: Execution, position: Position | undefined): Execution {
  if (!position) return execution;
  const digests = position.shownText.map(({ digest }) => digest);
  return {
    ...execution,
    ...position,
    // A digest that the Python adapter wrote stays known, with or without a length of our own.
    textDigests: [...new Set([...execution.textDigests, ...digests])],
  };
}
