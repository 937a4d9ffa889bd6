/** Clients that go away, in every way a connection can end: who left mid-run is cancelled, and nobody else. */
import assert from "node:assert/strict";
import { connect, postBytes, type RawClient } from "../support/raw_client.ts";
import { startServer, type TestServer } from "../support/server.ts";
import {
  askPermission,
  say,
  sayAndHold,
  type Script,
  type StandInKernel,
  startStandIn,
} from "../support/stand_in_kernel.ts";

const CANCEL_WITHIN_MS = 1_000;

interface Story {
  readonly kernel: StandInKernel;
  readonly server: TestServer;
  readonly client: RawClient;
}

/** A client on a thread `left` that leaves while the kernel does `script`, beside another client that stays. */
function leavingTest(title: string, script: Script, leave: (story: Story) => Promise<void> | void): void {
  Deno.test(title, async () => {
    await using kernel = startStandIn();
    await using server = await startServer(kernel.url);
    kernel.turn(sayAndHold("I stay."));
    const other = await server.run("stays", "run-1");
    await other.until("TEXT_MESSAGE_CONTENT");

    kernel.turn(script);
    const client = await connect(server.port, postBytes(server.input("left", "run-1")));
    const { task } = await kernel.called("SendStreamingMessage", 2);
    await leave({ kernel, server, client });
    const leftAt = performance.now();
    const cancelled = await kernel.called("CancelTask");
    assert.ok(performance.now() - leftAt < CANCEL_WITHIN_MS, "CancelTask is on its way within 1 s");
    assert.equal(cancelled.params.id, task.id);

    assert.equal((await (await server.run("left", "run-2")).last()).type, "RUN_FINISHED", "the thread is free");
    assert.deepEqual((await server.file("left")).terminalExecutionIds, await endedExecutions(server, 2));
    assert.equal(kernel.got("CancelTask").length, 1, "nobody else is cancelled");
    await other.leave();
    await kernel.called("CancelTask", 2);
    assert.deepEqual(server.complaints, []);
  });
}

/** The ids of the thread's executions, all of which are to have ended. */
async function endedExecutions(server: TestServer, count: number): Promise<unknown> {
  const { terminalExecutionIds } = await server.file("left");
  assert.ok(Array.isArray(terminalExecutionIds));
  assert.equal(new Set(terminalExecutionIds).size, count);
  return terminalExecutionIds;
}

/** Speaks without an end, as fast as it is heard. */
const burst: Script = async (call) => {
  await call.send(...call.task.begin());
  const words = Array.from({ length: 500 }, (_, at) => call.task.text(`word ${at} `));
  while (!call.left) await call.send(...words);
};

leavingTest("a client that leaves in the middle of a burst", burst, async ({ client }) => {
  await client.until("word 499");
  client.close();
});

leavingTest("a client that leaves while the kernel is silent", sayAndHold("Well, "), async ({ client }) => {
  await client.until("Well, ");
  client.close();
});

const silentUntilLeft = Promise.withResolvers<void>();
leavingTest("a client that leaves before the kernel's first byte", async (call) => {
  await silentUntilLeft.promise;
  await call.send(...call.task.begin());
  await call.gone;
}, async ({ client, server }) => {
  await client.until("RUN_STARTED");
  client.close();
  await untilFree(server);
  silentUntilLeft.resolve();
});

const headUntilLeft = Promise.withResolvers<void>();
leavingTest("a client that leaves between the kernel's head and its first frame", async (call) => {
  await call.raw(": welcome\r\n\r\n");
  await headUntilLeft.promise;
  await call.send(...call.task.begin());
  await call.gone;
}, async ({ client, server }) => {
  await client.until("RUN_STARTED");
  client.close();
  await untilFree(server);
  headUntilLeft.resolve();
});

leavingTest("a client that leaves before it has read a byte", sayAndHold("Anybody? "), ({ client }) => client.close());

leavingTest("a client that leaves by a reset, with bytes unread", burst, async ({ client }) => {
  await client.some(1);
  client.close();
});

leavingTest("a client that closes its half only counts as gone", sayAndHold("Hello? "), async ({ client }) => {
  await client.until("Hello? ");
  await client.halfClose();
  // The service ends the other half.
  while (await client.some(1024));
  client.close();
});

/** Waits until only the run that stays is left. */
async function untilFree({ services: { runs } }: TestServer): Promise<void> {
  while (runs.size > 1) await Promise.race([...runs].map(({ finished }) => finished));
}

Deno.test("a client that leaves after its run has ended, or was interrupted, changes nothing", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  for (const [threadId, script] of [["done", say("Done.")], ["asked", askPermission()]] as const) {
    kernel.turn(script);
    const client = await connect(server.port, postBytes(server.input(threadId, "run-1")));
    await client.until("RUN_FINISHED");
    client.close();
  }
  assert.equal((await (await server.run("done", "run-2")).last()).type, "RUN_FINISHED");
  const refused = await server.post(JSON.stringify(server.input("asked", "run-2")));
  assert.equal((await refused.json()).error.code, "RESUME_REQUIRED");
  assert.equal(kernel.got("CancelTask").length, 0);
});

Deno.test("a client that leaves while its body is on its way leaves no trace", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  const whole = postBytes(server.input("left", "run-1"));
  const client = await connect(server.port, whole.slice(0, -20));
  client.close();
  assert.equal((await (await server.run("other", "run-1")).last()).type, "RUN_FINISHED");
  assert.equal(kernel.got("SendStreamingMessage").length, 1);
  const files = await Array.fromAsync(Deno.readDir(server.threads), ({ name }) => name);
  assert.deepEqual(files, ["other.json"]);
  assert.deepEqual(server.complaints, []);
});
