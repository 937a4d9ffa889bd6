/** The workspace of a run: inside an allowed root after every symlink, created when missing (docs/protocol.md). */
import { dirname, isAbsolute, join, normalize, relative, sep } from "node:path";
import { invalid, type Refusal } from "../errors.ts";

const FIELD = "forwardedProps.iacCode.cwd";

/** The roots' own paths through symlinks; a root that does not exist allows nothing. */
export async function resolveRoots(roots: readonly string[]): Promise<string[]> {
  const resolved = await Promise.all(roots.map((root) => existing(root)));
  return resolved.filter((root) => root !== undefined);
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
    await Deno.mkdir(wanted, { recursive: true });
    const real = await Deno.realPath(wanted);
    if (!roots.some((root) => isInside(real, root))) return invalid("cwdOutside", FIELD);
    return (await Deno.stat(real)).isDirectory ? real : invalid("cwdNotDirectory", FIELD);
  } catch (error) {
    if (isFileError(error)) return invalid("cwdNotDirectory", FIELD);
    throw error;
  }
}

/** The path with the links of its existing part resolved; undefined when something on the way is no directory. */
async function realPath(path: string): Promise<string | undefined> {
  const missing: string[] = [];
  for (let at = path;; at = dirname(at)) {
    try {
      return join(await Deno.realPath(at), ...missing);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) {
        if (isFileError(error)) return undefined;
        throw error;
      }
      // A dangling link is not a missing directory: what it points at was never checked.
      if (await isLink(at) || dirname(at) === at) return undefined;
      missing.unshift(relative(dirname(at), at));
    }
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

async function existing(path: string): Promise<string | undefined> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    if (isFileError(error)) return undefined;
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
