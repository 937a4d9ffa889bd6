/** Resolved options → what the program is built from, or the mistakes that only show when they meet. Pure. */
import { isLoopbackName } from "../request/gates.ts";
import type { OptionName, Values } from "./options.ts";

export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly a2aUrl: string | undefined;
  readonly a2aToken: string | undefined;
  readonly authToken: string | undefined;
  readonly stateDir: string;
  readonly heartbeatMs: number;
  readonly interruptTtlMs: number;
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly roots: readonly string[];
  readonly demo: boolean;
  readonly logFormat: "text" | "json";
  readonly debug: boolean;
}

/** Where the process stands: what defaults depend on. */
export interface Surroundings {
  readonly env: (name: string) => string | undefined;
  readonly cwd: () => string;
  readonly tempDir: () => string;
}

const MIN_HEARTBEAT_MS = 50;

/** The settings, or every mistake in one sentence each. */
export function toSettings(
  values: Values,
  surroundings: Surroundings,
): { settings: Settings } | { mistakes: string[] } {
  const get = (name: OptionName) => values.get(name)?.value;
  const text = (name: OptionName) => get(name) as string | undefined;
  const list = (name: OptionName) => (get(name) ?? []) as readonly string[];
  const host = text("host") ?? "";
  const a2aUrl = text("a2a-url");
  const authToken = text("auth-token");
  const stateDir = text("state-dir") ?? defaultStateDir(surroundings.env);
  const mistakes = [
    ...(!isLoopbackHost(host) && authToken === undefined
      ? [`--host ${host} can be reached from other machines: set IAC_CODE_AGUI_AUTH_TOKEN, or listen on 127.0.0.1.`]
      : []),
    ...(list("allow-origin").includes("*") && authToken === undefined
      ? ["--allow-origin * lets every web page in: set IAC_CODE_AGUI_AUTH_TOKEN, or name the origins."]
      : []),
    ...(a2aUrl !== undefined && get("allow-remote-a2a") !== true && !isLoopbackHost(new URL(a2aUrl).hostname)
      ? ["--a2a-url must be on this machine, since requests carry cloud keys. --allow-remote-a2a accepts another one."]
      : []),
    ...(a2aUrl !== undefined && get("demo") === true ? ["--demo and --a2a-url exclude each other."] : []),
    ...(stateDir === undefined ? ["There is no home directory: name a state directory with --state-dir."] : []),
  ];
  if (mistakes.length > 0 || stateDir === undefined) return { mistakes };
  const settings: Settings = {
    host,
    port: get("port") as number,
    a2aUrl,
    a2aToken: text("a2a-token"),
    authToken,
    stateDir,
    heartbeatMs: Math.max(MIN_HEARTBEAT_MS, (get("heartbeat") as number) * 1000),
    interruptTtlMs: (get("interrupt-ttl") as number) * 1000,
    hosts: list("allow-host"),
    origins: list("allow-origin"),
    roots: list("allowed-cwds").length > 0 ? list("allowed-cwds") : [surroundings.cwd(), surroundings.tempDir()],
    demo: get("demo") === true,
    logFormat: text("log-format") === "json" ? "json" : "text",
    debug: get("debug") === true,
  };
  return { settings };
}

/** Whether a host means this machine only; brackets of an IPv6 address are forgiven. */
export function isLoopbackHost(host: string): boolean {
  return isLoopbackName(host.replace(/^\[|\]$/g, "").toLowerCase());
}

/** `<config-dir>/agui` of iac-code; undefined without a home. */
function defaultStateDir(env: (name: string) => string | undefined): string | undefined {
  const configured = env("IAC_CODE_CONFIG_DIR");
  if (configured) return `${configured}/agui`;
  const home = env("HOME") ?? env("USERPROFILE");
  return home ? `${home}/.iac-code/agui` : undefined;
}
