/**
 * What the service needs to be granted, and what of it is missing: told at the start, with the flag to add, instead of
 * asked for or failing later (docs/operators.md, "Permissions").
 */
import type { Settings } from "./settings.ts";

/** One permission that the service cannot do without. */
export interface Need {
  /** What it is for, as in "may not …". */
  readonly what: string;
  readonly permission: Deno.PermissionDescriptor;
  readonly flag: string;
}

/** Whether this process may; it never asks. */
export function isGranted(permission: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(permission).state === "granted";
}

/** What serving with these settings needs. What starts a kernel is not in it: see `runNeed`. */
export function needsOf(settings: Settings): Need[] {
  const { host, port, stateDir, roots } = settings;
  return [
    net(`listen on ${hostPort(host, port)}`, hostPort(host, port)),
    kernelNeed(settings),
    path("read", `read the state directory ${stateDir}`, stateDir),
    path("write", `write the state directory ${stateDir}`, stateDir),
    ...roots.map((root) => path("read", `read the workspace root ${root}`, root)),
  ];
}

/** What starting a kernel needs. */
export function runNeed([command = ""]: readonly string[]): Need {
  return {
    what: `start ${command}`,
    permission: { name: "run", command },
    flag: `--allow-run=${listed(command)}`,
  };
}

/** One sentence for each need that is not met, with the flag that meets it. */
export function missing(needs: readonly Need[], granted = isGranted, compiled = Deno.build.standalone): string[] {
  return needs.filter(({ permission }) => !granted(permission)).map(({ what, flag }) => sentence(what, flag, compiled));
}

/** The sentence for variables that may not be read; none when there are none. */
export function unreadVariables(names: ReadonlySet<string>, compiled = Deno.build.standalone): string[] {
  if (names.size === 0) return [];
  const all = [...names].join(",");
  return [sentence(`read the environment variable${names.size > 1 ? "s" : ""} ${all}`, `--allow-env=${all}`, compiled)];
}

/** A path that a permission is missing for, found where it shows. */
export function path(name: "read" | "write", what: string, at: string): Need {
  return { what, permission: { name, path: at }, flag: `--allow-${name}=${listed(at)}` };
}

function sentence(what: string, flag: string, compiled: boolean): string {
  return compiled
    ? `Permission missing: may not ${what}. Make an executable with ${flag} (docs/operators.md, "One executable").`
    : `Permission missing: may not ${what}. Add ${flag}.`;
}

function kernelNeed({ a2aUrl, demo, kernelPort }: Settings): Need {
  if (a2aUrl !== undefined) {
    const { hostname, port, protocol } = new URL(a2aUrl);
    const at = hostPort(hostname, Number(port || (protocol === "https:" ? 443 : 80)));
    return net(`reach the kernel at ${at}`, at);
  }
  const at = demo || kernelPort === 0 ? "127.0.0.1" : hostPort("127.0.0.1", kernelPort);
  return net(`reach a kernel on a port of its own at ${at}`, at);
}

function net(what: string, host: string): Need {
  return { what, permission: { name: "net", host }, flag: `--allow-net=${host}` };
}

/** `host:port`, an IPv6 address in brackets. */
export function hostPort(host: string, port: number): string {
  const bare = host.replace(/^\[|\]$/g, "");
  return `${bare.includes(":") ? `[${bare}]` : bare}:${port}`;
}

/** deno's lists are split at commas; one within a name is doubled. */
export function listed(name: string): string {
  return name.replaceAll(",", ",,");
}
