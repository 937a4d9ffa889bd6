import assert from "node:assert/strict";
import { THREAD_FILE_BYTES } from "../../src/limits.ts";
import { TEMP_SUFFIX } from "../../src/store/atomic_file.ts";
import { encodeThread } from "../../src/store/codec.ts";
import { threadFileName } from "../../src/store/file_name.ts";
import { makeStateDirectory } from "../../src/store/state_directory.ts";
import { removeTempFiles, threadFiles } from "../../src/store/thread_files.ts";
import { contextIdOf } from "../../src/thread/thread.ts";
import { inFolder, namesIn } from "../support/folders.ts";
import { EXECUTION, pendingOf, permission, threadOf } from "../support/threads.ts";

function filesIn(folder: string) {
  return threadFiles({ folder, fallbackExpiry: () => 5000 });
}

/** Leaves temp files as a crash would. */
function litter(folder: string, count: number): void {
  for (let at = 0; at < count; at++) Deno.createSync(`${folder}/.${at}${TEMP_SUFFIX}`).close();
}

async function mode(path: string): Promise<number> {
  return ((await Deno.stat(path)).mode ?? 0) & 0o777;
}

Deno.test("a thread without a file is unknown", () =>
  inFolder(async (folder) => {
    assert.equal(await filesIn(folder).load("thread-1"), undefined);
    assert.equal(await filesIn(`${folder}/missing`).load("thread-1"), undefined);
    assert.deepEqual(await namesIn(folder), []);
  }));

Deno.test("whatever a thread is called, it has a file of its own and comes back", () =>
  inFolder(async (folder) => {
    const ids = [
      "thread-1",
      "con.txt",
      ".",
      "..",
      "a/../b",
      "../../escape",
      "Abc",
      "abc",
      "ABC",
      "ü",
      "u\u0308",
      "x".repeat(1024),
      "😀".repeat(1024),
      "__proto__",
      "constructor",
      "a\0b",
    ];
    const files = filesIn(folder);
    for (const threadId of ids) await files.save(threadOf({ threadId, sessionId: `of ${threadId}` }));
    for (const threadId of ids) {
      const thread = await files.load(threadId);
      assert.deepEqual([thread?.threadId, thread?.sessionId], [threadId, `of ${threadId}`]);
    }
    const names = await namesIn(folder);
    assert.deepEqual(names, ids.map(threadFileName).sort());
    assert.equal(new Set(names.map((name) => name.toLowerCase())).size, ids.length);
  }));

Deno.test("a file that the Python adapter wrote loads, and stays as it is until it is changed", () =>
  inFolder(async (folder) => {
    // json.dumps(..., indent=2) with the adapter's own order of keys.
    const text = `{
  "schemaVersion": 1,
  "threadId": "thread-1",
  "contextId": "${contextIdOf("thread-1")}",
  "cwd": "/work",
  "userId": null,
  "iacCodeSessionId": "session-1",
  "execution": {
    "executionId": "${EXECUTION}",
    "rosInvocationId": "invocation-1",
    "taskId": "task-1",
    "pipelineSequence": 12,
    "pipelineOpenSteps": [
      "candidate:c-1:deploy",
      "step:evaluate"
    ],
    "textSnapshotDigests": [],
    "pending": {
      "permission-1": {
        "value": ${JSON.stringify(permission("permission-1"))},
        "sideband": true
      }
    }
  },
  "runDigests": {
    "run-1": "${"1".repeat(64)}"
  },
  "appliedResumeDigests": [
    {
      "executionId": "${EXECUTION}",
      "interruptId": "permission-0",
      "digest": "${"2".repeat(64)}"
    }
  ],
  "terminalExecutionIds": []
}`;
    await Deno.writeTextFile(`${folder}/thread-1.json`, text);
    const thread = await filesIn(folder).load("thread-1");
    assert.deepEqual(
      thread,
      threadOf({
        execution: {
          taskId: "task-1",
          pipelineSequence: 12,
          openSteps: ["candidate:c-1:deploy", "step:evaluate"],
          pending: pendingOf([permission("permission-1")], { sideband: true, expiresAt: 5000 }),
        },
        applied: [{ executionId: EXECUTION, interruptId: "permission-0", digest: "2".repeat(64) }],
      }),
    );
    assert.equal(await Deno.readTextFile(`${folder}/thread-1.json`), text);
  }));

Deno.test("a damaged file rejects and is left untouched", () =>
  inFolder(async (folder) => {
    const path = `${folder}/thread-1.json`;
    const whole = encodeThread(threadOf());
    const bytes = new TextEncoder().encode(whole);
    const broken = bytes.slice();
    broken[whole.indexOf("session-1")] = 0xff;
    const contents: [name: string, content: Uint8Array, code: string][] = [
      ["empty", new Uint8Array(), "not JSON"],
      ["NULs", new Uint8Array(bytes.length), "not JSON"],
      ["half", bytes.subarray(0, bytes.length / 2), "not JSON"],
      ["garbage behind", new TextEncoder().encode(`${whole}}`), "not JSON"],
      ["a byte order mark", new TextEncoder().encode(`\ufeff${whole}`), "not JSON"],
      ["a byte that is no UTF-8", broken, "not UTF-8"],
      [
        "another schema",
        new TextEncoder().encode(whole.replace('"schemaVersion":1', '"schemaVersion":2')),
        "field schemaVersion",
      ],
      [
        "another thread's",
        new TextEncoder().encode(encodeThread(threadOf({ threadId: "thread-2" }))),
        "the file of another thread",
      ],
    ];
    for (const [name, content, code] of contents) {
      await Deno.writeFile(path, content);
      await assert.rejects(filesIn(folder).load("thread-1"), { name: "CorruptThread", code }, name);
      assert.deepEqual(await Deno.readFile(path), content, name);
    }
  }));

Deno.test("a file that is none, or far too large, is not read", () =>
  inFolder(async (folder) => {
    const outside = `${folder}/outside`;
    await Deno.writeTextFile(outside, encodeThread(threadOf()));
    const path = `${folder}/thread-1.json`;
    const plain = { name: "CorruptThread", code: "not a plain file" };
    for (const target of [outside, `${folder}/missing`]) {
      await Deno.symlink(target, path);
      await assert.rejects(filesIn(folder).load("thread-1"), plain);
      await assert.rejects(filesIn(folder).save(threadOf()), /not a plain file/);
      await Deno.remove(path);
    }
    await Deno.mkdir(path);
    await assert.rejects(filesIn(folder).load("thread-1"), plain);
    await assert.rejects(filesIn(folder).save(threadOf()), /not a plain file/);
    await Deno.remove(path);
    await Deno.create(path).then((file) => file.close());
    await Deno.truncate(path, THREAD_FILE_BYTES + 1);
    await assert.rejects(filesIn(folder).load("thread-1"), { name: "CorruptThread", code: "too large" });
  }));

Deno.test("a thread that could not be loaded again is not saved", () =>
  inFolder(async (folder) => {
    const files = filesIn(folder);
    await files.save(threadOf());
    const huge = permission("p", { displayParameters: { text: "x".repeat(THREAD_FILE_BYTES) } });
    await assert.rejects(files.save(threadOf({ execution: { pending: pendingOf([huge]) } })), /too large/);
    assert.deepEqual(await files.load("thread-1"), threadOf());
  }));

Deno.test("a folder that is deleted while the service runs is made again", () =>
  inFolder(async (stateDir) => {
    const folder = await makeStateDirectory(stateDir);
    const files = filesIn(folder);
    await files.save(threadOf());
    await Deno.remove(folder, { recursive: true });
    assert.equal(await files.load("thread-1"), undefined);
    await files.save(threadOf());
    assert.deepEqual(await files.load("thread-1"), threadOf());
    if (Deno.build.os !== "windows") assert.equal(await mode(folder), 0o700);
  }));

Deno.test({
  name: "the state directory is its owner's alone, also where it was there before",
  ignore: Deno.build.os === "windows",
  fn: () =>
    inFolder(async (parent) => {
      const stateDir = `${parent}/deep/state`;
      assert.equal(await makeStateDirectory(stateDir), `${stateDir}/threads`);
      await Deno.chmod(stateDir, 0o755);
      await Deno.chmod(`${stateDir}/threads`, 0o777);
      await makeStateDirectory(stateDir);
      assert.deepEqual([await mode(stateDir), await mode(`${stateDir}/threads`)], [0o700, 0o700]);
    }),
});

Deno.test("a state directory that is a file rejects", () =>
  inFolder(async (parent) => {
    await Deno.writeTextFile(`${parent}/state`, "x");
    await assert.rejects(makeStateDirectory(`${parent}/state`));
    await assert.rejects(makeStateDirectory(`${parent}/state/below`));
    assert.equal(await Deno.readTextFile(`${parent}/state`), "x");
  }));

Deno.test("10,000 temp files of a crash are removed at the start, and nothing else", () =>
  inFolder(async (folder) => {
    litter(folder, 10_000);
    await filesIn(folder).save(threadOf());
    await filesIn(folder).save(threadOf({ threadId: ".hidden" }));
    await filesIn(folder).save(threadOf({ threadId: `.a${TEMP_SUFFIX}` }));
    await Deno.writeTextFile(`${folder}/notes${TEMP_SUFFIX}`, "somebody's");
    await Deno.mkdir(`${folder}/.folder${TEMP_SUFFIX}`);
    await Deno.symlink("nowhere", `${folder}/.link${TEMP_SUFFIX}`);
    assert.equal(await removeTempFiles(folder), 10_000);
    const left = [".hidden.json", `.a${TEMP_SUFFIX}.json`, "thread-1.json", `notes${TEMP_SUFFIX}`];
    assert.deepEqual(await namesIn(folder), [...left, `.folder${TEMP_SUFFIX}`, `.link${TEMP_SUFFIX}`].sort());
    assert.equal(await removeTempFiles(folder), 0);
  }));
