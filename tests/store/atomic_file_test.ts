import assert from "node:assert/strict";
import { RENAME_RETRY_MS } from "../../src/limits.ts";
import { type FileSystem, replaceFile, systemFiles, TEMP_SUFFIX } from "../../src/store/atomic_file.ts";
import { removeTempFiles, threadFiles } from "../../src/store/thread_files.ts";
import { createRegistry } from "../../src/thread/registry.ts";
import { recordRun } from "../../src/thread/thread.ts";
import { inFolder, namesIn } from "../support/folders.ts";
import { EXECUTION, threadOf } from "../support/threads.ts";

/** The system's files with each call told to `called` first, which may throw in its place. */
function watched(called: (call: string) => void): FileSystem {
  const around = <T>(call: string, then: () => Promise<T>): Promise<T> => {
    try {
      called(call);
    } catch (error) {
      return Promise.reject(error);
    }
    return then();
  };
  return {
    ...systemFiles,
    isSpecial: (path) => around("look at the target", () => systemFiles.isSpecial(path)),
    openFolder: (path) =>
      around("open the folder", async () => {
        const folder = await systemFiles.openFolder(path);
        return { sync: () => around("sync the folder", () => folder.sync()), close: () => folder.close() };
      }),
    createNew: (path) =>
      around("create the temp file", async () => {
        const file = await systemFiles.createNew(path);
        return {
          write: async (data) => {
            // A disk that is full takes a part.
            await file.write(data.subarray(0, data.length / 2));
            await around("write", () => file.write(data.subarray(data.length / 2)));
          },
          sync: () => around("sync the temp file", () => file.sync()),
          close: () => file.close(),
        };
      }),
    rename: (from, to) => around("rename", () => systemFiles.rename(from, to)),
    remove: (path) => around("remove the temp file", () => systemFiles.remove(path)),
  };
}

const STEPS = [
  "look at the target",
  "open the folder",
  "create the temp file",
  "write",
  "sync the temp file",
  "rename",
  "sync the folder",
];

function failing(...steps: string[]): FileSystem {
  return watched((call) => {
    if (steps.includes(call)) throw new Error(`cannot ${call}`);
  });
}

/** Waits that are over at once, and how long they would have been. */
function counted(fs: FileSystem): FileSystem & { waitedMs: number } {
  const counting = { ...fs, waitedMs: 0, sleep: (ms: number) => Promise.resolve(void (counting.waitedMs += ms)) };
  return counting;
}

Deno.test("a file is replaced by temp file, sync, rename and sync of its folder, in this order", () =>
  inFolder(async (folder) => {
    const calls: string[] = [];
    const fs = watched((call) => void calls.push(call));
    await replaceFile(fs, folder, "a.json", "first");
    await replaceFile(fs, folder, "a.json", "second ü");
    assert.deepEqual(calls, [...STEPS, ...STEPS]);
    assert.equal(await Deno.readTextFile(`${folder}/a.json`), "second ü");
    assert.deepEqual(await namesIn(folder), ["a.json"]);
  }));

Deno.test({
  name: "only the owner may read a file that was written",
  ignore: Deno.build.os === "windows",
  fn: () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/a.json`, "old", { mode: 0o644 });
      await replaceFile(systemFiles, folder, "a.json", "new");
      assert.equal(((await Deno.stat(`${folder}/a.json`)).mode ?? 0) & 0o777, 0o600);
    }),
});

Deno.test("whichever system call fails, the old file is whole, no temp file is left, and memory is as the file", async () => {
  for (const step of STEPS) {
    await inFolder(async (folder) => {
      const before = threadOf();
      const after = recordRun(before, "run-2", "2".repeat(64));
      const fallbackExpiry = () => null;
      await threadFiles({ folder, fallbackExpiry }).save(before);
      const old = await Deno.readTextFile(`${folder}/thread-1.json`);
      const registry = createRegistry(threadFiles({ folder, fallbackExpiry, fs: failing(step) }));
      await registry.hold("thread-1", async (held) => {
        assert.deepEqual(await held.read(), before);
        await assert.rejects(held.write(after), { message: `cannot ${step}` });
        const kept = await threadFiles({ folder, fallbackExpiry }).load("thread-1");
        assert.deepEqual(await held.read(), kept, step);
        assert.deepEqual(kept, step === "sync the folder" ? after : before, step);
      });
      if (step !== "sync the folder") assert.equal(await Deno.readTextFile(`${folder}/thread-1.json`), old, step);
      assert.deepEqual(await namesIn(folder), ["thread-1.json"], step);
    });
  }
});

Deno.test("whichever system call fails at a thread's first write, there is no file, or the whole one", async () => {
  for (const step of STEPS) {
    await inFolder(async (folder) => {
      const thread = threadOf();
      await assert.rejects(threadFiles({ folder, fallbackExpiry: () => null, fs: failing(step) }).save(thread));
      const kept = await threadFiles({ folder, fallbackExpiry: () => null }).load("thread-1");
      assert.deepEqual(kept, step === "sync the folder" ? thread : undefined, step);
      assert.deepEqual(await namesIn(folder), step === "sync the folder" ? ["thread-1.json"] : [], step);
    });
  }
});

Deno.test("after any failure the next write works", async () => {
  for (const step of STEPS) {
    await inFolder(async (folder) => {
      let broken = true;
      const fs = watched((call) => {
        if (broken && call === step) throw new Error(`cannot ${call}`);
      });
      const registry = createRegistry(threadFiles({ folder, fallbackExpiry: () => null, fs }));
      await assert.rejects(registry.hold("thread-1", (held) => held.write(threadOf())));
      broken = false;
      await registry.hold("thread-1", (held) => held.write(threadOf({ sessionId: "after" })));
      await registry.change("thread-1", EXECUTION, { change: "end" });
      const thread = await registry.hold("thread-1", (held) => held.read());
      assert.deepEqual([thread?.sessionId, thread?.terminal], ["after", [EXECUTION]]);
      assert.deepEqual(await namesIn(folder), ["thread-1.json"]);
    });
  }
});

Deno.test("a temp file that cannot be removed either is told by the first error, and removed at the next start", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a.json`, "old");
    const fs = failing("rename", "remove the temp file");
    await assert.rejects(replaceFile(fs, folder, "a.json", "new"), { message: "cannot rename" });
    assert.equal(await Deno.readTextFile(`${folder}/a.json`), "old");
    assert.equal((await namesIn(folder)).filter((name) => name.endsWith(TEMP_SUFFIX)).length, 1);
    assert.equal(await removeTempFiles(folder), 1);
    assert.deepEqual(await namesIn(folder), ["a.json"]);
  }));

Deno.test("a rename that is refused for a moment is tried again for a second, then it has failed", () =>
  inFolder(async (folder) => {
    for (const refusal of [new Deno.errors.PermissionDenied("held"), new Deno.errors.Busy("held")]) {
      let refusals = 5;
      const soon = counted(watched((call) => {
        if (call === "rename" && refusals-- > 0) throw refusal;
      }));
      await replaceFile(soon, folder, "a.json", "new");
      assert.equal(soon.waitedMs, 250);
      const never = counted(watched((call) => {
        if (call === "rename") throw refusal;
      }));
      await assert.rejects(replaceFile(never, folder, "a.json", "newer"), refusal);
      assert.equal(never.waitedMs, RENAME_RETRY_MS);
    }
    assert.equal(await Deno.readTextFile(`${folder}/a.json`), "new");
    assert.deepEqual(await namesIn(folder), ["a.json"]);
  }));

Deno.test("a rename that fails otherwise is not tried again", () =>
  inFolder(async (folder) => {
    const fs = counted(failing("rename"));
    await assert.rejects(replaceFile(fs, folder, "a.json", "new"));
    assert.equal(fs.waitedMs, 0);
  }));

Deno.test("a target that is a link or a folder is refused and left as it is", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/secret`, "untouched");
    await Deno.symlink(`${folder}/secret`, `${folder}/link.json`);
    await Deno.symlink(`${folder}/missing`, `${folder}/dangling.json`);
    await Deno.mkdir(`${folder}/folder.json`);
    const before = await namesIn(folder);
    for (const name of ["link.json", "dangling.json", "folder.json"]) {
      await assert.rejects(replaceFile(systemFiles, folder, name, "new"), /not a plain file/);
      assert.equal((await Deno.lstat(`${folder}/${name}`)).isFile, false);
    }
    assert.equal(await Deno.readTextFile(`${folder}/secret`), "untouched");
    assert.deepEqual(await namesIn(folder), before);
  }));

Deno.test("a temp file that is there already is never written into", () =>
  inFolder(async (folder) => {
    const fs = { ...systemFiles, newName: () => "same" };
    await Deno.symlink(`${folder}/elsewhere`, `${folder}/.same${TEMP_SUFFIX}`);
    await assert.rejects(replaceFile(fs, folder, "a.json", "new"), Deno.errors.AlreadyExists);
    assert.deepEqual(await namesIn(folder), [`.same${TEMP_SUFFIX}`]);
  }));

Deno.test("a reader finds the old file or the new one whole, however often it is replaced", () =>
  inFolder(async (folder) => {
    const texts = ["a", "b"].map((character) => character.repeat(200_000));
    await replaceFile(systemFiles, folder, "a.json", texts[0] ?? "");
    let writing = true;
    const reading = (async () => {
      let reads = 0;
      for (; writing; reads++) assert.ok(texts.includes(await Deno.readTextFile(`${folder}/a.json`)));
      return reads;
    })();
    for (let at = 0; at < 30; at++) await replaceFile(systemFiles, folder, "a.json", texts[at % 2] ?? "");
    writing = false;
    assert.ok(await reading > 5);
  }));
