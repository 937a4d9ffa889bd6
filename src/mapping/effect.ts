/** What a mapped frame wants done, in order; `run/` does it step by step. */
import type { ThreadChange } from "../thread/thread.ts";
import type { RunEvent } from "./event.ts";

export type Effect =
  /** Send an event. */
  | { readonly do: "emit"; readonly event: RunEvent }
  /** Make a change durable, if that can be done; nothing that was promised hangs on it. */
  | { readonly do: "save"; readonly change: ThreadChange }
  /**
   * Make a change durable, then go on with what follows; when it fails, none of that has happened, and the run ends with
   * STATE_PERSISTENCE_FAILED.
   */
  | { readonly do: "commit"; readonly change: ThreadChange; readonly then: () => Effect[] }
  /** The kernel asks: read on until it has been quiet, then end the run with `interrupt`. */
  | { readonly do: "gather" }
  /** The upstream stream is of no more use. */
  | { readonly do: "leave" }
  /** The kernel is still winding down the turn before: this attempt does not count, send again. */
  | { readonly do: "retry" }
  /** Ask the kernel to cancel the task. */
  | { readonly do: "cancel" }
  /** Something for the log: a name of the wire, never content. */
  | { readonly do: "note"; readonly note: string };
