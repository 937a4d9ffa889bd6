/** The workspace of a run: inside an allowed root after every symlink, created when missing (docs/protocol.md). */
import { dirname, isAbsolute, join, normalize, parse, relative, sep } from "node:path";
import { invalid, type Refusal } from "../errors.ts";

const FIELD = "forwardedProps.iacCode.cwd";

/** The roots' own paths through symlinks; a root that does not exist allows nothing. */
export async function resolveRoots(roots: readonly string[]): Promise<string[]> {
  const found = await Promise.all(roots.map((root) => follow(root)));
  return found.flatMap((root) => typeof root === "string" ? [] : [root.real]);
}

/** Gives the resolved roots; those that are missing are looked for again each time, since they may be made later. */
export async function openRoots(given: readonly string[]): Promise<() => Promise<readonly string[]>> {
  let roots = await resolveRoots(given);
  return async () => {
    if (roots.length < given.length) roots = await resolveRoots(given);
    return roots;
  };
}

/**
 * Where `cwd` is after every link, or will be once it is created; or INVALID_INPUT. Nothing is created yet: that is for a run
 * that is admitted.
 */
export async function resolveWorkspace(cwd: string, roots: readonly string[]): Promise<string | Refusal> {
  if (!isAbsolute(cwd) || cwd.includes("\0")) return invalid("cwdNotAbsolute", FIELD);
  const path = normalize(cwd);
  const wanted = await realPath(path, roots.some((root) => isInside(path, root)));
  if (wanted === undefined) return invalid("cwdNotDirectory", FIELD);
  if (!roots.some((root) => isInside(wanted, root))) return invalid("cwdOutside", FIELD);
  try {
    const found = kindOf(wanted);
    // One that is there asks for no permission to write.
    return found === "directory" || (found === "missing" && mayWrite(wanted))
      ? wanted
      : invalid("cwdNotDirectory", FIELD);
  } catch (error) {
    if (isFileError(error)) return invalid("cwdNotDirectory", FIELD);
    throw error;
  }
}

/** What was created for a run, to be taken back when the run does not begin after all. */
export interface CreatedWorkspace {
  /** Removes what was created and is still empty. */
  undo(): Promise<void>;
}

/**
 * Creates what is missing of a resolved workspace, one directory after the other; or INVALID_INPUT. After each it is looked
 * whether it is where it was to be: a link that was put on the way meanwhile leads nowhere, and what was created through it
 * is removed. To be called for an existing workspace, too: that one is looked at again.
 */
export async function createWorkspace(wanted: string): Promise<CreatedWorkspace | Refusal> {
  const created: { path: string; ino: number | null; dev: number }[] = [];
  async function undo(): Promise<void> {
    for (const { path, ino, dev } of created.toReversed()) {
      try {
        // Only what was made here: through a link that changes, the same path is another directory.
        const found = await Deno.lstat(path);
        if (found.ino === ino && found.dev === dev) await Deno.remove(path);
      } catch (error) {
        // It is gone, or in use.
        if (!isFileError(error)) throw error;
      }
    }
  }
  try {
    const missing = kindOf(wanted) === "missing" ? await missingSteps(wanted) : [];
    for (const path of missing) {
      if (!await isMade(path)) continue;
      const { ino, dev } = await Deno.lstat(path);
      created.push({ path, ino, dev });
      if (!isItself(path)) {
        await undo();
        return invalid("cwdOutside", FIELD);
      }
    }
    if (!isItself(wanted)) return invalid("cwdOutside", FIELD);
    if (kindOf(wanted) === "directory") return { undo };
  } catch (error) {
    if (!isFileError(error)) throw error;
  }
  await undo();
  return invalid("cwdNotDirectory", FIELD);
}

/** The directories on the way to a path that are not there, from the top. */
async function missingSteps(path: string): Promise<string[]> {
  const steps: string[] = [];
  for (let at = path; await isMissing(at) && dirname(at) !== at; at = dirname(at)) steps.unshift(at);
  return steps;
}

/** In the background: there may be thousands of steps. */
async function isMissing(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return false;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return true;
    throw error;
  }
}

/** Makes a directory; false when somebody else just did. */
async function isMade(path: string): Promise<boolean> {
  try {
    await Deno.mkdir(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    throw error;
  }
}

/** Whether no link is on the way to a path; a disk may spell a name's characters in its own way. */
function isItself(path: string): boolean {
  return realPathAtOnce(path).normalize() === path.normalize();
}

/** Of a path that was followed before, or that the operator allows: a change of threads takes ten times as long. */
function realPathAtOnce(path: string): string {
  return Deno.realPathSync(path);
}

function mayWrite(path: string): boolean {
  return Deno.permissions.querySync({ name: "write", path }).state === "granted";
}

/**
 * The path with the links of its existing part resolved; undefined when something on the way is no directory. Where that
 * part ends is searched by halves: a path of thousands of missing folders costs a dozen looks, and none at folders above
 * those that the process may read. Where it is `known` by its name to lie among what the operator allows, it is followed at
 * once; what somebody names elsewhere may be slow to look at.
 */
async function realPath(path: string, known: boolean): Promise<string | undefined> {
  const whole = await follow(path, known);
  if (typeof whole === "object") return whole.real;
  if (whole !== "missing") return undefined;
  const { root } = parse(path);
  const steps = path.slice(root.length).split(sep).filter((step) => step !== "");
  let [there, missing] = [0, steps.length];
  let real: string | undefined = root;
  while (missing - there > 1) {
    const middle = Math.floor((there + missing) / 2);
    const found = await follow(join(root, ...steps.slice(0, middle)));
    if (found === "broken") return undefined;
    if (found === "missing") missing = middle;
    else [there, real] = [middle, found === "closed" ? undefined : found.real];
  }
  return real === undefined ? undefined : join(real, ...steps.slice(there));
}

/** Where a path leads after every link; `broken` when nothing can be made there, `closed` when it may not be read. */
async function follow(path: string, atOnce = false): Promise<Followed> {
  try {
    return { real: atOnce ? realPathAtOnce(path) : await Deno.realPath(path) };
  } catch (error) {
    // A dangling link is not a missing directory: what it points at was never checked.
    if (error instanceof Deno.errors.NotFound) return await isLink(path) ? "broken" : "missing";
    if (error instanceof Deno.errors.NotCapable) return "closed";
    if (isFileError(error)) return "broken";
    throw error;
  }
}

type Followed = { readonly real: string } | "missing" | "broken" | "closed";

async function isLink(path: string): Promise<boolean> {
  try {
    return (await Deno.lstat(path)).isSymlink;
  } catch (error) {
    if (isFileError(error)) return false;
    throw error;
  }
}

/** At once, as `realPathAtOnce`. */
function kindOf(path: string): "directory" | "missing" | "other" {
  try {
    return Deno.statSync(path).isDirectory ? "directory" : "other";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "missing";
    throw error;
  }
}

/** Component by component: `/work` does not let `/workspace` in. */
function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function isFileError(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied ||
    error instanceof Deno.errors.NotADirectory || error instanceof Deno.errors.AlreadyExists ||
    error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.FilesystemLoop ||
    (error instanceof Error && "code" in error && typeof error.code === "string");
}
