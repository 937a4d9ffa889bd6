/** What a process finds around it, read only where that is granted: a query never asks the user (docs/operators.md). */

export interface Surroundings {
  /** A variable of the environment; undefined when it is not set, or may not be read: then it is in `unread`. */
  readonly env: (name: string) => string | undefined;
  /** Variables that were asked for and may not be read. */
  readonly unread: ReadonlySet<string>;
  /** The working directory; undefined when it may not be read. */
  readonly cwd: () => string | undefined;
  readonly windows: boolean;
}

/** The surroundings of this process. */
export function systemSurroundings(): Surroundings {
  const unread = new Set<string>();
  return {
    unread,
    windows: Deno.build.os === "windows",
    env(variable) {
      if (Deno.permissions.querySync({ name: "env", variable }).state === "granted") return Deno.env.get(variable);
      unread.add(variable);
      return undefined;
    },
    cwd() {
      try {
        return Deno.cwd();
      } catch (error) {
        if (error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.NotFound) return undefined;
        throw error;
      }
    },
  };
}
