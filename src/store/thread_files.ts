/** One file a thread in `<state-dir>/threads` (reference "Persistence and recovery"): load one, save one, clean up. */
import { Buffer } from "node:buffer";
import { dirname, join } from "node:path";
import { THREAD_FILE_BYTES } from "../limits.ts";
import type { ThreadStore } from "../thread/registry.ts";
import { type FileSystem, lookAt, readWhole, replaceFile, systemFiles, TEMP_SUFFIX } from "./atomic_file.ts";
import { CorruptThread } from "./corrupt_thread.ts";
import { threadFileName } from "./file_name.ts";
import { olderRuns, type SecondFiles } from "./older_runs.ts";
import { makePrivate } from "./state_directory.ts";

/** Loaded with the first thread: its schemas would take a fifth of the start's time. Kept, since to ask again takes 20 µs. */
let codec: typeof import("./codec.ts") | undefined;
const loadCodec = async () => codec ??= await import("./codec.ts");

export interface ThreadFilesOptions {
  readonly folder: string;
  /** Where older run ids of long threads lie; without it they stay in the thread's file. */
  readonly olderFolder?: string;
  /** When an interrupt without an expiry of its own expires: ms since the epoch, null for never. */
  readonly fallbackExpiry: () => number | null;
  readonly fs?: FileSystem;
}

/** The files of a state directory that `makeStateDirectory` has made ready. */
export function threadFiles(
  { folder, olderFolder, fallbackExpiry, fs = systemFiles }: ThreadFilesOptions,
): ThreadStore {
  const files = filesIn(folder, fs);
  const older = olderFolder === undefined ? undefined : olderRuns(filesIn(olderFolder, fs));
  return {
    async load(threadId, about) {
      const name = threadFileName(threadId);
      const text = await files.read(name);
      if (text === undefined) return undefined;
      const thread = (await loadCodec()).decodeThread(text, threadId, fallbackExpiry());
      return await older?.complete(thread, name, about) ?? thread;
    },
    async save(thread) {
      const name = threadFileName(thread.threadId);
      const { encodeThread } = await loadCodec();
      await files.write(name, encodeThread(await older?.shorten(thread, name) ?? thread));
    },
  };
}

function filesIn(folder: string, fs: FileSystem): SecondFiles {
  return {
    read: (name) => readPlainFile(`${folder}/${name}`),
    async write(name, text) {
      // What could not be loaded again must not replace what can.
      if (Buffer.byteLength(text) > THREAD_FILE_BYTES) throw new Error("the thread is too large for its file");
      try {
        await replaceFile(fs, folder, name, text);
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
        // The folder was not needed so far, or was removed while we run: state can begin anew as it did at the start.
        await makePrivate(folder);
        await replaceFile(fs, folder, name, text);
      }
    },
  };
}

async function readPlainFile(path: string): Promise<string | undefined> {
  const found = lookAt(path);
  if (!found) return undefined;
  if (!found.isFile) throw new CorruptThread("not a plain file");
  if (found.size > THREAD_FILE_BYTES) throw new CorruptThread("too large");
  try {
    return utf8(await readWhole(path, found.size));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Damaged characters must not be replaced silently: an id that was changed so could be taken for another. */
function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CorruptThread("not UTF-8");
  }
}

/** Where the older run ids of a folder's long threads lie: beside it, so that only threads are in it. */
export function olderFolderOf(folder: string): string {
  return join(dirname(folder), "older-runs");
}

/**
 * Removes what a crash left behind in a folder, if there is one. To be called by the holder of the lock only: a temp file
 * may be another's work.
 */
export async function removeTempFiles(folder: string): Promise<number> {
  let removed = 0;
  try {
    for await (const { name, isFile } of Deno.readDir(folder)) {
      if (!isFile || !name.startsWith(".") || !name.endsWith(TEMP_SUFFIX)) continue;
      await Deno.remove(`${folder}/${name}`);
      removed++;
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return removed;
}
