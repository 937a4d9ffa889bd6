/** A kernel that is not ready yet: it refuses while it winds down, its account of a task lags, it never answers a cancel. */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../src/json.ts";
import { fakeClock } from "../support/fake_clock.ts";
import { startServer } from "../support/server.ts";
import { askPermission, say, sayAndHold, type Script, startStandIn } from "../support/stand_in_kernel.ts";

const refuse: Script = ({ send, task }) =>
  send(...task.begin().slice(0, 1), task.milestone("FAILED", "Task is already working."));
const allow: JsonObject[] = [{ interruptId: "permission-1", status: "resolved", payload: { decision: "allow_once" } }];
const sessions = (events: readonly JsonObject[]): JsonObject[] =>
  events.filter(({ name }) => name === "iac-code.session.v1");

Deno.test("a refused message is sent again after 0.25, 0.5, 1, 2, 2 ... s, and only what works is announced", async () => {
  await using kernel = startStandIn();
  const clock = fakeClock();
  await using server = await startServer(kernel.url, { edges: { clock } });
  const waits = [250, 500, 1_000, 2_000, 2_000];
  kernel.turn(...waits.map(() => refuse), say("At last."));
  const run = await server.run("thread", "run-1");
  for (const [at, wait] of waits.entries()) {
    await clock.waiting(wait);
    assert.equal(kernel.got("SendStreamingMessage").length, at + 1);
    await clock.advance(wait);
  }
  assert.equal((await run.last()).type, "RUN_FINISHED");
  assert.equal(run.text(), "At last.");
  const [announced, ...more] = sessions(run.events);
  assert.deepEqual(more, []);
  const last = kernel.got("SendStreamingMessage").at(-1);
  assert.ok(isObject(announced?.value));
  assert.equal(announced.value.taskId, last?.task.id);
  assert.equal(kernel.got("CancelTask").length, 0, "a refused try is no task to cancel");
});

Deno.test("a kernel that refuses for 30 s has failed, with its own words", async () => {
  await using kernel = startStandIn();
  const clock = fakeClock();
  await using server = await startServer(kernel.url, { edges: { clock } });
  kernel.on("SendStreamingMessage", refuse);
  const run = await server.run("thread", "run-1");
  let waited = 0;
  const ended = run.last();
  for (let over = false; !over;) {
    const wait = await Promise.race([clock.waiting(1, 2_000), ended.then(() => 0)]);
    over = wait === 0;
    waited += wait;
    await clock.advance(wait);
  }
  const { type, code, message } = await ended;
  assert.deepEqual([type, code], ["RUN_ERROR", "A2A_EXECUTION_FAILED"]);
  assert.match(String(message), /Task is already working\./);
  assert.ok(waited > 28_000 && waited <= 30_000, `${waited} ms`);
  assert.deepEqual(sessions(run.events), []);
});

Deno.test("a client that leaves while its message is refused stops the tries, and nothing is cancelled", async () => {
  await using kernel = startStandIn();
  const clock = fakeClock();
  await using server = await startServer(kernel.url, { edges: { clock } });
  kernel.on("SendStreamingMessage", refuse);
  const run = await server.run("thread", "run-1");
  await clock.waiting(250);
  const [active] = server.services.runs;
  await run.leave();
  await active?.finished;
  await clock.advance(60_000);
  assert.equal(kernel.got("SendStreamingMessage").length, 1);
  assert.equal(kernel.got("CancelTask").length, 0);
});

Deno.test("a resume asks again while the kernel's account of the task lags behind its question", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  kernel.turn(askPermission());
  await (await server.run("thread", "run-1")).last();
  let asked = 0;
  kernel.on("GetTask", async (call) => {
    const { id, contextId, ...rest } = call.task.snapshot();
    const stale = { id: id ?? null, contextId: contextId ?? null, status: { state: "TASK_STATE_WORKING" } };
    await call.reply(++asked < 4 ? stale : { ...stale, ...rest });
  });
  const run = await server.run("thread", "run-2", { resume: allow });
  assert.equal((await run.last()).type, "RUN_FINISHED");
  assert.equal(asked, 4);
  assert.equal(run.text(), "Done.");
});

Deno.test("an answer whose stream is cut is not asked for again while the kernel's account still shows its question", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  kernel.turn(askPermission());
  await (await server.run("thread", "run-1")).last();
  const task = kernel.got("SendStreamingMessage")[0]?.task;
  assert.ok(task);
  const question = task.snapshot();
  kernel.on("SendStreamingMessage", async (call) => {
    await call.send(task.toolResult("permission-1", "written"), task.text("Done."));
    for (const frame of task.finish("Done.")) task.remember(frame);
    await call.cut();
    let asked = 0;
    kernel.on("GetTask", (later) => later.reply(++asked < 4 ? question : task.snapshot()));
  });
  const run = await server.run("thread", "run-2", { resume: allow });
  const { type, outcome } = await run.last();
  assert.deepEqual([type, outcome], ["RUN_FINISHED", { type: "success" }]);
  assert.equal(run.text(), "Done.");
  assert.equal(kernel.got("SendStreamingMessage").length, 2, "the answer was sent once");
});

Deno.test("a cancel is answered within 2 s though CancelTask never is; it is given up after 60 s, and logged", async () => {
  await using kernel = startStandIn();
  const clock = fakeClock();
  await using server = await startServer(kernel.url, { edges: { clock } });
  kernel.turn(sayAndHold("Working"));
  kernel.on("CancelTask", async (call) => await call.gone);
  const run = await server.run("thread", "run-1");
  await run.until("TEXT_MESSAGE_CONTENT");
  const [session] = sessions(run.events);
  assert.ok(isObject(session?.value));
  const body = { threadId: "thread", rosInvocationId: "invocation-1" };
  const cancelling = server.cancel(String(session.value.executionId), body);
  const { type, code } = await run.last();
  assert.deepEqual([type, code], ["RUN_ERROR", "CANCELLED"]);
  assert.equal((await (await server.run("thread", "run-2")).last()).type, "RUN_FINISHED", "the thread is free");
  await kernel.called("CancelTask");
  await clock.waiting(2_000);
  await clock.advance(2_000);
  const answer = await (await cancelling).json();
  assert.equal(answer.status, "cancelled");
  await clock.advance(58_000);
  await server.services.aftermath.settled();
  assert.equal(server.complaints.filter((line) => line.startsWith("task could not be cancelled")).length, 1);
});

Deno.test("a cancelled interrupt is answered after 2 s though CancelTask never is, and is over", async () => {
  await using kernel = startStandIn();
  const clock = fakeClock();
  await using server = await startServer(kernel.url, { edges: { clock } });
  kernel.turn(askPermission());
  kernel.on("CancelTask", async (call) => await call.gone);
  const run = await server.run("thread", "run-1");
  await clock.waiting(150);
  await clock.advance(150);
  assert.equal((await run.last()).type, "RUN_FINISHED");
  const { execution } = await server.file("thread");
  assert.ok(isObject(execution));
  const body = { threadId: "thread", rosInvocationId: "invocation-1" };
  const cancelling = server.cancel(String(execution.executionId), body);
  await clock.waiting(2_000);
  const { terminalExecutionIds } = await server.file("thread");
  assert.deepEqual(terminalExecutionIds, [execution.executionId], "terminal on disk before the answer");
  await clock.advance(2_000);
  assert.equal((await (await cancelling).json()).status, "cancelled");
});

Deno.test("a CancelTask that cannot be delivered is tried again until the kernel is back", async () => {
  await using kernel = startStandIn();
  const clock = fakeClock();
  await using server = await startServer(kernel.url, { edges: { clock } });
  kernel.turn(sayAndHold("Working"));
  const run = await server.run("thread", "run-1");
  await run.until("TEXT_MESSAGE_CONTENT");
  let down = Promise.resolve();
  kernel.on("CancelTask", async (call) => {
    await call.cut();
    down = kernel.down();
  });
  await run.leave();
  await clock.waiting(1_000);
  await down;
  await clock.advance(1_000);
  await clock.waiting(1_000);
  kernel.on("CancelTask", (call) => call.reply(call.task.snapshot()));
  kernel.up();
  await clock.advance(1_000);
  await server.services.aftermath.settled();
  assert.deepEqual(server.complaints, []);
  const ids = kernel.got("CancelTask").map(({ params }) => params.id);
  assert.equal(new Set(ids).size, 1);
  assert.ok(ids.length >= 2);
});

Deno.test("a pipeline's message waits for the cancel of the task before as long as the kernel takes for it, and longer", async () => {
  await using kernel = startStandIn();
  const clock = fakeClock();
  await using server = await startServer(kernel.url, { edges: { clock } });
  kernel.turn(sayAndHold("Working"), say("Here I am."));
  const cancelled = Promise.withResolvers<void>();
  kernel.on("CancelTask", async (call) => {
    await cancelled.promise;
    await call.fail(-32002, "Task cannot be canceled");
  });
  const left = await server.run("thread", "run-1", { iac: { runMode: "pipeline" } });
  await left.until("TEXT_MESSAGE_CONTENT");
  await left.leave();
  await kernel.called("CancelTask");
  const run = await server.run("thread", "run-2", { iac: { runMode: "pipeline" } });
  await clock.waiting(45_000);
  await clock.advance(44_000);
  assert.equal(kernel.got("SendStreamingMessage").length, 1, "not while the kernel is at it");
  cancelled.resolve();
  assert.equal((await run.last()).type, "RUN_FINISHED");
  assert.equal(run.text(), "Here I am.");
});

Deno.test("a pipeline's message that was cancelled with the task before is sent again", async () => {
  await using kernel = startStandIn();
  const clock = fakeClock();
  await using server = await startServer(kernel.url, { edges: { clock } });
  kernel.turn(
    ({ send, task }) => send(task.milestone("FAILED", "Task not running.")),
    (call) => call.fail(-32602, "Task 31f2fa5f is already completed."),
    say("Here I am."),
  );
  const run = await server.run("thread", "run-1", { iac: { runMode: "pipeline" } });
  for (const wait of [250, 500]) {
    await clock.waiting(wait);
    await clock.advance(wait);
  }
  assert.equal((await run.last()).type, "RUN_FINISHED");
  assert.equal(run.text(), "Here I am.");
});
