import assert from "node:assert/strict";
import fc from "fast-check";
import { type Admission, admit, type Candidate } from "../../src/admission/admit.ts";
import type { ResumeEntry } from "../../src/request/run_request.ts";
import { isTerminal, type Thread } from "../../src/thread/thread.ts";
import { EXECUTION, pendingOf, permission, question, requestOf, TASK, threadOf } from "../support/threads.ts";

const NOW = Date.UTC(2030, 0, 1);
const NEW_EXECUTION = "00000000-0000-4000-8000-000000000009";
const DIGEST = "d".repeat(64);

function candidate(change: Partial<Candidate> = {}): Candidate {
  return {
    request: requestOf(),
    cwd: "/work",
    digest: DIGEST,
    thread: threadOf(),
    busy: false,
    now: NOW,
    newExecutionId: NEW_EXECUTION,
    language: "en",
    ...change,
  };
}

/** The code of a refusal, or the kind of run that is admitted. */
function outcome(admission: Admission): string {
  return admission.is === "refused" ? admission.refusal.code : admission.kind;
}

const decide = (change: Partial<Candidate>) => outcome(admit(candidate(change)));

function answer(interruptId: string): ResumeEntry {
  return { interruptId, status: "resolved", payload: { decision: "allow_once" } };
}

function giveUp(interruptId: string): ResumeEntry {
  return { interruptId, status: "cancelled" };
}

const resume = (...entries: ResumeEntry[]) => requestOf({ resume: entries });

/** A thread that waits for these permissions until a moment. */
function waiting(expiresAt: number | null, ...ids: string[]): Thread {
  return threadOf({ execution: { pending: pendingOf(ids.map((id) => permission(id)), { expiresAt }) } });
}

function guidance(change: Parameters<typeof requestOf>[0] = {}) {
  return requestOf({ ...change, iacCode: { activeGuidance: true, runMode: "pipeline", ...change.iacCode } });
}

Deno.test("the first request of a thread binds it and begins an execution", () => {
  const request = requestOf({ runId: "run-1", iacCode: { userId: "u" } });
  const admission = admit(candidate({ thread: undefined, request, cwd: "/real/work" }));
  assert.ok(admission.is === "admitted");
  assert.equal(admission.kind, "new");
  assert.equal(admission.abandoned, undefined);
  const { thread } = admission;
  assert.deepEqual([thread.cwd, thread.userId, thread.sessionId], ["/real/work", "u", null]);
  assert.deepEqual([...thread.runs], [["run-1", DIGEST]]);
  assert.deepEqual([thread.execution.executionId, thread.execution.rosInvocationId, thread.execution.taskId], [
    NEW_EXECUTION,
    "invocation-1",
    null,
  ]);
  assert.deepEqual([thread.applied, thread.terminal], [[], []]);
});

Deno.test("a next message begins a new execution: the old task, position and text are forgotten, the session stays", () => {
  const execution = {
    pipelineSequence: 7,
    openSteps: ["step:a"],
    textDigests: ["a".repeat(64)],
    shownText: [{ length: 1, digest: "a".repeat(64) }],
  };
  const thread = threadOf({ execution, terminal: [EXECUTION] });
  const admission = admit(candidate({ thread, request: requestOf({ iacCode: { rosInvocationId: "invocation-2" } }) }));
  assert.ok(admission.is === "admitted");
  assert.equal(admission.abandoned, undefined, "the old execution has ended");
  assert.deepEqual(admission.thread, {
    ...thread,
    runs: new Map([...thread.runs, ["run-2", DIGEST]]),
    execution: {
      executionId: NEW_EXECUTION,
      rosInvocationId: "invocation-2",
      taskId: null,
      pipelineSequence: 0,
      openSteps: [],
      textDigests: [],
      shownText: [],
      pending: new Map(),
    },
  });
});

Deno.test("what a crash left unfinished is ended and its task cancelled before a new execution begins", () => {
  const admission = admit(candidate({ thread: threadOf() }));
  assert.ok(admission.is === "admitted" && admission.kind === "new");
  assert.deepEqual(admission.abandoned, { taskId: TASK });
  assert.deepEqual(admission.thread.terminal, [EXECUTION]);
  assert.ok(!admission.orphaned);
  const withoutTask = admit(candidate({ thread: threadOf({ execution: { taskId: null } }) }));
  assert.equal(withoutTask.abandoned, undefined);
  assert.ok(withoutTask.is === "admitted" && withoutTask.orphaned, "the kernel is asked for it");
});

Deno.test("a used run id is refused: as a repeat when the request is the same, as a conflict otherwise", () => {
  const thread = threadOf({ runs: new Map([["run-1", DIGEST], ["__proto__", DIGEST]]) });
  for (const runId of ["run-1", "__proto__"]) {
    const request = requestOf({ runId });
    assert.equal(decide({ thread, request }), "DUPLICATE_RUN_ID");
    assert.equal(decide({ thread, request, digest: "e".repeat(64) }), "RUN_ID_CONFLICT");
  }
  for (const runId of ["run-3", "constructor", "toString"]) {
    assert.equal(decide({ thread, request: requestOf({ runId }) }), "new", runId);
  }
});

Deno.test("a thread with an active run is busy, for a message and for a resume", () => {
  assert.equal(decide({ busy: true }), "THREAD_BUSY");
  assert.equal(decide({ busy: true, thread: undefined }), "THREAD_BUSY");
  assert.equal(decide({ busy: true, thread: waiting(null, "a"), request: resume(answer("a")) }), "THREAD_BUSY");
});

Deno.test("another workspace or user is not the thread's", () => {
  const bound = threadOf({ cwd: "/work", userId: "u" });
  const request = requestOf({ iacCode: { userId: "u" } });
  assert.equal(decide({ thread: bound, request }), "new");
  assert.equal(decide({ thread: bound, request, cwd: "/work/sub" }), "THREAD_BINDING_CONFLICT");
  assert.equal(decide({ thread: bound, request, cwd: "/WORK" }), "THREAD_BINDING_CONFLICT");
  for (const userId of ["v", "", "U"]) {
    assert.equal(decide({ thread: bound, request: requestOf({ iacCode: { userId } }) }), "THREAD_BINDING_CONFLICT");
  }
  assert.equal(decide({ thread: bound, request: requestOf() }), "THREAD_BINDING_CONFLICT", "no user");
  assert.equal(decide({ thread: threadOf(), request }), "THREAD_BINDING_CONFLICT", "a user where there was none");
  const other = requestOf({ resume: [answer("a")], iacCode: { userId: "v" } });
  assert.equal(decide({ thread: waiting(null, "a"), request: other }), "THREAD_BINDING_CONFLICT");
});

Deno.test("a resume of an unknown thread, or of another invocation, has lost its execution", () => {
  assert.equal(decide({ thread: undefined, request: resume(answer("a")) }), "EXECUTION_LOST");
  assert.equal(decide({ thread: undefined, request: resume(giveUp("a")) }), "EXECUTION_LOST");
  for (const entry of [answer("a"), giveUp("a")]) {
    const request = requestOf({ resume: [entry], iacCode: { rosInvocationId: "invocation-2" } });
    assert.equal(decide({ thread: waiting(null, "a"), request }), "EXECUTION_LOST");
    assert.equal(decide({ thread: waiting(NOW - 1, "a"), request }), "EXECUTION_LOST");
  }
});

Deno.test("an answer that comes too late ends the execution and cancels its task", () => {
  const thread = waiting(NOW, "a", "b");
  for (const request of [resume(answer("a"), answer("b")), resume(answer("a")), resume(giveUp("b"), answer("a"))]) {
    const admission = admit(candidate({ thread, request }));
    assert.ok(admission.is === "refused");
    assert.equal(admission.refusal.code, "EXECUTION_EXPIRED");
    assert.ok(admission.thread && isTerminal(admission.thread));
    assert.equal(admission.thread.execution.pending.size, 0);
    assert.deepEqual(admission.thread.runs, thread.runs, "the run id is not used up");
    assert.deepEqual(admission.abandoned, { taskId: TASK });
  }
});

Deno.test("an interrupt may be answered until the moment it expires, and for ever when it never does", () => {
  assert.equal(decide({ thread: waiting(NOW + 1, "a"), request: resume(answer("a")) }), "resume");
  assert.equal(decide({ thread: waiting(NOW, "a"), request: resume(answer("a")) }), "EXECUTION_EXPIRED");
  assert.equal(decide({ thread: waiting(null, "a"), request: resume(answer("a")), now: 8e15 }), "resume");
});

Deno.test("cancelling what has expired ends the execution, and the run does nothing", () => {
  const admission = admit(candidate({ thread: waiting(NOW - 1, "a", "b"), request: resume(giveUp("a"), giveUp("b")) }));
  assert.ok(admission.is === "admitted");
  assert.equal(admission.kind, "nothing");
  assert.deepEqual(admission.abandoned, { taskId: TASK });
  assert.ok(isTerminal(admission.thread));
  assert.equal(admission.thread.execution.pending.size, 0);
  assert.equal(admission.thread.runs.get("run-2"), DIGEST);
  const partly = admit(candidate({ thread: waiting(NOW - 1, "a", "b"), request: resume(giveUp("a"), giveUp("gone")) }));
  assert.deepEqual([outcome(partly), partly.abandoned], ["nothing", { taskId: TASK }]);
});

Deno.test("cancelling what is no longer pending does nothing and changes nothing but the run ids", () => {
  const threads = [threadOf({ terminal: [EXECUTION] }), threadOf(), waiting(null, "other")];
  for (const thread of threads) {
    const admission = admit(candidate({ thread, request: resume(giveUp("gone"), giveUp("gone-too")) }));
    assert.ok(admission.is === "admitted");
    assert.equal(admission.kind, "nothing");
    assert.equal(admission.abandoned, undefined);
    assert.deepEqual(admission.thread, { ...thread, runs: new Map([...thread.runs, ["run-2", DIGEST]]) });
  }
});

Deno.test("a resume goes on when any entry is a live answer or a live cancel", () => {
  const thread = waiting(NOW + 1, "a", "b");
  const requests = [
    resume(answer("a"), answer("b")),
    resume(giveUp("a")),
    resume(giveUp("a"), giveUp("gone")),
    resume(answer("gone")),
    resume(answer("gone"), giveUp("gone-too")),
    resume(answer("constructor")),
  ];
  for (const request of requests) {
    const admission = admit(candidate({ thread, request }));
    assert.equal(outcome(admission), "resume");
    assert.ok(admission.is === "admitted");
    assert.deepEqual(admission.thread, { ...thread, runs: new Map([...thread.runs, ["run-2", DIGEST]]) });
    assert.equal(admission.abandoned, undefined);
  }
});

Deno.test("a message while questions wait is refused with the questions as they were announced", () => {
  const pending = pendingOf([question("q-1", { title: null })], { expiresAt: NOW + 60_000 });
  const admission = admit(candidate({ thread: threadOf({ execution: { pending } }) }));
  assert.ok(admission.is === "refused");
  assert.equal(admission.thread, undefined);
  assert.equal(admission.abandoned, undefined);
  const selected = (id: string, title: string) => ({
    title,
    type: "object",
    properties: { selectedId: { const: id } },
    required: ["selectedId"],
    additionalProperties: false,
  });
  const options = [{ id: "hz", label: "Hangzhou" }, { id: "bj", label: "Beijing" }];
  assert.deepEqual(admission.refusal, {
    code: "RESUME_REQUIRED",
    details: {
      executionId: EXECUTION,
      interrupts: [{
        id: "q-1",
        reason: "input_required",
        message: "Which region?\n- hz: Hangzhou\n- bj: Beijing",
        responseSchema: { oneOf: [selected("hz", "Hangzhou"), selected("bj", "Beijing")] },
        expiresAt: new Date(NOW + 60_000).toISOString(),
        metadata: {
          schemaVersion: 1,
          kind: "ask_user_question",
          required: true,
          inputId: "q-1",
          prompt: "Which region?",
          options,
          standardOptions: [{ id: "hz", title: "Hangzhou" }, { id: "bj", title: "Beijing" }],
        },
      }],
    },
  });
});

Deno.test("one question that has not expired keeps all of them open", () => {
  const pending = new Map([
    ...pendingOf([permission("old")], { expiresAt: NOW - 1 }),
    ...pendingOf([permission("new")], { expiresAt: NOW + 1 }),
  ]);
  const admission = admit(candidate({ thread: threadOf({ execution: { pending } }) }));
  assert.ok(admission.is === "refused" && admission.refusal.code === "RESUME_REQUIRED");
  const { interrupts } = admission.refusal.details as { interrupts: { id: string }[] };
  assert.deepEqual(interrupts.map(({ id }) => id), ["old", "new"]);
});

Deno.test("a message after all questions have expired ends the old execution and begins a new one", () => {
  const admission = admit(candidate({ thread: waiting(NOW, "a", "b") }));
  assert.ok(admission.is === "admitted");
  assert.equal(admission.kind, "new");
  assert.deepEqual(admission.abandoned, { taskId: TASK });
  assert.deepEqual(admission.thread.terminal, [EXECUTION]);
  assert.equal(admission.thread.execution.executionId, NEW_EXECUTION);
  assert.equal(admission.thread.execution.pending.size, 0);
});

Deno.test("guidance goes into a pipeline run that is under way, and begins nothing", () => {
  const thread = threadOf();
  const admission = admit(candidate({ thread, busy: true, request: guidance() }));
  assert.ok(admission.is === "admitted");
  assert.equal(admission.kind, "guidance");
  assert.equal(admission.abandoned, undefined);
  assert.deepEqual(admission.thread, { ...thread, runs: new Map([...thread.runs, ["run-2", DIGEST]]) });
});

Deno.test("guidance without a running pipeline task of its invocation has lost its execution", () => {
  const running = { busy: true, request: guidance() };
  assert.equal(decide({ ...running, thread: undefined }), "EXECUTION_LOST");
  assert.equal(decide({ ...running, busy: false }), "EXECUTION_LOST");
  assert.equal(decide({ ...running, thread: threadOf({ execution: { taskId: null } }) }), "EXECUTION_LOST");
  const other = guidance({ iacCode: { rosInvocationId: "invocation-2" } });
  assert.equal(decide({ ...running, request: other }), "EXECUTION_LOST");
  assert.equal(decide({ ...running, request: guidance({ iacCode: { runMode: "normal" } }) }), "EXECUTION_LOST");
  assert.equal(decide({ thread: waiting(NOW - 1, "a"), request: guidance() }), "EXECUTION_LOST", "expired");
});

Deno.test("guidance is refused while questions wait, for a used run id, and on a foreign thread", () => {
  const busy = true;
  assert.equal(decide({ thread: waiting(null, "a"), request: guidance() }), "RESUME_REQUIRED");
  assert.equal(decide({ thread: waiting(null, "a"), busy, request: guidance() }), "RESUME_REQUIRED");
  assert.equal(decide({ busy, request: guidance({ runId: "run-1" }) }), "RUN_ID_CONFLICT");
  assert.equal(decide({ busy, request: guidance({ iacCode: { userId: "v" } }) }), "THREAD_BINDING_CONFLICT");
});

Deno.test("a resume that says it is guidance is a resume", () => {
  const request = guidance({ resume: [answer("a")] });
  assert.equal(decide({ thread: waiting(null, "a"), request }), "resume");
  assert.equal(decide({ thread: waiting(null, "a"), request, busy: true }), "THREAD_BUSY");
});

Deno.test("each row comes before the next: what meets several conditions gets the first code", () => {
  const late = { thread: waiting(NOW - 1, "a"), request: resume(answer("a")) };
  const foreign = requestOf({ resume: [answer("a")], iacCode: { userId: "v", rosInvocationId: "invocation-2" } });
  const lost = requestOf({ resume: [answer("a")], iacCode: { rosInvocationId: "invocation-2" } });
  const used = { ...foreign, runId: "run-1" };
  assert.equal(decide({ ...late, busy: true, request: used }), "RUN_ID_CONFLICT");
  assert.equal(decide({ ...late, busy: true, request: foreign }), "THREAD_BUSY");
  assert.equal(decide({ ...late, request: foreign }), "THREAD_BINDING_CONFLICT");
  assert.equal(decide({ ...late, request: lost }), "EXECUTION_LOST");
  assert.equal(decide(late), "EXECUTION_EXPIRED");
  assert.equal(decide({ ...late, request: resume(giveUp("a")) }), "nothing");
  assert.equal(decide({ ...late, request: requestOf() }), "new");
});

Deno.test("whatever is decided, the given thread is unchanged and a refused run id stays free", () => {
  const ids = fc.constantFrom("a", "b", "gone", "__proto__");
  const entry = fc.record({ interruptId: ids, status: fc.constantFrom("resolved" as const, "cancelled" as const) });
  const arbitrary = fc.record({
    busy: fc.boolean(),
    runId: fc.constantFrom("run-1", "run-2"),
    cwd: fc.constantFrom("/work", "/other"),
    invocation: fc.constantFrom("invocation-1", "invocation-2"),
    resume: fc.option(fc.array(entry, { minLength: 1, maxLength: 3 }), { nil: undefined }),
    activeGuidance: fc.boolean(),
    known: fc.boolean(),
    expiry: fc.constantFrom(null, NOW - 1, NOW + 1),
    pending: fc.uniqueArray(fc.constantFrom("a", "b", "__proto__")),
    ended: fc.boolean(),
  });
  fc.assert(fc.property(arbitrary, (given) => {
    const pending = pendingOf(given.pending.map((id) => permission(id)), { expiresAt: given.expiry });
    const terminal = given.ended ? [EXECUTION] : [];
    const thread = given.known ? threadOf({ execution: { pending }, terminal }) : undefined;
    const before = structuredClone(thread);
    const request = requestOf({
      runId: given.runId,
      ...(given.resume && { resume: given.resume }),
      iacCode: { rosInvocationId: given.invocation, activeGuidance: given.activeGuidance, runMode: "pipeline" },
    });
    const admission = admit(candidate({ thread, request, busy: given.busy, cwd: given.cwd }));
    assert.deepEqual(thread, before);
    if (admission.is === "admitted") assert.equal(admission.thread.runs.get(given.runId), DIGEST);
    else assert.equal(admission.thread?.runs.has("run-2") ?? false, false);
    if (admission.abandoned) assert.ok(admission.thread && admission.thread.terminal.includes(EXECUTION));
  }));
});
