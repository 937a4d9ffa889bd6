/** The state directory: for its owner alone, and nothing but ours (docs/operators.md, "The state directory"). */
import { parse, resolve } from "node:path";
import { StartFailure } from "../start_failure.ts";
import { lookAt } from "./atomic_file.ts";

/** What a service puts into it. */
const LOCK = "agui.lock";
const THREADS = "threads";
const OLDER_RUNS = "older-runs";
const OURS: ReadonlySet<string> = new Set([LOCK, THREADS, OLDER_RUNS]);
/** A file system that has just been made is empty but for this. */
const OF_THE_SYSTEM = "lost+found";
const STICKY = 0o1000;

/**
 * Makes `<stateDir>/threads`, for its owner only, and gives its path. A directory that holds other things than ours keeps its
 * own mode. Throws StartFailure, and changes nothing, for one that is everybody's, or when a link stands where a file of ours
 * has to be.
 */
export async function makeStateDirectory(stateDir: string): Promise<string> {
  const unfit = await whyUnfit(stateDir);
  if (unfit !== undefined) throw new StartFailure([`${unfit} Name another one with --state-dir.`]);
  if (await isOurs(stateDir)) await makePrivate(stateDir);
  const folder = `${stateDir}/${THREADS}`;
  await makePrivate(folder);
  return folder;
}

/** Makes a directory for its owner only; one that is there loses what others may do in it. */
export async function makePrivate(path: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  if (Deno.build.os !== "windows") await Deno.chmod(path, 0o700);
}

/** What must not be closed for others, and where others must not put things in our way. */
async function whyUnfit(stateDir: string): Promise<string | undefined> {
  const found = await stat(stateDir);
  if (!found?.isDirectory) return undefined;
  for (const name of OURS) {
    if (lookAt(`${stateDir}/${name}`)?.isSymlink) return `${name} in the state directory ${stateDir} is a link.`;
  }
  const real = resolve(await Deno.realPath(stateDir));
  if (parse(real).root === real) return `The state directory ${stateDir} is the root of the file system.`;
  const isShared = ((found.mode ?? 0) & STICKY) !== 0;
  return isShared ? `The state directory ${stateDir} is shared by all users.` : undefined;
}

/** Whether a directory is new, or holds nothing but ours: a home, say, stays as open as its owner has it. */
async function isOurs(stateDir: string): Promise<boolean> {
  if (!(await stat(stateDir))?.isDirectory) return true;
  const names = await Array.fromAsync(Deno.readDir(stateDir), ({ name }) => name);
  return names.every((name) => OURS.has(name) || name === OF_THE_SYSTEM);
}

async function stat(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.stat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
