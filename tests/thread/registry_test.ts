import assert from "node:assert/strict";
import { admit } from "../../src/admission/admit.ts";
import { threadFiles } from "../../src/store/thread_files.ts";
import { type ActiveRun, createRegistry, type Registry, type ThreadStore } from "../../src/thread/registry.ts";
import { beginExecution, recordRun, type Thread } from "../../src/thread/thread.ts";
import { inFolder } from "../support/folders.ts";
import { EXECUTION, requestOf, threadOf } from "../support/threads.ts";

/** A store in memory whose calls are counted, and whose saves can fail or wait. */
function memoryStore(...threads: Thread[]) {
  const kept = new Map(threads.map((thread) => [thread.threadId, thread]));
  const store = {
    kept,
    loads: 0,
    saves: 0,
    /** Runs before a save; what it throws is the save's failure. */
    beforeSave: (_thread: Thread): void | Promise<void> => undefined,
    async load(threadId: string): Promise<Thread | undefined> {
      store.loads++;
      return await Promise.resolve(kept.get(threadId));
    },
    async save(thread: Thread): Promise<void> {
      store.saves++;
      await store.beforeSave(thread);
      kept.set(thread.threadId, thread);
    },
  };
  return store satisfies ThreadStore;
}

function run(runId: string, executionId = EXECUTION): ActiveRun {
  return { runId, executionId, stop: () => Promise.resolve() };
}

const read = (registry: Registry, threadId = "thread-1") => registry.hold(threadId, (held) => held.read());

Deno.test("work on one thread is done one after the other, in the order in which it came", async () => {
  const registry = createRegistry(memoryStore());
  const steps: string[] = [];
  const first = Promise.withResolvers<void>();
  const work = (name: string, until: Promise<void>) =>
    registry.hold("thread-1", async () => {
      steps.push(`${name} begins`);
      await until;
      steps.push(`${name} ends`);
      return name;
    });
  const all = [work("a", first.promise), work("b", Promise.resolve()), work("c", Promise.resolve())];
  await read(registry, "thread-2");
  assert.deepEqual(steps, ["a begins"]);
  first.resolve();
  assert.deepEqual(await Promise.all(all), ["a", "b", "c"]);
  assert.deepEqual(steps, ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
});

Deno.test("one thread never waits for another", async () => {
  const registry = createRegistry(memoryStore());
  const stuck = Promise.withResolvers<void>();
  const held = registry.hold("stuck", () => stuck.promise);
  for (let at = 0; at < 100; at++) assert.equal(await read(registry, `thread-${at}`), undefined);
  assert.equal(registry.size, 1);
  stuck.resolve();
  await held;
});

Deno.test("work that fails fails its caller alone: the next one has its turn", async () => {
  const registry = createRegistry(memoryStore(threadOf()));
  const failing = registry.hold("thread-1", () => Promise.reject(new Error("no")));
  const throwing = registry.hold("thread-1", () => {
    throw new Error("never");
  });
  const next = read(registry);
  await assert.rejects(failing, /no/);
  await assert.rejects(throwing, /never/);
  assert.equal((await next)?.threadId, "thread-1");
  assert.equal(registry.size, 0);
});

Deno.test("a thread that nobody uses leaves memory, and is read from its file again", async () => {
  const store = memoryStore(threadOf());
  const registry = createRegistry(store);
  await read(registry);
  assert.equal(registry.size, 0);
  const changed = threadOf({ sessionId: "written by another program" });
  store.kept.set("thread-1", changed);
  assert.equal(await read(registry), changed);
  assert.equal(store.loads, 2);
});

Deno.test("while a run is active its thread is kept: its changes need not read the file", async () => {
  const store = memoryStore(threadOf());
  const registry = createRegistry(store);
  const active = run("run-1");
  await registry.hold("thread-1", async (held) => {
    await held.read();
    held.activate(active);
  });
  for (let at = 0; at < 5; at++) {
    const position = { pipelineSequence: at + 1, openSteps: [], shownText: [] };
    await registry.change("thread-1", EXECUTION, { change: "position", position });
  }
  assert.deepEqual([store.loads, store.saves, registry.size], [1, 5, 1]);
  assert.equal(store.kept.get("thread-1")?.execution.pipelineSequence, 5);
  registry.release("thread-1", active);
  assert.equal(registry.size, 0);
});

Deno.test("of an active run's thread only a part may be known: what another request is about is read from the file", async () => {
  const whole = recordRun(threadOf(), "old-run", "1".repeat(64));
  const part = { ...threadOf(), isPart: true };
  const store = {
    ...memoryStore(),
    load: (_: string, about?: string) => Promise.resolve(about === "old-run" ? whole : part),
  };
  const registry = createRegistry(store);
  await registry.hold("thread-1", async (held) => {
    held.activate(run("run-2"));
    assert.deepEqual(await held.read("run-2"), part);
    assert.deepEqual(await held.read("old-run"), whole);
    assert.deepEqual(await held.read("run-3"), whole, "the whole thread answers for every id");
  });
});

Deno.test("the active run is seen by whoever holds the thread, until it is released", async () => {
  const registry = createRegistry(memoryStore());
  const [first, second] = [run("run-1"), run("run-2")];
  const seen = () => registry.hold("thread-1", (held) => Promise.resolve(held.active));
  await registry.hold("thread-1", (held) => Promise.resolve(held.activate(first)));
  assert.equal(await seen(), first);
  assert.deepEqual(registry.active(), [first]);
  registry.release("thread-1", second);
  registry.release("thread-2", first);
  assert.equal(await seen(), first, "only the run itself frees its thread");
  registry.release("thread-1", first);
  assert.equal(await seen(), undefined);
  assert.deepEqual([registry.active(), registry.size], [[], 0]);
});

Deno.test("a run that is released while work waits does not take the queue away", async () => {
  const registry = createRegistry(memoryStore());
  const active = run("run-1");
  await registry.hold("thread-1", (held) => Promise.resolve(held.activate(active)));
  const going = Promise.withResolvers<void>();
  let busy = 0;
  const alone = async () => {
    assert.equal(++busy, 1);
    await going.promise;
    busy--;
  };
  const first = registry.hold("thread-1", alone);
  registry.release("thread-1", active);
  const second = registry.hold("thread-1", alone);
  going.resolve();
  await Promise.all([first, second]);
  assert.equal(registry.size, 0);
});

Deno.test("a failed write leaves memory as the file is", async () => {
  const before = threadOf();
  const store = memoryStore(before);
  const registry = createRegistry(store);
  const active = run("run-1");
  store.beforeSave = () => {
    throw new Error("no space");
  };
  await registry.hold("thread-1", async (held) => {
    const thread = await held.read();
    assert.ok(thread);
    await assert.rejects(held.write(recordRun(thread, "run-2", "2".repeat(64))), /no space/);
    assert.equal(await held.read(), before, "within the same turn");
    held.activate(active);
  });
  await assert.rejects(registry.change("thread-1", EXECUTION, { change: "end" }), /no space/);
  assert.equal(await read(registry), before, "while a run is active");
  store.beforeSave = () => undefined;
  await registry.change("thread-1", EXECUTION, { change: "end" });
  assert.deepEqual((await read(registry))?.terminal, [EXECUTION], "once there is space again");
});

Deno.test("a write that fails after the file was replaced is believed as far as the file goes", async () => {
  const store = memoryStore(threadOf());
  const registry = createRegistry(store);
  const active = run("run-1");
  const written = threadOf({ sessionId: "new" });
  store.beforeSave = (thread) => {
    store.kept.set("thread-1", thread);
    throw new Error("the folder could not be synced");
  };
  await registry.hold("thread-1", async (held) => {
    held.activate(active);
    await assert.rejects(held.write(written));
  });
  assert.equal(await read(registry), written);
});

Deno.test("a change of a run whose execution is over, or whose file is gone, writes nothing", async () => {
  const store = memoryStore(threadOf());
  const registry = createRegistry(store);
  await registry.change("thread-1", "older", { change: "end" });
  await registry.change("thread-2", EXECUTION, { change: "end" });
  assert.equal(store.saves, 0);
});

Deno.test("a file that cannot be read rejects, each time anew", async () => {
  const store = memoryStore();
  store.load = () => {
    store.loads++;
    return Promise.reject(new Error("damaged"));
  };
  const registry = createRegistry(store);
  for (let at = 1; at <= 2; at++) {
    await assert.rejects(read(registry), /damaged/);
    await assert.rejects(registry.change("thread-1", EXECUTION, { change: "end" }), /damaged/);
    assert.deepEqual([store.loads, registry.size], [2 * at, 0]);
  }
});

/** Admits a run as the service does: read, decide, write, activate; the code of a refusal otherwise. */
function attempt(registry: Registry, runId: string, executionId: string): Promise<ActiveRun | string> {
  return registry.hold("thread-1", async (held) => {
    const admission = admit({
      request: requestOf({ runId }),
      cwd: "/work",
      digest: "d".repeat(64),
      thread: await held.read(),
      busy: held.active !== undefined,
      now: 0,
      newExecutionId: executionId,
      language: "en",
    });
    if (admission.is === "refused") return admission.refusal.code;
    await held.write(admission.thread);
    const active = run(runId, executionId);
    held.activate(active);
    return active;
  });
}

function registryIn(folder: string): Registry {
  return createRegistry(threadFiles({ folder, fallbackExpiry: () => null }));
}

Deno.test("of 50 first runs at once on a new thread one is admitted, and the thread is free after it", () =>
  inFolder(async (folder) => {
    const registry = registryIn(folder);
    const runs = Array.from({ length: 50 }, (_, at) => attempt(registry, `run-${at}`, `execution-${at}`));
    const [first, ...others] = await Promise.all(runs);
    assert.ok(typeof first === "object");
    assert.deepEqual(others, new Array(49).fill("THREAD_BUSY"));
    registry.release("thread-1", first);
    assert.equal(typeof await attempt(registry, "run-99", "execution-99"), "object");
    const known = await read(registryIn(folder));
    assert.deepEqual([...known?.runs.keys() ?? []], ["run-0", "run-99"]);
  }));

Deno.test("of the same request many times at once one is admitted, on a new thread and on a known one", () =>
  inFolder(async (folder) => {
    const registry = registryIn(folder);
    for (const runId of ["run-1", "run-2"]) {
      const runs = Array.from({ length: 10 }, (_, at) => attempt(registry, runId, `execution-${at}-of-${runId}`));
      const [first, ...others] = await Promise.all(runs);
      assert.ok(typeof first === "object");
      assert.deepEqual(others, new Array(9).fill("DUPLICATE_RUN_ID"));
      registry.release("thread-1", first);
    }
    assert.deepEqual((await read(registry))?.execution.executionId, "execution-0-of-run-2");
  }));

Deno.test("a run's late change never overtakes the execution that came after it", async () => {
  const store = memoryStore(threadOf());
  const registry = createRegistry(store);
  const saving = Promise.withResolvers<void>();
  store.beforeSave = () => saving.promise;
  const next = registry.hold("thread-1", async (held) => {
    const thread = await held.read();
    assert.ok(thread);
    await held.write(beginExecution(thread, "next", "invocation-2"));
  });
  const late = registry.change("thread-1", EXECUTION, { change: "task", taskId: "old", sessionId: "old" });
  saving.resolve();
  await Promise.all([next, late]);
  const { execution, sessionId } = store.kept.get("thread-1") ?? threadOf();
  assert.deepEqual([execution.executionId, execution.taskId, sessionId], ["next", null, "session-1"]);
});
