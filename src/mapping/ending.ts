/** Kernel state → how a run ends (docs/protocol.md, "Ends of a run"). Pure. */
import type { RunErrorCode } from "../errors.ts";
import { isObject } from "../json.ts";
import type { TaskState } from "../kernel/wire.ts";

export type Ending = { readonly ends: "success" } | { readonly ends: "error"; readonly code: RunErrorCode };

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

/** What the kernel says while it winds down the turn before. */
const WINDING_DOWN = "Task is already working.";

/** Whether a status is the kernel's refusal to begin while it still winds down. */
export function isRefusal(state: TaskState | undefined, said: string | undefined): boolean {
  return state === "FAILED" && said?.trim() === WINDING_DOWN;
}

/** A JSON-RPC error's code in AG-UI. */
export function errorCode(data: unknown): RunErrorCode {
  const isBackup = isObject(data) && data.code === "SESSION_BACKUP_NOT_READY" && data.retryable === true;
  return isBackup ? "SESSION_BACKUP_NOT_READY" : "A2A_EXECUTION_FAILED";
}
