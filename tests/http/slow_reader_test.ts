/** Clients that read slowly, or not at all: the kernel is slowed down, nothing is lost, and who takes nothing is gone. */
import assert from "node:assert/strict";
import { connect, postBytes, type RawClient } from "../support/raw_client.ts";
import { startServer } from "../support/server.ts";
import { type Call, type Script, startStandIn } from "../support/stand_in_kernel.ts";

const MIB = 1024 * 1024;
/** What the sockets of both sides take on loopback, and 1 MiB of our own; without a bound it would be all of it. */
const HELD_BYTES = 32 * MIB;
const QUIET_MS = 200;

/** Says so many numbered pieces of 16 KiB. */
function speech(pieces: number): Script {
  return async ({ send, task }) => {
    await send(...task.begin());
    const filler = "x".repeat(16 * 1024);
    for (let at = 0; at < pieces; at++) await send(task.text(`<${at}>${filler}`));
    await send(task.milestone("COMPLETED"));
  };
}

/** The bytes that the service has taken from the kernel, once that has been the same for a while. */
async function takenAtRest(call: Call): Promise<number> {
  while (true) {
    const before = call.taken;
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    if (before > 0 && call.taken === before) return before;
  }
}

async function readNumbers(client: RawClient): Promise<number[]> {
  const decoder = new TextDecoder();
  const numbers: number[] = [];
  let rest = "";
  for (let bytes = await client.some(MIB); bytes; bytes = await client.some(MIB)) {
    rest += decoder.decode(bytes, { stream: true });
    const found = [...rest.matchAll(/<(\d+)>/g)];
    numbers.push(...found.map(([, number]) => Number(number)));
    if (rest.includes("RUN_FINISHED")) break;
    const last = found.at(-1);
    rest = rest.slice(Math.max(rest.length - 20, last ? last.index + last[0].length : 0));
  }
  return numbers;
}

Deno.test("a client that reads nothing slows the kernel down, and gets everything when it reads", async () => {
  const pieces = 6_000;
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  kernel.turn(speech(pieces));
  const client = await connect(server.port, postBytes(server.input("slow", "run-1")));
  const taken = await takenAtRest(await kernel.called("SendStreamingMessage"));
  assert.ok(taken < HELD_BYTES, `${(taken / MIB).toFixed(1)} of 94 MiB were taken from the kernel`);
  assert.equal((await (await server.run("other", "run-1")).last()).type, "RUN_FINISHED", "others are served meanwhile");
  assert.deepEqual(await readNumbers(client), Array.from({ length: pieces }, (_, at) => at));
  client.close();
  assert.equal(kernel.got("CancelTask").length, 0);
});

Deno.test("a client that takes no byte for the limit is gone: its task is cancelled, its thread free", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url, { edges: { stalledMs: 300 } });
  kernel.turn(speech(6_000));
  const client = await connect(server.port, postBytes(server.input("stalled", "run-1")));
  const { task } = await kernel.called("SendStreamingMessage");
  assert.equal((await kernel.called("CancelTask")).params.id, task.id);
  assert.equal((await (await server.run("stalled", "run-2")).last()).type, "RUN_FINISHED");
  const numbers = await readNumbers(client);
  assert.ok(numbers.length < 6_000, "the stream breaks off");
  client.close();
});

Deno.test("a client that reads slowly, but reads, is not gone", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url, { edges: { stalledMs: 400 } });
  kernel.turn(speech(6_000));
  const client = await connect(server.port, postBytes(server.input("slow", "run-1")));
  for (let read = 0; read < 20; read++) {
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.ok(await client.some(MIB));
  }
  assert.equal(kernel.got("CancelTask").length, 0);
  client.close();
  await kernel.called("CancelTask");
});
