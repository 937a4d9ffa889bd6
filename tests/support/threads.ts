/** Threads, questions and requests as the tests of several stations need them: whole, with members replaced. */
import type { JsonObject } from "../../src/json.ts";
import type { IacCode, RunRequest } from "../../src/request/run_request.ts";
import { contextIdOf, type Execution, type PendingInput, type Thread } from "../../src/thread/thread.ts";

export const TASK = "6f1f2f0e-0000-4000-8000-000000000001";
export const EXECUTION = "6f1f2f0e-0000-4000-8000-000000000003";

/** A permission as the kernel projects it, cut down to what is kept. */
export function permission(id: string, change: JsonObject = {}): JsonObject {
  return {
    schemaVersion: 1,
    kind: "permission",
    required: true,
    inputId: id,
    prompt: "Change a workspace file. Allow once?",
    toolName: "write_file",
    toolUseId: `call-of-${id}`,
    options: [{ id: "allow_once", label: "Allow once" }, { id: "deny", label: "Deny" }],
    ...change,
  };
}

/** A question with two options. */
export function question(id: string, change: JsonObject = {}): JsonObject {
  return {
    schemaVersion: 1,
    kind: "ask_user_question",
    required: true,
    inputId: id,
    prompt: "Which region?",
    options: [{ id: "hz", label: "Hangzhou" }, { id: "bj", label: "Beijing" }],
    ...change,
  };
}

/** Questions that wait, by their ids. */
export function pendingOf(
  values: readonly JsonObject[],
  change: Partial<PendingInput> = {},
): ReadonlyMap<string, PendingInput> {
  const entries = values.map((value): [string, PendingInput] => [
    String(value.inputId),
    { value, sideband: false, expiresAt: null, ...change },
  ]);
  return new Map(entries);
}

/** A thread in the middle of an execution; its run-1 is used up. */
export function threadOf(change: Partial<Omit<Thread, "execution">> & { execution?: Partial<Execution> } = {}): Thread {
  const { execution, ...rest } = change;
  const threadId = change.threadId ?? "thread-1";
  return {
    threadId,
    contextId: contextIdOf(threadId),
    cwd: "/work",
    userId: null,
    sessionId: "session-1",
    runs: new Map([["run-1", "1".repeat(64)]]),
    applied: [],
    terminal: [],
    ...rest,
    execution: {
      executionId: EXECUTION,
      rosInvocationId: "invocation-1",
      taskId: TASK,
      pipelineSequence: 0,
      openSteps: [],
      textDigests: [],
      shownText: [],
      pending: new Map(),
      ...execution,
    },
  };
}

/** A new run's request; with `resume`, one that answers. */
export function requestOf(
  change: Partial<Omit<RunRequest, "iacCode">> & { iacCode?: Partial<IacCode> } = {},
): RunRequest {
  const { iacCode, ...rest } = change;
  return {
    threadId: "thread-1",
    runId: "run-2",
    ...(change.resume === undefined && { message: { id: "m", parts: [{ kind: "text", text: "go on" }] } }),
    ...rest,
    iacCode: { rosInvocationId: "invocation-1", cwd: "/work", ...iacCode },
  };
}
