/** Shutdown: every run ends with a word, every task is cancelled, and it is over in time. */
import assert from "node:assert/strict";
import { fakeClock } from "../support/fake_clock.ts";
import { connect, postBytes } from "../support/raw_client.ts";
import { startServer } from "../support/server.ts";
import { askPermission, sayAndHold, type Script, startStandIn } from "../support/stand_in_kernel.ts";

const SHUTDOWN_MS = 10_000;

Deno.test("shutdown ends active streams with A2A_UNAVAILABLE, and cancels their tasks", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  kernel.turn(sayAndHold("One"), sayAndHold("Two"), askPermission());
  const runs = [await server.run("one", "run-1"), await server.run("two", "run-1")];
  for (const run of runs) await run.until("TEXT_MESSAGE_CONTENT");
  await (await server.run("asked", "run-1")).last();
  const began = performance.now();
  await server.stop();
  assert.ok(performance.now() - began < 1_000, "nothing is waited for that is not needed");
  for (const run of runs) {
    const { type, code } = await run.last();
    assert.deepEqual([type, code], ["RUN_ERROR", "A2A_UNAVAILABLE"]);
  }
  const left = kernel.got("SendStreamingMessage").slice(0, 2).map(({ task }) => task.id);
  assert.deepEqual(
    kernel.got("CancelTask").map(({ params }) => params.id).sort(),
    left.sort(),
    "not the one that asks",
  );
  await assert.rejects(server.post("{}"), TypeError, "nobody listens any more");
});

Deno.test("a request whose body is on its way when shutdown begins starts no run", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  kernel.turn(sayAndHold("One"));
  const run = await server.run("one", "run-1");
  await run.until("TEXT_MESSAGE_CONTENT");
  const whole = postBytes(server.input("late", "run-1"));
  const late = await connect(server.port, whole.slice(0, -10));
  const stopped = server.stop();
  await late.write(whole.slice(-10)).catch(() => undefined);
  // Deno may close the connection under it; if there is an answer, it says that this server takes nothing more.
  assert.match(await late.until("SERVER_BUSY").catch(() => ""), /^$|^HTTP\/1.1 503 /);
  late.close();
  await stopped;
  assert.equal((await run.last()).code, "A2A_UNAVAILABLE");
  assert.equal(kernel.got("SendStreamingMessage").length, 1);
});

/** Shutdown by a clock that stands: it ends when 10 s are over, and not before. */
async function stopsAfter10Seconds(script: Script, reads: boolean): Promise<void> {
  await using kernel = startStandIn();
  const clock = fakeClock();
  await using server = await startServer(kernel.url, { edges: { clock } });
  kernel.turn(script);
  kernel.on("CancelTask", async (call) => await call.gone);
  const client = await connect(server.port, postBytes(server.input("one", "run-1")));
  if (reads) await client.until("TEXT_MESSAGE_CONTENT");
  await kernel.called("SendStreamingMessage");
  let stopped = false;
  const stopping = server.stop().then(() => stopped = true);
  await kernel.called("CancelTask");
  await clock.waiting(SHUTDOWN_MS);
  if (reads) assert.match(await client.until("RUN_ERROR"), /A2A_UNAVAILABLE/);
  await clock.advance(SHUTDOWN_MS - 1);
  assert.equal(stopped, false);
  await clock.advance(1);
  await stopping;
  client.close();
}

Deno.test("a kernel that never answers CancelTask holds shutdown up for 10 s, no longer", () =>
  stopsAfter10Seconds(sayAndHold("Hm."), true));

Deno.test("nor does a client that reads nothing", () =>
  stopsAfter10Seconds(async (call) => {
    await call.send(...call.task.begin());
    while (!call.left) await call.send(call.task.text("x".repeat(64 * 1024)));
  }, false));
