import assert from "node:assert/strict";
import { type CancelTarget, cancelTarget } from "../../src/admission/cancel_target.ts";
import type { Thread } from "../../src/thread/thread.ts";
import { EXECUTION, threadOf } from "../support/threads.ts";

function target(thread: Thread | undefined, executionId: string, rosInvocationId = "invocation-1"): CancelTarget {
  return cancelTarget(thread, executionId, { threadId: "thread-1", rosInvocationId });
}

const running = threadOf({ terminal: ["older"] });
const ended = threadOf({ terminal: ["older", EXECUTION] });

Deno.test("the current execution of the thread is cancelled", () => {
  assert.equal(target(running, EXECUTION), "cancel");
});

Deno.test("an execution that has ended is terminal already, an older one too", () => {
  assert.equal(target(ended, EXECUTION), "already_terminal");
  assert.equal(target(ended, "older"), "already_terminal");
  assert.equal(target(running, "older"), "already_terminal");
  assert.equal(target(running, "older", "invocation-2"), "already_terminal", "nobody remembers its invocation");
});

Deno.test("an unknown thread or execution, or another invocation, is not found", () => {
  assert.equal(target(undefined, EXECUTION), "not_found");
  assert.equal(target(running, EXECUTION, "invocation-2"), "not_found");
  assert.equal(target(ended, EXECUTION, "invocation-2"), "not_found");
  for (const id of ["unknown", "", "__proto__", "length", `${EXECUTION} `, EXECUTION.toUpperCase() + "X", "../x"]) {
    assert.equal(target(running, id), "not_found", id);
  }
});
