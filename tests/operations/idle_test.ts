import assert from "node:assert/strict";
import { untilIdle, watchStore } from "../../src/idle.ts";
import type { Thread } from "../../src/thread/thread.ts";
import { fakeClock } from "../support/fake_clock.ts";
import { inFolder } from "../support/folders.ts";
import { pendingOf, permission, threadOf } from "../support/threads.ts";
import { readEvents } from "../support/run_reader.ts";
import { runInput } from "../support/service_process.ts";
import { startProgram, urlOf } from "./program.ts";

const IDLE_MS = 10_000;

/** A service that watches for 10 s of idleness, on a clock that stands until it is moved. */
function watched(saved: readonly Thread[] = []) {
  const clock = fakeClock();
  const files = new Map(saved.map((thread) => [thread.threadId, thread]));
  const store = watchStore({
    load: (threadId) => Promise.resolve(files.get(threadId)),
    save: (thread) => Promise.resolve(void files.set(thread.threadId, thread)),
  }, clock);
  const services = { runs: new Set<string>(), clock, aftermath: { size: 0 } };
  const end = new AbortController();
  let outcome: boolean | undefined;
  const over = untilIdle(services, store, IDLE_MS, end.signal)
    .then((isIdle) => void (outcome = isIdle));
  return {
    store,
    services,
    clock,
    outcome: () => outcome,
    async stop() {
      end.abort();
      await over;
    },
  };
}

Deno.test("a service that does nothing is idle after the time, not before", async () => {
  const service = watched();
  await service.clock.advance(IDLE_MS - 1);
  assert.equal(service.outcome(), undefined);
  await service.clock.advance(1_000);
  assert.equal(service.outcome(), true);
});

Deno.test("a signal ends the watch without idleness", async () => {
  const service = watched();
  await service.stop();
  assert.equal(service.outcome(), false);
});

Deno.test("a run, or a cancel on its way, keeps it up, and its end starts the time anew", async () => {
  for (const part of ["run", "aftermath"] as const) {
    const service = watched();
    if (part === "run") service.services.runs.add("run-1");
    else service.services.aftermath.size = 1;
    await service.clock.advance(10 * IDLE_MS);
    assert.equal(service.outcome(), undefined, part);
    service.services.runs.clear();
    service.services.aftermath.size = 0;
    await service.clock.advance(IDLE_MS - 1_000);
    assert.equal(service.outcome(), undefined, part);
    await service.clock.advance(2_000);
    assert.equal(service.outcome(), true, part);
  }
});

Deno.test("a run between two looks counts as well: the store was used", async () => {
  const service = watched();
  await service.clock.advance(IDLE_MS - 1);
  await service.store.load("thread-1");
  await service.clock.advance(IDLE_MS - 1);
  assert.equal(service.outcome(), undefined);
  await service.clock.advance(2_000);
  assert.equal(service.outcome(), true);
});

Deno.test("an interrupt that may still be answered keeps it up until it is answered or expires", async () => {
  const expiresAt = Date.UTC(2026, 0, 1) + 60_000;
  const asks = threadOf({ execution: { pending: pendingOf([permission("p")], { expiresAt }) } });
  const answered = threadOf();

  const expiring = watched();
  await expiring.store.save(asks);
  await expiring.clock.advance(59_000);
  assert.equal(expiring.outcome(), undefined);
  await expiring.clock.advance(IDLE_MS + 2_000);
  assert.equal(expiring.outcome(), true);

  const answering = watched([asks]);
  await answering.store.load(asks.threadId);
  await answering.clock.advance(30_000);
  assert.equal(answering.outcome(), undefined);
  await answering.store.save(answered);
  await answering.clock.advance(IDLE_MS + 1_000);
  assert.equal(answering.outcome(), true);
});

Deno.test("an interrupt without an expiry keeps it up for ever", async () => {
  const service = watched();
  await service.store.save(threadOf({ execution: { pending: pendingOf([permission("p")], { expiresAt: null }) } }));
  await service.clock.advance(300_000);
  assert.equal(service.outcome(), undefined);
  await service.stop();
});

Deno.test("--idle-shutdown waits for an interrupt to expire, then ends the program, exit code 0", async () => {
  await inFolder(async (folder) => {
    const flags = ["--idle-shutdown", "0.4", "--interrupt-ttl", "2", "--demo"];
    const args = ["--port", "0", "--state-dir", `${folder}/state`, "--allowed-cwds", folder, ...flags];
    await using program = startProgram({ args });
    const url = await urlOf(program);
    const began = performance.now();
    const response = await fetch(url, {
      method: "POST",
      body: JSON.stringify(runInput(folder, "thread-1", "run-1", { text: "Please ask me for a permission." })),
      headers: { "content-type": "application/json" },
    });
    const last = await (await readEvents(response)).last();
    assert.equal(last.type, "RUN_FINISHED");
    assert.equal(await program.ended, 0);
    assert.ok(performance.now() - began >= 2_400, "not before the interrupt expired");
    assert.match(program.output(), /idle\n.*stopping runs=0/);
  });
});
