/**
 * Replaces a file so that a reader, or a crash at any moment, finds the old one or the new one whole: temp file, write,
 * sync, rename, sync of the folder (docs/protocol.md, "Thread files"). System calls are passed in, so that a test can let
 * each fail.
 */
import { systemClock } from "../clock.ts";
import { AT_ONCE_BYTES, RENAME_RETRY_MS } from "../limits.ts";
import { createAtOnce } from "./at_once.ts";
import { sharedSyncs } from "./shared_syncs.ts";

/** The system calls that a replacement makes. */
export interface FileSystem {
  /** Whether there is a link, a folder or anything else that is no plain file. */
  isSpecial(path: string): Promise<boolean>;
  openFolder(path: string): Promise<Syncable>;
  /** Creates a file that must not exist yet, readable by its owner only. */
  createNew(path: string): Promise<OpenFile>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  newName(): string;
  sleep(ms: number): Promise<void>;
}

export interface Syncable {
  /** Resolves when all that was changed before the call is on the disk. */
  sync(): Promise<void>;
  close(): void;
}

export interface OpenFile extends Syncable {
  /** Writes all of the data. */
  write(data: Uint8Array): Promise<void>;
}

export const TEMP_SUFFIX = ".agui-tmp";
const RENAME_STEP_MS = 50;

/**
 * Puts `text` at `folder/name`. Rejects with the system's error; then no temp file is left if the system let us remove it,
 * and the old file is whole, unless the very last step failed: the folder's sync, which leaves the new one in its place.
 */
export async function replaceFile(fs: FileSystem, folder: string, name: string, text: string): Promise<void> {
  const target = `${folder}/${name}`;
  // A link here would let us write where it points; a rename would replace it, hiding that somebody put it there.
  if (await fs.isSpecial(target)) throw new Error("the thread's file is not a plain file");
  // Opened before anything is changed: a process without a free file descriptor fails here, and not after the rename.
  const opened = await fs.openFolder(folder);
  try {
    const temp = `${folder}/.${fs.newName()}${TEMP_SUFFIX}`;
    const file = await fs.createNew(temp);
    try {
      await fill(file, text);
      await renameSoon(fs, temp, target);
    } catch (error) {
      await fs.remove(temp).catch(() => undefined);
      throw error;
    }
    await opened.sync();
  } finally {
    opened.close();
  }
}

async function fill(file: OpenFile, text: string): Promise<void> {
  try {
    await file.write(new TextEncoder().encode(text));
    await file.sync();
  } finally {
    file.close();
  }
}

/** A scanner may hold the target for a moment (on Windows): that is waited for. */
async function renameSoon(fs: FileSystem, temp: string, target: string): Promise<void> {
  for (let waited = 0;; waited += RENAME_STEP_MS) {
    try {
      return await fs.rename(temp, target);
    } catch (error) {
      const held = error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.Busy;
      if (!held || waited >= RENAME_RETRY_MS) throw error;
      await fs.sleep(RENAME_STEP_MS);
    }
  }
}

const sharing = sharedSyncs();
/** One that must not exist yet, readable by its owner only. */
const NEW_FILE = { createNew: true, mode: 0o600 };
/** Calls that change a folder, that wait for the disk, that read from it. */
const changing = createAtOnce(systemClock.elapsed);
const syncing = createAtOnce(systemClock.elapsed);
const reading = createAtOnce(systemClock.elapsed);

/**
 * What stands at a path; undefined when nothing does. At once: to look takes 10 µs, and a change of threads 50 of the thread
 * that serves streams.
 */
export function lookAt(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The bytes of a file of this size. */
export async function readWhole(path: string, size: number): Promise<Uint8Array> {
  if (size > AT_ONCE_BYTES) return await Deno.readFile(path);
  return await reading(() => Deno.readFileSync(path), () => Deno.readFile(path));
}

/** Looks, opens and writes into memory at once, as above; the rest where it is quick, else on another thread. */
export const systemFiles: FileSystem = {
  isSpecial: (path) => Promise.try(() => lookAt(path)?.isFile === false),
  // Windows has no such thing as a folder that can be synced.
  openFolder: (path) =>
    Deno.build.os === "windows"
      ? Promise.resolve({ sync: () => Promise.resolve(), close() {} })
      : Promise.try(() => sharing(path, syncable(Deno.openSync(path)))),
  async createNew(path) {
    const file = await changing(() => Deno.openSync(path, { ...NEW_FILE, write: true }), () => createElsewhere(path));
    return {
      ...syncable(file),
      async write(data) {
        for (let at = 0; at < data.length;) {
          const rest = data.subarray(at);
          at += rest.length <= AT_ONCE_BYTES ? file.writeSync(rest) : await file.write(rest);
        }
      },
    };
  },
  rename: (from, to) => changing(() => Deno.renameSync(from, to), () => Deno.rename(from, to)),
  remove: (path) => Deno.remove(path),
  newName: systemClock.newId,
  sleep: (ms) => systemClock.sleep(ms),
};

function syncable(file: Deno.FsFile): Syncable {
  return {
    sync: () => syncing(() => file.syncSync(), () => file.sync()),
    close: () => file.close(),
  };
}

/** Creates a file on another thread, which `Deno.open` would do on the one that calls it. */
async function createElsewhere(path: string): Promise<Deno.FsFile> {
  await Deno.writeFile(path, new Uint8Array(), NEW_FILE);
  try {
    return openCreated(path);
  } catch (error) {
    await Deno.remove(path);
    throw error;
  }
}

function openCreated(path: string): Deno.FsFile {
  return Deno.openSync(path, { write: true });
}
