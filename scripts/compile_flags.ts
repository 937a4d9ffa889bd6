/** What `deno task compile` bakes into an executable: permissions and default flags. Pure. */
import { type CommandLine, readCommandLine } from "../src/config/command_line.ts";
import { needsOf, path, runNeed } from "../src/config/permissions.ts";
import { readConfiguration } from "../src/config/read.ts";
import { StartFailure } from "../src/start_failure.ts";

export const TARGETS = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
] as const;

export type Target = typeof TARGETS[number];

/** What an executable may do, and the flags that it runs with before those of its command line. */
export interface Baked {
  readonly permissions: readonly string[];
  readonly flags: readonly string[];
}

/** For releases: any directory, address and kernel command. What the service never needs is left out all the same. */
export const GENERAL: Baked = {
  permissions: ["--allow-net", "--allow-read", "--allow-write", "--allow-env", "--allow-run"],
  flags: [],
};

/** Without these, the place where the executable is started would decide what it has to be allowed. */
const FIXED = ["state-dir", "allowed-cwds"] as const;

export interface Deployment {
  /** The flags of the service, as it is to be run. */
  readonly flags: readonly string[];
  /** Whether it may create workspaces that do not exist yet. */
  readonly createsWorkspaces: boolean;
  readonly windows: boolean;
}

/** The narrowest permissions for a deployment. Throws StartFailure when a flag is wrong or missing. */
export async function narrowest({ flags, createsWorkspaces, windows }: Deployment): Promise<Baked> {
  const line = readCommandLine(flags);
  const mistakes = [...notServing(line), ...notFixed(line)];
  if (mistakes.length > 0) throw new StartFailure([...line.mistakes, ...mistakes]);
  const asked = new Set<string>();
  const around = {
    env(name: string) {
      asked.add(name);
      // Whether there is one shows when it runs; what needs one may be compiled.
      return name === "IAC_CODE_AGUI_AUTH_TOKEN" ? "given-later" : undefined;
    },
    unread: new Set<string>(),
    cwd: () => undefined,
    windows,
  };
  const { settings } = await readConfiguration(line, around);
  const isManaged = settings.a2aUrl === undefined && !settings.demo;
  const needs = [
    ...needsOf(settings),
    ...(createsWorkspaces ? settings.roots.map((root) => path("write", `create workspaces in ${root}`, root)) : []),
    ...(isManaged ? [runNeed(settings.kernelCommand)] : []),
  ];
  const lists = new Map<string, Set<string>>([["--allow-env", asked]]);
  for (const { flag } of needs) {
    const at = flag.indexOf("=");
    const [name, value] = [flag.slice(0, at), flag.slice(at + 1)];
    lists.set(name, (lists.get(name) ?? new Set()).add(value));
  }
  const permissions = [...lists].map(([name, values]) => `${name}=${[...values].join(",")}`).sort();
  return { permissions, flags };
}

function notServing({ command }: CommandLine): string[] {
  return command === "serve" ? [] : [`An executable serves; --${command} is for its command line.`];
}

function notFixed({ flags }: CommandLine): string[] {
  return FIXED.filter((name) => flags[name] === undefined).map((name) => `--${name} is missing: it is baked in.`);
}

/**
 * How the service runs, from the sources too (deno.json): V8 lets what is new grow to 50 MB, and gives nothing of it back. With
 * 4 MB for each half, 200 streams take 40 MB less and are nearly as fast (docs/performance.md).
 */
export const V8_FLAGS = "--v8-flags=--max-semi-space-size=4";

/** What is made into which executable. */
export interface Program {
  readonly main: string;
  readonly output: string;
  readonly target?: Target;
  /** The version of deno. */
  readonly deno: string;
  /** Paths that are not embedded. */
  readonly leftOut: readonly string[];
}

/** The arguments of a deno of this version that make an executable of `main` at `output`. */
export function compileArguments(
  { permissions, flags }: Baked,
  { main, output, target, deno, leftOut }: Program,
): string[] {
  // What nothing imports is not even downloaded then; older versions take all that the lock names, but for what is left out.
  const [major = 0, minor = 0] = deno.split(".").map(Number);
  const excludes = major > 2 || minor >= 9;
  return [
    "compile",
    "--quiet",
    "--no-prompt",
    "--frozen",
    ...(excludes ? ["--exclude-unused-npm"] : []),
    ...leftOut.map((path) => `--exclude=${path}`),
    V8_FLAGS,
    ...permissions,
    ...(target === undefined ? [] : ["--target", target]),
    "--output",
    output,
    main,
    ...flags,
  ];
}
