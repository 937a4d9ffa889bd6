import assert from "node:assert/strict";
import { RUN_DIGESTS, TERMINAL_EXECUTIONS } from "../../src/limits.ts";
import { type FileSystem, systemFiles } from "../../src/store/atomic_file.ts";
import { KEPT, KEPT_AT_MOST } from "../../src/store/older_runs.ts";
import { olderFolderOf, removeTempFiles, threadFiles } from "../../src/store/thread_files.ts";
import { recordRun, type Thread } from "../../src/thread/thread.ts";
import type { ThreadStore } from "../../src/thread/registry.ts";
import { inFolder, namesIn } from "../support/folders.ts";
import { threadOf } from "../support/threads.ts";

const NAME = "thread-1.json";

/** The disk without the waits for it: thousands of turns are saved here, and none has to outlive a power failure. */
const unsynced: FileSystem = {
  ...systemFiles,
  openFolder: () => Promise.resolve({ sync: () => Promise.resolve(), close() {} }),
  createNew: async (path) => ({ ...await systemFiles.createNew(path), sync: () => Promise.resolve() }),
};

/** A store in `<state>/threads`, and the paths of a thread's two files. */
async function stateIn(state: string): Promise<{ store: ThreadStore; folder: string; own: string; second: string }> {
  const folder = `${state}/threads`;
  await Deno.mkdir(folder);
  return { store: reopened(folder), folder, own: `${folder}/${NAME}`, second: `${olderFolderOf(folder)}/${NAME}` };
}

function reopened(folder: string): ThreadStore {
  return threadFiles({ folder, olderFolder: olderFolderOf(folder), fallbackExpiry: () => null, fs: unsynced });
}

/** The thread after its nth turn. */
function afterTurn(thread: Thread, turn: number): Thread {
  const next = recordRun(thread, `run-${turn}`, turn.toString(16).padStart(64, "0"));
  return { ...next, terminal: [...next.terminal, `execution-${turn}`].slice(-TERMINAL_EXECUTIONS) };
}

/** Saves a thread turn by turn; gives it after the last. */
async function live(store: ThreadStore, from: Thread, first: number, last: number): Promise<Thread> {
  let thread = from;
  for (let turn = first; turn <= last; turn++) await store.save(thread = afterTurn(thread, turn));
  return thread;
}

function fresh(): Thread {
  return threadOf({ runs: new Map(), terminal: [] });
}

async function ownRuns(path: string): Promise<string[]> {
  return Object.keys(JSON.parse(await Deno.readTextFile(path)).runDigests);
}

Deno.test("a thread of up to 128 turns has one file", () =>
  inFolder(async (state) => {
    const { store, folder, own } = await stateIn(state);
    const thread = await live(store, fresh(), 1, KEPT_AT_MOST);
    assert.deepEqual(await namesIn(state), ["threads"]);
    assert.equal((await ownRuns(own)).length, KEPT_AT_MOST);
    assert.deepEqual(await reopened(folder).load("thread-1"), thread);
  }));

Deno.test("of a longer thread the newest stay in its file, and all are known after a restart", () =>
  inFolder(async (state) => {
    const { store, folder, own, second } = await stateIn(state);
    const thread = await live(store, fresh(), 1, KEPT_AT_MOST + 1);
    const newest = Array.from({ length: KEPT }, (_, at) => `run-${KEPT_AT_MOST + 1 - KEPT + 1 + at}`);
    assert.deepEqual(await ownRuns(own), newest);
    const { terminalExecutionIds } = JSON.parse(await Deno.readTextFile(own));
    assert.equal(terminalExecutionIds.length, KEPT);
    const loaded = await reopened(folder).load("thread-1");
    assert.deepEqual(loaded, thread);
    assert.deepEqual([...loaded?.runs.keys() ?? []], [...thread.runs.keys()]);
    assert.equal(((await Deno.stat(second)).mode ?? 0) & 0o777, 0o600);
  }));

Deno.test("the second file is replaced once in 64 turns, and the first never grows past 128", () =>
  inFolder(async (state) => {
    const { folder } = await stateIn(state);
    const written: string[] = [];
    const fs = { ...unsynced, rename: (from: string, to: string) => (written.push(to), Deno.rename(from, to)) };
    const olderFolder = olderFolderOf(folder);
    const store = threadFiles({ folder, olderFolder, fallbackExpiry: () => null, fs });
    let thread = fresh();
    let most = 0;
    for (let turn = 1; turn <= 1000; turn++) {
      // Three times a turn, as a run does.
      thread = afterTurn(thread, turn);
      for (let save = 0; save < 3; save++) await store.save(thread);
      if (turn % 50 === 0) most = Math.max(most, (await ownRuns(`${folder}/${NAME}`)).length);
    }
    assert.equal(
      written.filter((path) => path.startsWith(olderFolder)).length,
      Math.ceil((1000 - KEPT_AT_MOST) / KEPT),
    );
    assert.ok(most <= KEPT_AT_MOST);
    assert.deepEqual(await reopened(folder).load("thread-1"), thread);
  }));

Deno.test("a thread that goes on after a restart forgets nothing but what is older than the bounds", () =>
  inFolder(async (state) => {
    const { store, folder } = await stateIn(state);
    let many = fresh();
    for (let turn = 1; turn <= RUN_DIGESTS; turn++) many = afterTurn(many, turn);
    await store.save(many);
    const again = reopened(folder);
    const loaded = await again.load("thread-1");
    assert.deepEqual(loaded, many);
    const thread = await live(again, loaded ?? fresh(), RUN_DIGESTS + 1, RUN_DIGESTS + KEPT_AT_MOST);
    const last = await reopened(folder).load("thread-1");
    assert.deepEqual(last, thread);
    assert.deepEqual([last?.runs.size, last?.terminal.length], [RUN_DIGESTS, TERMINAL_EXECUTIONS]);
    assert.ok(!last?.runs.has(`run-${KEPT_AT_MOST}`));
  }));

Deno.test("a crash between the two files leaves both as they can be read", () =>
  inFolder(async (state) => {
    const { store, folder } = await stateIn(state);
    const before = await live(store, fresh(), 1, KEPT_AT_MOST);
    const failing = {
      ...unsynced,
      rename(from: string, to: string) {
        return to.startsWith(folder) ? Promise.reject(new Error("power is gone")) : Deno.rename(from, to);
      },
    };
    const crashing = threadFiles({
      folder,
      olderFolder: olderFolderOf(folder),
      fallbackExpiry: () => null,
      fs: failing,
    });
    await assert.rejects(crashing.save(afterTurn(before, KEPT_AT_MOST + 1)), /power is gone/);
    assert.deepEqual(await reopened(folder).load("thread-1"), before);
  }));

Deno.test("the second file is looked into for an id that may be in it, and for no other", () =>
  inFolder(async (state) => {
    const { store, folder, second } = await stateIn(state);
    const thread = await live(store, fresh(), 1, 1000);
    const again = reopened(folder);
    const first = await again.load("thread-1", "run-1001");
    assert.ok(first?.isPart && first.runs.size <= KEPT_AT_MOST);
    const whole = await Deno.readTextFile(second);
    await Deno.writeTextFile(second, "damaged");
    for (const about of ["run-1001", "execution-1001", "run-1000", "execution-1000"]) {
      assert.deepEqual(await again.load("thread-1", about), first);
    }
    for (const about of ["run-1", "execution-1"]) {
      await assert.rejects(again.load("thread-1", about), { name: "CorruptThread" });
    }
    await Deno.writeTextFile(second, whole);
    for (const about of ["run-1", "execution-1"]) assert.deepEqual(await again.load("thread-1", about), thread);
  }));

Deno.test("a thread that is never read as a whole forgets nothing", () =>
  inFolder(async (state) => {
    const { folder } = await stateIn(state);
    let all = fresh();
    await reopened(folder).save(all);
    let store = reopened(folder);
    for (let turn = 1; turn <= 1000; turn++) {
      // Every other process of the service has some hundred turns.
      if (turn % 300 === 0) store = reopened(folder);
      all = afterTurn(all, turn);
      const part = await store.load("thread-1", `run-${turn}`) ?? fresh();
      await store.save(afterTurn(part, turn));
    }
    assert.deepEqual(await reopened(folder).load("thread-1"), all);
  }));

Deno.test("when the second file cannot be written, nothing leaves the first", () =>
  inFolder(async (state) => {
    const { store, folder, own } = await stateIn(state);
    const before = await live(store, fresh(), 1, KEPT_AT_MOST);
    const text = await Deno.readTextFile(own);
    await Deno.writeTextFile(olderFolderOf(folder), "in the way");
    await assert.rejects(store.save(afterTurn(before, KEPT_AT_MOST + 1)));
    assert.equal(await Deno.readTextFile(own), text);
  }));

Deno.test("a second file that is damaged, or another thread's, makes the thread unusable and stays as it is", () =>
  inFolder(async (state) => {
    const { store, folder, second } = await stateIn(state);
    await live(store, fresh(), 1, KEPT_AT_MOST + 1);
    const whole = JSON.parse(await Deno.readTextFile(second));
    const damaged = [
      "",
      "null",
      "{",
      JSON.stringify({ ...whole, threadId: "thread-2" }),
      JSON.stringify({ ...whole, schemaVersion: 2 }),
      JSON.stringify({ ...whole, runs: [["run-1"]] }),
      JSON.stringify({ ...whole, runs: { "run-1": "1" } }),
      JSON.stringify({ ...whole, terminal: [1] }),
    ];
    for (const text of damaged) {
      await Deno.writeTextFile(second, text);
      await assert.rejects(reopened(folder).load("thread-1"), { name: "CorruptThread" });
      assert.equal(await Deno.readTextFile(second), text);
    }
    await Deno.writeTextFile(second, JSON.stringify(whole));
    assert.equal((await reopened(folder).load("thread-1"))?.runs.size, KEPT_AT_MOST + 1);
  }));

Deno.test("a long file that the Python adapter wrote is split with the first turn, and nothing is lost", () =>
  inFolder(async (state) => {
    const { folder, own } = await stateIn(state);
    let theirs = fresh();
    for (let turn = 1; turn <= 2000; turn++) theirs = afterTurn(theirs, turn);
    // Without a second folder a store writes what the Python adapter writes: one file.
    await threadFiles({ folder, fallbackExpiry: () => null, fs: unsynced }).save(theirs);
    assert.equal((await ownRuns(own)).length, 2000);
    const store = reopened(folder);
    const loaded = await store.load("thread-1");
    const thread = await live(store, loaded ?? fresh(), 2001, 2001);
    assert.equal((await ownRuns(own)).length, KEPT);
    assert.deepEqual(await reopened(folder).load("thread-1"), thread);
  }));

Deno.test("temporary files of a folder that was never needed are none", () =>
  inFolder(async (state) => {
    const { folder } = await stateIn(state);
    assert.equal(await removeTempFiles(olderFolderOf(folder)), 0);
  }));
