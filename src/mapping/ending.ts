/** How a run ends, by a state of the kernel or for a cause of our own (docs/protocol.md, "Ends of a run"). Pure. */
import type { RunErrorCode } from "../errors.ts";
import { isObject } from "../json.ts";
import type { TaskState } from "../kernel/wire.ts";

export type Ending = { readonly ends: "success" } | { readonly ends: "error"; readonly code: RunErrorCode };

/** Why a run ends that the kernel's frames did not end. */
export type Cause =
  /** The kernel has asked and is quiet now; answers are possible until `expiresAt` (ms since the epoch; null: always). */
  | { readonly cause: "interrupt"; readonly expiresAt: number | null }
  /** `resumable`: pending interrupts stay, so that another run may answer them. */
  | { readonly cause: "error"; readonly code: RunErrorCode; readonly reason?: string; readonly resumable?: boolean }
  /** A run that had nothing to do. */
  | { readonly cause: "nothing" }
  /** The user gave up on an execution that was lost. */
  | { readonly cause: "givenUp" };

const ENDINGS: Readonly<Record<TaskState, Ending | undefined>> = {
  SUBMITTED: undefined,
  WORKING: undefined,
  // The kernel's normal end of a turn; with a required input it is an interrupt instead, which is decided before.
  INPUT_REQUIRED: { ends: "success" },
  COMPLETED: { ends: "success" },
  CANCELED: { ends: "error", code: "CANCELLED" },
  FAILED: { ends: "error", code: "A2A_EXECUTION_FAILED" },
  REJECTED: { ends: "error", code: "A2A_EXECUTION_FAILED" },
  AUTH_REQUIRED: { ends: "error", code: "A2A_EXECUTION_FAILED" },
};

/** How a state without a required input ends a run; undefined while the task goes on, or for an unknown state. */
export function endingOf(state: TaskState | undefined): Ending | undefined {
  return state === undefined ? undefined : ENDINGS[state];
}

/**
 * What the kernel says, in its own language, to a message that it has not begun on: while it winds down the turn before, or
 * when the cancel of that turn takes away what the new one was to run with.
 */
const REFUSALS: ReadonlySet<string> = new Set([
  "Task is already working.",
  "任务已在运行。",
  "La tarea ya está en ejecución.",
  "La tâche est déjà en cours.",
  "Die Aufgabe läuft bereits.",
  "タスクはすでに実行中です。",
  "A tarefa já está em execução.",
  "RuntimeError: A2A context runtime missing",
]);

/** Whether a status is the kernel's refusal to begin, which the same message gets past a little later. */
export function isRefusal(state: TaskState | undefined, said: string | undefined): boolean {
  return state === "FAILED" && said !== undefined && REFUSALS.has(said.trim());
}

/**
 * What a cancel of the task before tells a message that a pipeline's kernel had taken into that task: the task stopped, it did
 * not stop in the kernel's own 30 s, or it was over already. In English whatever the kernel's language is.
 */
const TAKEN_ALONG = /^Task (cancellation requested|not running|\S+ is already completed)\./;

/** Whether a new message was cancelled with the task before; sent again, it gets a task of its own. */
export function isTakenAlong(state: TaskState | undefined, said: string | undefined): boolean {
  return endingOf(state)?.ends === "error" && said !== undefined && TAKEN_ALONG.test(said);
}

/** A JSON-RPC error's code in AG-UI. */
export function errorCode(data: unknown): RunErrorCode {
  const isBackup = isObject(data) && data.code === "SESSION_BACKUP_NOT_READY" && data.retryable === true;
  return isBackup ? "SESSION_BACKUP_NOT_READY" : "A2A_EXECUTION_FAILED";
}
