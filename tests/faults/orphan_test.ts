/**
 * A crash between a message and the kernel's first word about it leaves a task that the thread's file cannot name: the next
 * message finds it by the thread's context (docs/protocol.md, "Admission").
 */
import assert from "node:assert/strict";
import { threadFiles } from "../../src/store/thread_files.ts";
import type { AppliedResume } from "../../src/thread/thread.ts";
import { startServer } from "../support/server.ts";
import { say, type Script, startStandIn } from "../support/stand_in_kernel.ts";
import { EXECUTION, TASK, threadOf } from "../support/threads.ts";

const INPUT = { kind: "permission", required: true, inputId: "permission-1", toolUseId: "call-1" };
const ANSWERED: AppliedResume = { executionId: "before", interruptId: "permission-1", digest: "0".repeat(64) };

interface Found {
  readonly what: string;
  /** How the kernel answers for the context's newest execution. */
  readonly execution: Script;
  /** What its task asks. */
  readonly asks?: boolean;
  readonly applied?: readonly AppliedResume[];
  readonly cancelled: boolean;
}

const state = (status: number, value: unknown): Script => (call) =>
  call.answer(status, "application/json", JSON.stringify(value));
const execution = (streamAvailable: boolean) =>
  state(200, { executionId: "exec-1", taskId: TASK, executionStatus: "input-required", streamAvailable });

const FOUND: readonly Found[] = [
  { what: "a task that is carried out is cancelled", execution: execution(true), cancelled: true },
  { what: "a task that waits for an answer is cancelled", execution: execution(false), asks: true, cancelled: true },
  { what: "a turn that is over is left alone", execution: execution(false), cancelled: false },
  {
    what: "a turn that is over is left alone, though its account goes on naming an answered question",
    execution: execution(false),
    asks: true,
    applied: [ANSWERED],
    cancelled: false,
  },
  { what: "a kernel that knows of none is asked for nothing more", execution: state(404, {}), cancelled: false },
  { what: "a kernel that cannot tell gets the message all the same", execution: state(500, {}), cancelled: false },
];

for (const { what, execution, asks = false, applied = [], cancelled } of FOUND) {
  Deno.test(`after a crash that left no task's name, ${what}`, async () => {
    await using kernel = startStandIn();
    await using server = await startServer(kernel.url);
    const thread = threadOf({ threadId: "thread", cwd: server.cwd, applied, execution: { taskId: null } });
    await threadFiles({ folder: server.threads, fallbackExpiry: () => null }).save(thread);
    kernel.on("execution-state", execution);
    kernel.on("GetTask", (call) => {
      const metadata = { "iac_code": asks ? { input: INPUT } : {} };
      return call.reply({
        id: TASK,
        contextId: thread.contextId,
        status: { state: "TASK_STATE_INPUT_REQUIRED" },
        metadata,
      });
    });
    kernel.on("CancelTask", (call) => call.fail(-32002, "Task cannot be canceled"));
    kernel.turn(say("Here I am."));
    const run = await server.run("thread", "run-2");
    assert.equal((await run.last()).type, "RUN_FINISHED");
    assert.equal(run.text(), "Here I am.");
    await server.services.aftermath.settled();
    assert.deepEqual(kernel.got("CancelTask").map(({ params }) => params.id), cancelled ? [TASK] : []);
    const asked = kernel.calls.findIndex(({ name }) => name === "execution-state");
    assert.ok(asked >= 0 && asked < kernel.calls.findIndex(({ name }) => name === "SendStreamingMessage"));
  });
}

Deno.test("a thread whose execution has ended, or whose task has a name, is not asked about", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  const files = threadFiles({ folder: server.threads, fallbackExpiry: () => null });
  const { cwd } = server;
  await files.save(threadOf({ threadId: "ended", cwd, terminal: [EXECUTION], execution: { taskId: null } }));
  await files.save(threadOf({ threadId: "named", cwd }));
  for (const threadId of ["ended", "named", "new"]) await (await server.run(threadId, "run-2")).last();
  assert.deepEqual(kernel.got("execution-state"), []);
});
