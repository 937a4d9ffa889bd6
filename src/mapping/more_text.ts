/**
 * Recognizes, among a run's statuses, those of a text that goes on: what they say beside it was mapped with the first ones
 * (docs/performance.md). A lone delta finds the caches cold, and whatever is not looked at costs nothing. Pure.
 */
import type { JsonObject } from "../json.ts";
import type { Status, WireMessage } from "../kernel/wire.ts";

export interface MoreText {
  /** The message of a status that differs in its text alone from one that was noted, which did nothing but say something. */
  of(status: Status): WireMessage | undefined;
  /** Takes note of a status that was mapped in full. */
  note(status: Status): void;
}

/** Relies on `Status.iac`, which is one object for all statuses that differ in their text alone. */
export function createMoreText(): MoreText {
  let plain: JsonObject | undefined;
  return {
    of: ({ iac, message }) => iac === plain ? message : undefined,
    note: (status) => void (plain = isPlain(status) ? status.iac : undefined),
  };
}

function isPlain({ state, message, iac }: Status): boolean {
  return state === "WORKING" && message?.role === "ROLE_AGENT" && Object.keys(iac).every((key) => key === SESSION);
}

/** What each status of a task carries. */
const SESSION = "iacCodeSessionId";
