/** Resolved options → what the program is built from, or the mistakes that only show when they meet. Pure. */
import { isLoopback } from "../loopback.ts";
import type { OptionName } from "./options.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Values } from "./values.ts";

export interface Settings {
  readonly host: string;
  readonly port: number;
  /** The kernel to use; undefined when one is to be started. */
  readonly a2aUrl: string | undefined;
  readonly a2aToken: string | undefined;
  readonly authToken: string | undefined;
  readonly stateDir: string;
  readonly heartbeatMs: number;
  readonly interruptTtlMs: number;
  /** 0: never. */
  readonly idleShutdownMs: number;
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly roots: readonly string[];
  /** Whether the page at /console is served. */
  readonly console: boolean;
  readonly demo: boolean;
  /** The command that starts a kernel, and its first arguments. */
  readonly kernelCommand: readonly string[];
  /** 0: a free one. */
  readonly kernelPort: number;
  readonly logFormat: "text" | "json";
  readonly logStdout: boolean;
  readonly debug: boolean;
}

/** The settings, or every mistake in one sentence each. */
export function toSettings(values: Values, around: Surroundings): { settings: Settings } | { mistakes: string[] } {
  const get = (name: OptionName) => values.get(name)?.value;
  const text = (name: OptionName) => get(name) as string | undefined;
  const list = (name: OptionName) => (get(name) ?? []) as readonly string[];
  const ms = (name: OptionName) => (get(name) as number) * 1000;
  const demo = get("demo") === true;
  const stateDir = text("state-dir") ?? defaultStateDir(around, demo);
  const roots = list("allowed-cwds").length > 0 ? list("allowed-cwds") : defaultRoots(around);
  const mistakes = clashes(values);
  if (stateDir === undefined) mistakes.push("There is no home directory: name a state directory with --state-dir.");
  if (roots === undefined) {
    mistakes.push("Workspace roots are missing, and the working directory may not be read: set --allowed-cwds.");
  }
  if (mistakes.length > 0 || stateDir === undefined || roots === undefined) return { mistakes };
  const settings: Settings = {
    host: text("host") ?? "",
    port: get("port") as number,
    a2aUrl: text("a2a-url"),
    a2aToken: text("a2a-token"),
    authToken: text("auth-token"),
    stateDir,
    heartbeatMs: ms("heartbeat"),
    interruptTtlMs: ms("interrupt-ttl"),
    idleShutdownMs: ms("idle-shutdown"),
    hosts: list("allow-host"),
    origins: list("allow-origin"),
    roots,
    console: get("console") === true,
    demo,
    kernelCommand: list("kernel-command"),
    kernelPort: get("kernel-port") as number,
    logFormat: text("log-format") === "json" ? "json" : "text",
    logStdout: get("log-stdout") === true,
    debug: get("debug") === true,
  };
  return { settings };
}

/** Options that do not go together. */
function clashes(values: Values): string[] {
  const get = (name: OptionName) => values.get(name)?.value;
  const host = get("host") as string;
  const url = get("a2a-url") as string | undefined;
  const isOpen = get("auth-token") === undefined;
  const rows: [boolean, string][] = [
    [
      !isLoopback(host) && isOpen,
      `--host ${host} can be reached from other machines: set IAC_CODE_AGUI_AUTH_TOKEN, or listen on 127.0.0.1.`,
    ],
    [
      ["*", "null"].some((origin) => (get("allow-origin") as readonly string[]).includes(origin)) && isOpen,
      "--allow-origin * (or null) lets every web page in: set IAC_CODE_AGUI_AUTH_TOKEN, or name the origins.",
    ],
    [
      url !== undefined && get("allow-remote-a2a") !== true && !isLoopback(new URL(url).hostname),
      "--a2a-url must be on this machine, since requests carry cloud keys. --allow-remote-a2a accepts another one.",
    ],
    [url !== undefined && get("demo") === true, "--demo and --a2a-url exclude each other."],
  ];
  return rows.filter(([holds]) => holds).map(([, mistake]) => mistake);
}

/** `<config-dir>/agui` of iac-code; undefined without a home. A demo kernel forgets its tasks, so it has a place apart. */
function defaultStateDir({ env, windows }: Surroundings, demo: boolean): string | undefined {
  const folder = demo ? "agui-demo" : "agui";
  const configured = env("IAC_CODE_CONFIG_DIR");
  if (configured) return `${configured}/${folder}`;
  const home = env(windows ? "USERPROFILE" : "HOME");
  return home ? `${home}/.iac-code/${folder}` : undefined;
}

/** The working directory and the temp directory, as the Python adapter has it. */
function defaultRoots({ env, cwd, windows }: Surroundings): string[] | undefined {
  const here = cwd();
  const temp = env(windows ? "TEMP" : "TMPDIR") ?? (windows ? undefined : "/tmp");
  return here === undefined ? undefined : [here, ...(temp ? [temp] : [])];
}
