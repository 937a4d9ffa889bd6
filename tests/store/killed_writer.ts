/**
 * A process that saves a thread's second state and kills itself (SIGKILL) at a step of it: `killed_writer.ts FOLDER STEP`. With
 * the step `none` it ends well.
 */
import { type FileSystem, systemFiles } from "../../src/store/atomic_file.ts";
import { threadFiles } from "../../src/store/thread_files.ts";
import { recordRun } from "../../src/thread/thread.ts";
import { threadOf } from "../support/threads.ts";

const [folder = "", fatal = ""] = Deno.args;

function step(name: string): void {
  if (name === fatal) Deno.kill(Deno.pid, "SIGKILL");
}

/** Does what is done, and dies before or after it. */
async function around<T>(name: string, work: () => Promise<T>): Promise<T> {
  step(`before ${name}`);
  const result = await work();
  step(`after ${name}`);
  return result;
}

const fs: FileSystem = {
  ...systemFiles,
  async openFolder(path) {
    const opened = await systemFiles.openFolder(path);
    return { sync: () => around("the folder's sync", () => opened.sync()), close: () => opened.close() };
  },
  async createNew(path) {
    const file = await around("the temp file", () => systemFiles.createNew(path));
    return {
      async write(data) {
        await around("the first half", () => file.write(data.subarray(0, data.length / 2)));
        await around("the second half", () => file.write(data.subarray(data.length / 2)));
      },
      sync: () => around("the file's sync", () => file.sync()),
      close: () => file.close(),
    };
  },
  rename: (from, to) => around("the rename", () => systemFiles.rename(from, to)),
};

await threadFiles({ folder, fallbackExpiry: () => null, fs }).save(recordRun(threadOf(), "run-2", "2".repeat(64)));
