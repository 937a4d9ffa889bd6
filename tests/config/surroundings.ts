/** Surroundings that a test decides about. */
import type { Surroundings } from "../../src/config/surroundings.ts";

export interface Given {
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that may not be read. */
  readonly closed?: readonly string[];
  readonly cwd?: string;
  readonly windows?: boolean;
}

export function surroundings({ env = {}, closed = [], cwd, windows = false }: Given = {}): Surroundings {
  const unread = new Set<string>();
  return {
    unread,
    windows,
    cwd: () => cwd,
    env(name) {
      if (!closed.includes(name)) return env[name];
      unread.add(name);
      return undefined;
    },
  };
}
