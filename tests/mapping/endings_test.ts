/** docs/protocol.md, "Ends of a run": what each of the kernel's states comes to, and what happens before the last event. */
import assert from "node:assert/strict";
import { type Frame, toFrame } from "../../src/kernel/wire.ts";
import type { Cause } from "../../src/mapping/mapper.ts";
import {
  account,
  asks,
  BEGUN,
  CONTEXT,
  ENDED,
  envelope,
  message,
  permission,
  piece,
  pipeline,
  status,
  thought,
  tool,
} from "../support/kernel_frames.ts";
import { mappedRun } from "../support/mapped_run.ts";
import { strictThread } from "../support/strict_stream.ts";

const reason = message("The model said no.", "task-1-4");
const rpcError = (message: string, data?: unknown): Frame => toFrame({ error: { code: -32602, message, data } });

const TABLE: ReadonlyArray<{ title: string; frames: readonly Frame[]; end: string }> = [
  { title: "INPUT_REQUIRED without a question is the end of a turn", frames: [ENDED], end: "success" },
  { title: "COMPLETED is success", frames: [status("COMPLETED")], end: "success" },
  { title: "CANCELED is cancelled", frames: [status("CANCELED")], end: "error CANCELLED CANCELLED" },
  {
    title: "FAILED is an error with the kernel's reason",
    frames: [status("FAILED", {}, reason)],
    end: "error A2A_EXECUTION_FAILED A2A_EXECUTION_FAILED: The model said no.",
  },
  {
    title: "FAILED without a reason is an error all the same",
    frames: [status("FAILED")],
    end: "error A2A_EXECUTION_FAILED A2A_EXECUTION_FAILED",
  },
  {
    title: "a failed step is the reason when the status has none",
    frames: [pipeline(envelope(1, "step_failed", { error: "No template" })), status("FAILED")],
    end: "error A2A_EXECUTION_FAILED A2A_EXECUTION_FAILED: No template",
  },
  {
    title: "REJECTED is an error",
    frames: [status("REJECTED", {}, reason)],
    end: "error A2A_EXECUTION_FAILED A2A_EXECUTION_FAILED: The model said no.",
  },
  {
    title: "AUTH_REQUIRED is an error",
    frames: [status("AUTH_REQUIRED")],
    end: "error A2A_EXECUTION_FAILED A2A_EXECUTION_FAILED",
  },
  {
    title: "a JSON-RPC error is an error with its message",
    frames: [rpcError("Current model cannot see.")],
    end: "error A2A_EXECUTION_FAILED A2A_EXECUTION_FAILED: Current model cannot see.",
  },
  {
    title: "a backup that is not ready has a code of its own, when it may be tried again",
    frames: [rpcError("later", { code: "SESSION_BACKUP_NOT_READY", retryable: true })],
    end: "error SESSION_BACKUP_NOT_READY SESSION_BACKUP_NOT_READY: later",
  },
  {
    title: "a backup that will never be ready is an error like any other",
    frames: [rpcError("never", { code: "SESSION_BACKUP_NOT_READY", retryable: false })],
    end: "error A2A_EXECUTION_FAILED A2A_EXECUTION_FAILED: never",
  },
  {
    title: "what is not JSON is a protocol error",
    frames: [{ kind: "invalid", why: "not JSON" }],
    end: "error A2A_PROTOCOL_ERROR A2A_PROTOCOL_ERROR",
  },
  {
    title: "a question without an id is a protocol error",
    frames: [status("INPUT_REQUIRED", { input: { required: true, kind: "permission" } })],
    end: "error A2A_PROTOCOL_ERROR A2A_PROTOCOL_ERROR",
  },
  {
    title: "the first end counts",
    frames: [ENDED, status("FAILED", {}, reason)],
    end: "success",
  },
  {
    title: "an end counts although a question is open",
    frames: [asks(permission("question-1")), status("COMPLETED")],
    end: "success",
  },
];

for (const { title, frames, end } of TABLE) {
  Deno.test(`ends: ${title}`, () => {
    const run = mappedRun();
    run.accept(...BEGUN, ...frames);
    assert.equal(run.lines().at(-1), end);
    assert.equal(run.mapper.phase, "ended");
    assert.ok(run.done.includes("leave"), "the kernel's stream is left");
    assert.deepEqual(run.thread.terminal, ["execution-1"]);
    const before = run.events.length;
    run.accept(piece("late"));
    run.end({ cause: "nothing" });
    assert.equal(run.events.length, before, "nothing comes after the end");
    strictThread({ timestamps: false }).check(run.events);
  });
}

for (const foreign of [{ taskId: "another" }, { contextId: "another" }]) {
  const said = status("WORKING", {}, message("x"));
  assert.ok(said.kind === "status");
  const frames: readonly Frame[] = [
    { ...said, status: { ...said.status, ...foreign } },
    { kind: "artifact", artifact: { artifactId: "a" }, ...foreign },
    { kind: "message", parts: [], ...foreign },
  ];
  for (const frame of frames) {
    Deno.test(`ends: a ${frame.kind} of ${JSON.stringify(foreign)} cancels this task and is a protocol error`, () => {
      const run = mappedRun();
      run.accept(...BEGUN, piece("Hello"), frame);
      assert.deepEqual(run.lines(), ["text task-1-message: Hello", "error A2A_PROTOCOL_ERROR A2A_PROTOCOL_ERROR"]);
      assert.ok(run.done.includes("cancel"));
    });
  }
}

Deno.test("ends: an unknown state is noted, and the run goes on", () => {
  const run = mappedRun();
  run.accept(...BEGUN, status("PONDERING"), piece("Hello"), ENDED);
  assert.deepEqual(run.notes, ["unknown state TASK_STATE_PONDERING"]);
  assert.deepEqual(run.lines(), ["text task-1-message: Hello", "success"]);
});

Deno.test("ends: frames of kinds that nobody knows are passed over", () => {
  const run = mappedRun();
  const unknown = [toFrame({ result: { surprise: {} } }), toFrame({ result: { message: { parts: [{ text: "x" }] } } })];
  run.accept(...BEGUN, ...unknown, ENDED);
  assert.deepEqual(run.lines(), ["success"]);
});

const REFUSALS = {
  "in English": "Task is already working.",
  "in Chinese": "任务已在运行。",
  "in Spanish": "La tarea ya está en ejecución.",
  "in French": "La tâche est déjà en cours.",
  "in German": "Die Aufgabe läuft bereits.",
  "in Japanese": "タスクはすでに実行中です。",
  "in Portuguese": "A tarefa já está em execução.",
  "whose cancel of the turn before met the new one": "RuntimeError: A2A context runtime missing",
};
for (const [who, words] of Object.entries(REFUSALS)) {
  Deno.test(`ends: a kernel that still winds down, ${who}, is asked again, and the attempt leaves no trace`, () => {
    const run = mappedRun();
    const refused = message(words, "task-0-4");
    const other = (frame: Frame): Frame =>
      "status" in frame ? { ...frame, status: { ...frame.status, taskId: "task-0" } } : frame;
    run.accept(other(account("SUBMITTED", [])), other(status("FAILED", {}, refused)));
    assert.deepEqual(run.done, ["RUN_STARTED", "leave", "retry"]);
    run.accept(...BEGUN, piece("Hello"), ENDED);
    assert.deepEqual(run.lines(), ["text task-1-message: Hello", "success"]);
    assert.equal(run.mapper.taskId, "task-1");
  });
}

const TAKEN_ALONG: Readonly<Record<string, Frame>> = {
  "that stopped": status("CANCELED", {}, message("Task cancellation requested.")),
  "that did not stop in time": status("FAILED", {}, message("Task not running.")),
  "that was over already": rpcError("Task 31f2fa5f-f392-433d-be06-9fb1fc165fdc is already completed."),
};
for (const [which, frame] of Object.entries(TAKEN_ALONG)) {
  Deno.test(`ends: a message that was cancelled with a task before ${which} is sent again, and leaves no trace`, () => {
    const run = mappedRun();
    run.accept(frame);
    assert.deepEqual(run.done, ["RUN_STARTED", "leave", "retry"]);
    run.accept(...BEGUN, piece("Hello"), ENDED);
    assert.deepEqual(run.lines(), ["text task-1-message: Hello", "success"]);
  });

  Deno.test(`ends: what a task before ${which} is told is an end once the message's own has worked`, () => {
    const run = mappedRun();
    run.accept(...BEGUN, frame);
    assert.match(run.lines().at(-1) ?? "", /^error (CANCELLED|A2A_EXECUTION_FAILED)/);
  });
}

Deno.test("ends: what a cancel says is the agent's answer when it is the whole of a turn that went well", () => {
  const run = mappedRun();
  run.accept(status("INPUT_REQUIRED", {}, message("Task not running. Start it?")));
  assert.deepEqual(run.lines(), ["text task-1-message: Task not running. Start it?", "success"]);
});

Deno.test("ends: the words of a refusal are a failure once the task has worked", () => {
  const run = mappedRun();
  run.accept(...BEGUN, status("FAILED", {}, message("Task is already working.")));
  assert.equal(run.lines().at(-1), "error A2A_EXECUTION_FAILED A2A_EXECUTION_FAILED: Task is already working.");
});

Deno.test("ends: spans are closed and the end is on disk before the last event", () => {
  const run = mappedRun();
  const step = { step: { id: "plan", runId: "r" } };
  run.accept(...BEGUN, pipeline(envelope(1, "step_started", {}, step)), tool("call-1", "started"), thought("Hm."));
  run.done.length = 0;
  run.accept(status("FAILED"));
  assert.deepEqual(run.done, [
    "leave",
    "REASONING_MESSAGE_END",
    "REASONING_END",
    "TOOL_CALL_END",
    "STEP_FINISHED",
    "save end",
    "RUN_ERROR",
  ]);
});

Deno.test("ends: a turn that has asked is not over by the state that goes with its question", () => {
  const run = mappedRun();
  run.accept(...BEGUN, asks(permission("question-1"), "WORKING"), ENDED);
  assert.equal(run.mapper.phase, "gathering");
  run.end({ cause: "interrupt", expiresAt: null });
  assert.deepEqual(run.lines().slice(-1), ["asks question-1"]);
});

Deno.test("ends: a question is on disk before the spans close and the client hears of it", () => {
  const run = mappedRun();
  run.accept(...BEGUN, piece("May I?"), asks(permission("question-1")));
  assert.equal(run.mapper.phase, "gathering");
  run.done.length = 0;
  run.end({ cause: "interrupt", expiresAt: 5 });
  assert.deepEqual(run.done, [
    "TEXT_MESSAGE_END",
    "TOOL_CALL_START",
    "commit interrupt",
    "leave",
    "TOOL_CALL_END",
    "RUN_FINISHED",
  ]);
  assert.equal(run.thread.execution.pending.get("question-1")?.expiresAt, 5);
});

Deno.test("ends: session and task are on disk before the client hears of them, once in a run", () => {
  const run = mappedRun();
  run.accept(account("SUBMITTED", []));
  assert.deepEqual(run.done, ["RUN_STARTED"], "not while the kernel may still refuse");
  run.accept(status("WORKING"), status("WORKING"));
  assert.deepEqual(run.done, ["RUN_STARTED", "commit task", "CUSTOM"]);
  assert.deepEqual(run.events.at(-1)?.value, {
    schemaVersion: 1,
    threadId: "thread",
    aguiRunId: "run-1",
    executionId: "execution-1",
    contextId: CONTEXT,
    taskId: "task-1",
    rosInvocationId: "invocation",
    sessionId: "session-1",
  });
});

const CAUSES: ReadonlyArray<[string, Cause, string[]]> = [
  ["a run with nothing to do", { cause: "nothing" }, ["RUN_STARTED", "leave", "RUN_FINISHED"]],
  ["an execution that is given up", { cause: "givenUp" }, ["RUN_STARTED", "leave", "save end", "RUN_FINISHED"]],
  [
    "an error that ends the execution",
    { cause: "error", code: "A2A_UNAVAILABLE" },
    ["RUN_STARTED", "leave", "save end", "RUN_ERROR"],
  ],
  [
    "an error after which another run may go on",
    { cause: "error", code: "A2A_UNAVAILABLE", resumable: true },
    ["RUN_STARTED", "leave", "RUN_ERROR"],
  ],
];

for (const [what, cause, done] of CAUSES) {
  Deno.test(`ends: ${what}`, () => {
    const run = mappedRun();
    run.end(cause);
    assert.deepEqual(run.done, done);
  });
}

Deno.test("ends: what a run has shown is kept, although it failed and another may go on", () => {
  const frames: ReadonlyArray<[string, readonly Frame[]]> = [
    ["text", [piece("Hello")]],
    ["a call", [tool("call-1", "started")]],
    ["a pipeline's event", [pipeline(envelope(1, "pipeline_started"))]],
  ];
  for (const [what, shown] of frames) {
    const run = mappedRun();
    run.accept(...BEGUN, ...shown);
    run.end({ cause: "error", code: "A2A_UNAVAILABLE", resumable: true });
    assert.ok(run.done.includes("save position"), what);
  }
});
