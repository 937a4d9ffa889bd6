/** The workspace of a run: inside an allowed root after every symlink, created when missing (docs/protocol.md). */
import { isAbsolute, join, normalize, parse, relative, sep } from "node:path";
import { invalid, type Refusal } from "../errors.ts";

const FIELD = "forwardedProps.iacCode.cwd";

/** The roots' own paths through symlinks; a root that does not exist allows nothing. */
export async function resolveRoots(roots: readonly string[]): Promise<string[]> {
  const found = await Promise.all(roots.map(follow));
  return found.flatMap((root) => typeof root === "string" ? [] : [root.real]);
}

/**
 * The real path of `cwd`, which exists as a directory afterwards; or INVALID_INPUT. It is resolved again after it was
 * created, so that a link put there meanwhile leads nowhere.
 */
export async function resolveWorkspace(cwd: string, roots: readonly string[]): Promise<string | Refusal> {
  if (!isAbsolute(cwd) || cwd.includes("\0")) return invalid("cwdNotAbsolute", FIELD);
  const wanted = await realPath(normalize(cwd));
  if (wanted === undefined) return invalid("cwdNotDirectory", FIELD);
  if (!roots.some((root) => isInside(wanted, root))) return invalid("cwdOutside", FIELD);
  try {
    // One that is there asks for no permission to write.
    if (!await isDirectory(wanted)) await Deno.mkdir(wanted, { recursive: true });
    const real = await Deno.realPath(wanted);
    if (!roots.some((root) => isInside(real, root))) return invalid("cwdOutside", FIELD);
    return await isDirectory(real) ? real : invalid("cwdNotDirectory", FIELD);
  } catch (error) {
    if (isFileError(error)) return invalid("cwdNotDirectory", FIELD);
    throw error;
  }
}

/**
 * The path with the links of its existing part resolved; undefined when something on the way is no directory. Where that
 * part ends is searched by halves: a path of thousands of missing folders costs a dozen looks, and none at folders above
 * those that the process may read.
 */
async function realPath(path: string): Promise<string | undefined> {
  const whole = await follow(path);
  if (typeof whole === "object") return whole.real;
  if (whole !== "missing") return undefined;
  const { root } = parse(path);
  const steps = path.slice(root.length).split(sep).filter((step) => step !== "");
  let [known, missing] = [0, steps.length];
  let real: string | undefined = root;
  while (missing - known > 1) {
    const middle = Math.floor((known + missing) / 2);
    const found = await follow(join(root, ...steps.slice(0, middle)));
    if (found === "broken") return undefined;
    if (found === "missing") missing = middle;
    else [known, real] = [middle, found === "closed" ? undefined : found.real];
  }
  return real === undefined ? undefined : join(real, ...steps.slice(known));
}

/** Where a path leads after every link; `broken` when nothing can be made there, `closed` when it may not be read. */
async function follow(path: string): Promise<{ readonly real: string } | "missing" | "broken" | "closed"> {
  try {
    return { real: await Deno.realPath(path) };
  } catch (error) {
    // A dangling link is not a missing directory: what it points at was never checked.
    if (error instanceof Deno.errors.NotFound) return await isLink(path) ? "broken" : "missing";
    if (error instanceof Deno.errors.NotCapable) return "closed";
    if (isFileError(error)) return "broken";
    throw error;
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await Deno.lstat(path)).isSymlink;
  } catch (error) {
    if (isFileError(error)) return false;
    throw error;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
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
