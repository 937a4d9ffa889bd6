/** Many clients that leave at random moments: who was mid-run is cancelled, once, and everything is given back. */
import assert from "node:assert/strict";
import { type Log, type LogFields, silentLog } from "../../src/log.ts";
import { contextIdOf } from "../../src/thread/thread.ts";
import { seeded } from "../support/random.ts";
import { connect, postBytes } from "../support/raw_client.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { type Script, type StandInKernel, startStandIn } from "../support/stand_in_kernel.ts";

const CLIENTS = 100;
const MOST_READS = 16;
const SETTLED_WITHIN_MS = 5_000;
const random = seeded(20260101);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function openFiles(): Promise<number> {
  return (await Array.fromAsync(Deno.readDir("/proc/self/fd"))).length;
}

/** Speaks for a random time, with random silences, one of which may come before its first byte. */
function speaker(): Script {
  const words = random.between(0, 8);
  const silences = Array.from({ length: words + 1 }, () => random.chance(0.3) ? 0 : random.between(0, 40));
  return async ({ send, task }) => {
    await pause(silences[0] ?? 0);
    await send(...task.begin());
    for (const silence of silences.slice(1)) {
      await pause(silence);
      await send(task.text("word "));
    }
    await send(...task.finish("word ".repeat(words)));
  };
}

interface Ended {
  readonly task: unknown;
  readonly end: unknown;
}

function noteEnds(ends: Map<string, Ended>, complaints: string[]): Log {
  const complain = (message: string, fields: LogFields = {}): void =>
    void complaints.push(`${message} ${JSON.stringify(fields)}`);
  return {
    ...silentLog,
    warn: complain,
    error: complain,
    info(message, { thread, task, end } = {}) {
      if (message === "run") ends.set(String(thread), { task, end });
    },
  };
}

/** A client that leaves after a random number of reads, in a random way; tells whether it has read the end. */
async function visit(server: TestServer, name: string): Promise<boolean> {
  const reads = random.between(0, MOST_READS);
  const isHalf = random.chance(0.3);
  const client = await connect(server.port, postBytes(server.input(name, "run-1")));
  const decoder = new TextDecoder();
  let text = "";
  for (let read = 0; read < reads && !text.includes("RUN_FINISHED"); read++) {
    text += decoder.decode(await client.some(64 * 1024), { stream: true });
  }
  if (isHalf) {
    await client.halfClose();
    while (await client.some(64 * 1024));
  }
  client.close();
  return text.includes("RUN_FINISHED");
}

async function settled({ services: { runs, aftermath } }: TestServer): Promise<void> {
  while (runs.size > 0) await Promise.all([...runs].map(({ finished }) => finished));
  await aftermath.settled();
}

async function backTo(baseLine: number, kernel: StandInKernel): Promise<number> {
  const until = performance.now() + SETTLED_WITHIN_MS;
  for (let open = Infinity;; await pause(20)) {
    await kernel.closeIdle();
    open = await openFiles();
    if (open <= baseLine || performance.now() > until) return open;
  }
}

Deno.test("100 clients leave at random moments: exactly those mid-run are cancelled, and sockets are given back", async () => {
  const unhandled: unknown[] = [];
  const note = (event: PromiseRejectionEvent): void => void unhandled.push(event.reason);
  globalThis.addEventListener("unhandledrejection", note);
  const ends = new Map<string, Ended>();
  const complaints: string[] = [];
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url, { heartbeatMs: 50, log: noteEnds(ends, complaints) });
  kernel.turn((call) => call.send(...call.task.begin(), ...call.task.finish("")));
  const first = await connect(server.port, postBytes(server.input("first", "run-1")));
  await first.until("RUN_FINISHED");
  first.close();
  await settled(server);
  await kernel.closeIdle();
  const baseLine = await openFiles();

  kernel.turn(...Array.from({ length: CLIENTS }, speaker));
  const reads = await Promise.all(Array.from({ length: CLIENTS }, (_, at) => visit(server, `client-${at}`)));
  await settled(server);

  const cancelled = kernel.got("CancelTask").map(({ params }) => params.id);
  assert.equal(new Set(cancelled).size, cancelled.length, "each once");
  const all = [...ends.values()];
  const leftMidRun = all.filter(({ end }) => end === "CANCELLED").map(({ task }) => task);
  const known = leftMidRun.filter((task) => task !== undefined);
  const finished = all.filter(({ end }) => end === "success").map(({ task }) => task);
  assert.equal(leftMidRun.length + finished.length, all.length, JSON.stringify(all.map(({ end }) => end)));
  assert.ok(leftMidRun.length > 10 && finished.length > 10, `${leftMidRun.length} left, ${finished.length} finished`);
  assert.equal(cancelled.length, leftMidRun.length, "one CancelTask for each that left mid-run");
  for (const task of known) assert.ok(cancelled.includes(String(task)), `${task} works on for nobody`);
  for (const task of finished) assert.ok(!cancelled.includes(String(task)), `${task} had ended`);
  const sawTheEnd = reads.filter((read) => read).length;
  assert.ok(sawTheEnd > 0 && sawTheEnd <= finished.length);

  assert.ok(await backTo(baseLine, kernel) <= baseLine, "sockets and files are back to the base line");
  assert.equal(server.services.registry.size, 0, "every thread is free");
  globalThis.removeEventListener("unhandledrejection", note);
  assert.deepEqual(unhandled, []);
  assert.deepEqual(complaints, []);
});

Deno.test("200 clients at once each get their own stream, whole", async () => {
  const count = 200;
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  kernel.turn(...Array.from({ length: count }, (): Script => async ({ send, task }) => {
    await send(...task.begin(), ...Array.from({ length: 20 }, () => task.text(`${task.contextId} `)));
    await send(...task.finish(`${task.contextId} `.repeat(20)));
  }));
  const texts = await Promise.all(Array.from({ length: count }, async (_, at) => {
    const run = await server.run(`thread-${at}`, "run-1");
    assert.equal((await run.last()).type, "RUN_FINISHED");
    return run.text();
  }));
  assert.equal(new Set(texts).size, count);
  for (const [at, text] of texts.entries()) assert.equal(text, `${contextIdOf(`thread-${at}`)} `.repeat(20));
  assert.deepEqual(server.complaints, []);
});
