/** Heartbeats keep a quiet connection alive through every wait of a run. */
import assert from "node:assert/strict";
import { startServer } from "../support/server.ts";
import { askPermission, say, type Script, startStandIn } from "../support/stand_in_kernel.ts";

const BEATS = 3;
const options = { heartbeatMs: 50 };

/** A script that waits until it is told to go on. */
function gate(then: Script): { script: Script; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    script: async (call) => {
      await promise;
      await then(call);
    },
    open: resolve,
  };
}

Deno.test("heartbeats come while the kernel has not answered yet, after RUN_STARTED", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url, options);
  const { script, open } = gate(say("Late."));
  kernel.turn(script);
  const run = await server.run("thread", "run-1");
  await run.untilComments(BEATS);
  assert.deepEqual(run.events.map(({ type }) => type), ["RUN_STARTED"]);
  assert.deepEqual([...new Set(run.comments)], [": heartbeat"]);
  open();
  assert.equal((await run.last()).type, "RUN_FINISHED");
  assert.equal(run.text(), "Late.");
});

Deno.test("heartbeats come while a session is restored", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url, options);
  kernel.turn(askPermission());
  await (await server.run("thread", "run-1")).last();
  const { script, open } = gate((call) => call.answer(200, "application/json", `{"status":"restored"}`));
  kernel.on("ensure-restored", script);
  const resume = [{ interruptId: "permission-1", status: "resolved", payload: { decision: "allow_once" } }];
  const run = await server.run("thread", "run-2", { resume });
  await run.untilComments(BEATS);
  assert.deepEqual(run.events.map(({ type }) => type), ["RUN_STARTED"]);
  open();
  assert.equal((await run.last()).type, "RUN_FINISHED");
  assert.equal(run.text(), "Done.");
});

Deno.test("heartbeats come while the kernel winds down the turn before", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url, options);
  const refuse: Script = ({ send, task }) => send(task.milestone("FAILED", "Task is already working."));
  kernel.turn(refuse, refuse, say("At last."));
  const run = await server.run("thread", "run-1");
  assert.equal((await run.last()).type, "RUN_FINISHED");
  assert.ok(run.comments.length >= BEATS, `${run.comments.length} heartbeats in the waits of 250 and 500 ms`);
  assert.equal(run.text(), "At last.");
});

Deno.test("events put the heartbeat off", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url, { heartbeatMs: 250 });
  kernel.turn(async ({ send, task }) => {
    await send(...task.begin());
    for (let word = 0; word < 30; word++) {
      await send(task.text(`${word} `));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await send(task.milestone("COMPLETED"));
  });
  const run = await server.run("thread", "run-1");
  await run.last();
  assert.deepEqual(run.comments, []);
});

Deno.test("an interval longer than any timer of JavaScript is no interval of zero", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url, { heartbeatMs: 365 * 24 * 3600 * 1000 });
  const { script, open } = gate(say("Late."));
  kernel.turn(script);
  const run = await server.run("thread", "run-1");
  await run.until("RUN_STARTED");
  await new Promise((resolve) => setTimeout(resolve, 100));
  open();
  await run.last();
  assert.deepEqual(run.comments, []);
});
