/** kill -9 at every step of a write: what is there afterwards is the old state or the new one, and the next write works. */
import assert from "node:assert/strict";
import { removeTempFiles, threadFiles } from "../../src/store/thread_files.ts";
import { recordRun } from "../../src/thread/thread.ts";
import { inFolder, namesIn } from "../support/folders.ts";
import { threadOf } from "../support/threads.ts";

const PROGRAM = new URL("killed_writer.ts", import.meta.url).pathname;
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;

/** Each step, which state is on disk after a kill there, and how many temp files. */
const STEPS: readonly [step: string, isNew: boolean, temps: number][] = [
  ["before the temp file", false, 0],
  ["after the temp file", false, 1],
  ["after the first half", false, 1],
  ["after the second half", false, 1],
  ["after the file's sync", false, 1],
  ["before the rename", false, 1],
  ["after the rename", true, 0],
  ["after the folder's sync", true, 0],
];

async function die(folder: string, step: string): Promise<Deno.CommandStatus> {
  const args = ["run", "--no-prompt", "--no-check", "--quiet", "-A", "--config", CONFIG, PROGRAM, folder, step];
  return await new Deno.Command(Deno.execPath(), { args, stdin: "null", stdout: "null", stderr: "inherit" }).spawn()
    .status;
}

for (const [step, isNew, temps] of STEPS) {
  Deno.test(`kill -9 ${step} leaves the ${isNew ? "new" : "old"} state whole`, () =>
    inFolder(async (folder) => {
      const files = threadFiles({ folder, fallbackExpiry: () => null });
      await files.save(threadOf());
      assert.equal((await die(folder, step)).signal, "SIGKILL");
      assert.deepEqual(
        await files.load("thread-1"),
        isNew ? recordRun(threadOf(), "run-2", "2".repeat(64)) : threadOf(),
      );
      assert.equal(await removeTempFiles(folder), temps);
      assert.deepEqual(await namesIn(folder), ["thread-1.json"]);
      assert.equal((await die(folder, "none")).code, 0);
      assert.ok((await files.load("thread-1"))?.runs.has("run-2"));
    }));
}
