/** Disks that fail when they are told to, and work again: real ones where they can be mounted, and system calls that say so. */
import type { FileSystem } from "../../src/store/atomic_file.ts";
import { systemFiles } from "../../src/store/atomic_file.ts";

export interface Disk extends AsyncDisposable {
  readonly stateDir: string;
  /** System calls to be used with it; absent for a real disk. */
  readonly fs?: FileSystem;
  fail(): Promise<void>;
  heal(): Promise<void>;
}

export interface DiskKind {
  readonly name: string;
  open(): Promise<Disk>;
}

async function run(command: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args, stdout: "null", stderr: "piped" }).output();
  if (!success) throw new Error(`${command}: ${new TextDecoder().decode(stderr)}`);
}

/** Whether this process may mount; else only the system calls can say that a disk is full. */
export function canMount(): boolean {
  return Deno.build.os === "linux" && Deno.uid() === 0;
}

const SIZE_KIB = 256;

async function mounted(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "agui-disk-" }));
  await run("mount", "-t", "tmpfs", "-o", `size=${SIZE_KIB}k`, "tmpfs", path);
  return {
    path,
    async remove() {
      await run("umount", path);
      await Deno.remove(path);
    },
  };
}

/** A small tmpfs that is filled to the last byte. */
export const fullTmpfs: DiskKind = {
  name: "a full tmpfs",
  async open() {
    const { path, remove } = await mounted();
    const filler = `${path}/filler`;
    return {
      stateDir: `${path}/state`,
      async fail() {
        const file = await Deno.open(filler, { write: true, create: true });
        try {
          while (true) await file.write(new Uint8Array(4096));
        } catch (error) {
          if (!(error instanceof Error && error.message.includes("os error 28"))) throw error;
        } finally {
          file.close();
        }
      },
      heal: () => Deno.remove(filler),
      [Symbol.asyncDispose]: remove,
    };
  },
};

/** A tmpfs that is mounted again for reading only. */
export const readOnlyTmpfs: DiskKind = {
  name: "a disk that is read-only",
  async open() {
    const { path, remove } = await mounted();
    return {
      stateDir: `${path}/state`,
      fail: () => run("mount", "-o", "remount,ro", path),
      heal: () => run("mount", "-o", "remount,rw", path),
      [Symbol.asyncDispose]: remove,
    };
  },
};

/** System calls that fail as those of a full disk do: the file is made, and takes nothing. */
export const fullByCalls: DiskKind = {
  name: "system calls that find the disk full",
  open: () =>
    failingCalls((fs) => ({
      ...fs,
      createNew: async (path) => ({
        ...await fs.createNew(path),
        write: () => Promise.reject(Object.assign(new Error("No space left on device"), { code: "ENOSPC" })),
      }),
    })),
};

/** System calls that are refused, as in a folder that belongs to somebody else. */
export const refusedCalls: DiskKind = {
  name: "system calls that are refused",
  open: () =>
    failingCalls((fs) => ({
      ...fs,
      createNew: () => Promise.reject(new Deno.errors.PermissionDenied("Permission denied")),
    })),
};

async function failingCalls(broken: (fs: FileSystem) => FileSystem): Promise<Disk> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "agui-disk-" }));
  let current = systemFiles;
  const fs: FileSystem = {
    isSpecial: (path) => current.isSpecial(path),
    openFolder: (path) => current.openFolder(path),
    createNew: (path) => current.createNew(path),
    rename: (from, to) => current.rename(from, to),
    remove: (path) => current.remove(path),
    newName: systemFiles.newName,
    sleep: systemFiles.sleep,
  };
  return {
    stateDir: `${root}/state`,
    fs,
    fail: () => Promise.resolve(void (current = broken(systemFiles))),
    heal: () => Promise.resolve(void (current = systemFiles)),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}
