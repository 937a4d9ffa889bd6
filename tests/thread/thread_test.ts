import assert from "node:assert/strict";
import fc from "fast-check";
import { APPLIED_RESUMES, RUN_DIGESTS, TERMINAL_EXECUTIONS } from "../../src/limits.ts";
import {
  appliedDigest,
  applyChange,
  beginExecution,
  contextIdOf,
  endExecution,
  isExpired,
  isTerminal,
  newThread,
  type PendingInput,
  type Position,
  recordRun,
  type Thread,
  type ThreadChange,
} from "../../src/thread/thread.ts";
import { EXECUTION, pendingOf, permission, TASK, threadOf } from "../support/threads.ts";

const [A, B, C] = ["a".repeat(64), "b".repeat(64), "c".repeat(64)];
const POSITION: Position = { pipelineSequence: 7, openSteps: ["step:plan"], shownText: [{ length: 5, digest: A }] };

function change(thread: Thread, made: ThreadChange): Thread {
  return applyChange(thread, thread.execution.executionId, made);
}

Deno.test("a thread's context is made of its id alone", () => {
  assert.equal(contextIdOf("thread-1"), "agui-4b0a5fefc328e6b9257bc535e3c5d26fec36b52f");
  assert.notEqual(contextIdOf("Abc"), contextIdOf("abc"));
  fc.assert(fc.property(fc.string({ unit: "binary", minLength: 1 }), (id) => {
    assert.match(contextIdOf(id), /^agui-[0-9a-f]{40}$/);
  }));
});

Deno.test("a new thread is bound to workspace and user, and has nothing else", () => {
  const thread = newThread("t", "/work", "u");
  assert.deepEqual([thread.threadId, thread.cwd, thread.userId, thread.sessionId], ["t", "/work", "u", null]);
  assert.equal(thread.contextId, contextIdOf("t"));
  assert.deepEqual([thread.runs.size, thread.applied, thread.terminal], [0, [], []]);
  assert.equal(isTerminal(thread), false);
});

Deno.test("the newest 4,096 run ids are known; an older one counts as new", () => {
  const almost = Array.from({ length: RUN_DIGESTS - 1 }, (_, at): [string, string] => [`run-${at}`, A]);
  let thread = threadOf({ runs: new Map(almost) });
  for (let at = RUN_DIGESTS - 1; at < RUN_DIGESTS + 3; at++) thread = recordRun(thread, `run-${at}`, B);
  assert.equal(RUN_DIGESTS, 4096);
  assert.equal(thread.runs.size, RUN_DIGESTS);
  assert.deepEqual([...thread.runs.keys()].slice(0, 2), ["run-3", "run-4"]);
  assert.equal([...thread.runs.keys()].at(-1), `run-${RUN_DIGESTS + 2}`);
});

Deno.test("run ids keep the order of their use, also where they look like numbers", () => {
  const ids = ["10", "9", "__proto__", "1", "run", "0"];
  const thread = ids.reduce((before, id) => recordRun(before, id, A), newThread("t", "/work", null));
  assert.deepEqual([...thread.runs.keys()], ids);
});

Deno.test("a new execution forgets the old task, position, texts and questions, and keeps the rest", () => {
  const execution = {
    pipelineSequence: 3,
    openSteps: ["step:a"],
    textDigests: [A],
    shownText: [{ length: 1, digest: A }],
  };
  const before = threadOf({
    execution: { ...execution, pending: pendingOf([permission("p")]) },
    applied: [{ executionId: EXECUTION, interruptId: "i", digest: A }],
    terminal: [EXECUTION],
  });
  const after = beginExecution(before, "next", "invocation-2");
  assert.deepEqual(after, {
    ...before,
    execution: {
      executionId: "next",
      rosInvocationId: "invocation-2",
      taskId: null,
      pipelineSequence: 0,
      openSteps: [],
      textDigests: [],
      shownText: [],
      pending: new Map(),
    },
  });
  assert.equal(isTerminal(after), false);
  assert.equal(appliedDigest(after, "i"), undefined, "applied in the execution before");
});

Deno.test("an ended execution has nothing pending and is terminal, once", () => {
  const waiting = threadOf({ execution: { pending: pendingOf([permission("p")]) } });
  const ended = endExecution(waiting);
  assert.equal(ended.execution.pending.size, 0);
  assert.equal(ended.execution.taskId, TASK);
  assert.ok(isTerminal(ended));
  assert.deepEqual(endExecution(ended).terminal, [EXECUTION]);
});

Deno.test("the newest 1,024 ended executions are known", () => {
  let thread = threadOf();
  for (let at = 0; at < TERMINAL_EXECUTIONS + 2; at++) {
    thread = endExecution(beginExecution(thread, `e-${at}`, "i"));
  }
  assert.equal(TERMINAL_EXECUTIONS, 1024);
  assert.equal(thread.terminal.length, TERMINAL_EXECUTIONS);
  assert.deepEqual([thread.terminal[0], thread.terminal.at(-1)], ["e-2", `e-${TERMINAL_EXECUTIONS + 1}`]);
});

Deno.test("the newest 1,024 applied answers are known, each once", () => {
  let thread = threadOf();
  for (let at = 0; at < APPLIED_RESUMES + 2; at++) {
    thread = change(thread, { change: "answered", interruptId: `i-${at}`, digest: A });
  }
  assert.equal(APPLIED_RESUMES, 1024);
  assert.equal(thread.applied.length, APPLIED_RESUMES);
  assert.deepEqual([thread.applied[0]?.interruptId, thread.applied.at(-1)?.interruptId], [
    "i-2",
    `i-${APPLIED_RESUMES + 1}`,
  ]);
  const again = change(thread, { change: "answered", interruptId: "i-5", digest: B });
  assert.equal(again.applied.length, APPLIED_RESUMES);
  assert.equal(appliedDigest(again, "i-5"), B);
  assert.equal(appliedDigest(again, "i-0"), undefined);
});

Deno.test("an interrupt expires at its moment; without one, never", () => {
  const until = (expiresAt: number | null): PendingInput => ({ value: {}, sideband: false, expiresAt });
  assert.deepEqual([isExpired(until(1000), 999), isExpired(until(1000), 1000), isExpired(until(1000), 1001)], [
    false,
    true,
    true,
  ]);
  assert.equal(isExpired(until(null), Number.MAX_SAFE_INTEGER), false);
  assert.equal(isExpired(until(0), 0), true);
});

Deno.test("a run makes its task and session known", () => {
  const after = change(threadOf({ sessionId: null, execution: { taskId: null } }), {
    change: "task",
    taskId: "task-2",
    sessionId: "session-2",
  });
  assert.deepEqual(after, threadOf({ sessionId: "session-2", execution: { taskId: "task-2" } }));
});

Deno.test("an interrupt makes questions and position known, and keeps a session that it does not name", () => {
  const pending = pendingOf([permission("p")]);
  const made = { change: "interrupt", taskId: "task-2", pending, position: POSITION } as const;
  const after = change(threadOf(), { ...made, sessionId: null });
  assert.deepEqual(after, threadOf({ execution: { ...POSITION, textDigests: [A], taskId: "task-2", pending } }));
  assert.equal(change(threadOf(), { ...made, sessionId: "session-2" }).sessionId, "session-2");
});

Deno.test("an answer leaves the questions and joins the applied, and the other questions stay", () => {
  const pending = pendingOf([permission("p"), permission("q")]);
  const before = threadOf({ execution: { pending } });
  const after = change(before, { change: "answered", interruptId: "p", digest: B, position: POSITION });
  assert.deepEqual([...after.execution.pending.keys()], ["q"]);
  assert.deepEqual(after.applied, [{ executionId: EXECUTION, interruptId: "p", digest: B }]);
  assert.equal(after.execution.pipelineSequence, 7);
  assert.equal(before.execution.pending.size, 2, "the value before is unchanged");
});

Deno.test("a position replaces the one before, and digests of the Python adapter's texts stay known", () => {
  const before = threadOf({ execution: { textDigests: [C, B], shownText: [{ length: 2, digest: B }] } });
  const after = change(before, { change: "position", position: POSITION });
  assert.deepEqual(after.execution.shownText, POSITION.shownText);
  assert.deepEqual(after.execution.openSteps, POSITION.openSteps);
  assert.deepEqual(after.execution.textDigests, [C, B, A]);
  assert.deepEqual(change(after, { change: "position", position: POSITION }), after);
});

Deno.test("the end of a run is the end of its execution, with its last position when it has one", () => {
  const before = threadOf({ execution: { pending: pendingOf([permission("p")]) } });
  const after = change(before, { change: "end", position: POSITION });
  assert.ok(isTerminal(after));
  assert.equal(after.execution.pending.size, 0);
  assert.equal(after.execution.pipelineSequence, 7);
  assert.equal(change(before, { change: "end" }).execution.pipelineSequence, 0);
});

Deno.test("a run whose execution is no longer the thread's changes nothing", () => {
  const thread = threadOf();
  const changes: ThreadChange[] = [
    { change: "task", taskId: "task-2", sessionId: "session-2" },
    { change: "interrupt", taskId: "task-2", sessionId: null, pending: new Map(), position: POSITION },
    { change: "answered", interruptId: "p", digest: A },
    { change: "position", position: POSITION },
    { change: "end" },
  ];
  for (const made of changes) assert.equal(applyChange(thread, "older", made), thread, made.change);
});
