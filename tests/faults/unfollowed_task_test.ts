/** A task that is said to work, and that the kernel lets nobody follow. */
import assert from "node:assert/strict";
import { fakeClock } from "../support/fake_clock.ts";
import { startServer } from "../support/server.ts";
import { startStandIn } from "../support/stand_in_kernel.ts";

Deno.test("a task that cannot be followed is asked for three times over 7 s, then cancelled", async () => {
  await using kernel = startStandIn();
  const clock = fakeClock();
  await using server = await startServer(kernel.url, { edges: { clock } });
  kernel.turn(async ({ send, task, cut }) => {
    await send(...task.begin(), task.text("Hello"));
    await cut();
  });
  kernel.on("SubscribeToTask", ({ fail }) => fail(-32004, "nobody works on this task"));
  const run = await server.run("thread", "run-1");
  for (const wait of [200, 2_000, 5_000]) {
    await clock.waiting(wait);
    await clock.advance(wait);
  }
  const { type, code } = await run.last();
  assert.deepEqual([type, code, run.text()], ["RUN_ERROR", "A2A_UNAVAILABLE", "Hello"]);
  assert.equal(kernel.got("GetTask").length, 3);
  assert.equal(kernel.got("SubscribeToTask").length, 3);
  await kernel.called("CancelTask");
});
