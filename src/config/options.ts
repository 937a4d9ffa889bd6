/**
 * Every option of the program in one table (docs/operators.md): the name of its flag, its variable, its key in a config
 * file, its default. Names and defaults are those of `iac-code agui` 0.16. Pure.
 */
export type Kind =
  | "text"
  | "token"
  | "url"
  | "port"
  | "seconds"
  | "interval"
  | "switch"
  | "hosts"
  | "origins"
  | "paths"
  | "command"
  | "format";

export interface Option {
  /** Name of the flag; with `_` for `-` the key in a config file. */
  readonly name: string;
  readonly kind: Kind;
  /** Variables of the environment, the first that is set counts. */
  readonly env?: readonly string[];
  readonly fallback?: Value;
  readonly help: string;
  readonly placeholder?: string;
  readonly short?: string;
  /** Not a flag: everybody on the machine can read a command line. Never shown either. */
  readonly secret?: true;
  /** Not a key of a config file. */
  readonly noFile?: true;
}

export type Value = string | number | boolean | readonly string[];

export const OPTIONS = [
  { name: "host", kind: "text", env: ["IAC_CODE_AGUI_HOST"], fallback: "127.0.0.1", help: "address to listen on" },
  {
    name: "port",
    kind: "port",
    env: ["IAC_CODE_AGUI_PORT"],
    fallback: 8000,
    help: "port to listen on; 0 takes a free one",
  },
  {
    name: "a2a-url",
    kind: "url",
    env: ["IAC_CODE_AGUI_A2A_URL"],
    help: "kernel to use; without it one is started",
  },
  {
    name: "state-dir",
    kind: "text",
    env: ["IAC_CODE_AGUI_STATE_DIR"],
    help: "where thread files are kept [~/.iac-code/agui]",
    placeholder: "DIR",
  },
  {
    name: "allowed-cwds",
    kind: "paths",
    env: ["IAC_CODE_AGUI_ALLOWED_CWDS", "IACCODE_A2A_ALLOWED_CWDS"],
    help: "workspace roots [the working and the temp directory]",
    placeholder: "DIR[:DIR...]",
  },
  {
    name: "heartbeat",
    kind: "interval",
    fallback: 15,
    help: "silence after which a stream gets a comment",
    placeholder: "SECONDS",
  },
  { name: "interrupt-ttl", kind: "seconds", fallback: 540, help: "how long an interrupt may be answered; 0: for ever" },
  { name: "idle-shutdown", kind: "seconds", fallback: 0, help: "end after so long without anything to do; 0: never" },
  {
    name: "allow-host",
    kind: "hosts",
    fallback: [],
    help: "further host name to answer for (repeatable)",
    placeholder: "NAME",
  },
  {
    name: "allow-origin",
    kind: "origins",
    fallback: [],
    help: "origin whose pages may use the server (repeatable)",
    placeholder: "ORIGIN",
  },
  { name: "allow-remote-a2a", kind: "switch", fallback: false, help: "accept a kernel that is not on this machine" },
  { name: "kernel-command", kind: "command", fallback: "iac-code", help: "how to start a kernel" },
  { name: "kernel-port", kind: "port", fallback: 0, help: "port of a kernel that is started; 0 takes a free one" },
  { name: "console", kind: "switch", fallback: false, help: "serve a page at /console to talk to the agent" },
  { name: "demo", kind: "switch", fallback: false, help: "run on the embedded demo kernel, without iac-code" },
  { name: "log-format", kind: "format", fallback: "text", help: "text or json" },
  { name: "log-stdout", kind: "switch", fallback: false, help: "log to standard output instead of standard error" },
  { name: "debug", kind: "switch", fallback: false, help: "log more", short: "d" },
  { name: "config", kind: "text", help: "YAML or JSON file with these options", placeholder: "FILE", noFile: true },
  {
    name: "auth-token",
    kind: "token",
    env: ["IAC_CODE_AGUI_AUTH_TOKEN"],
    help: "token that clients have to send",
    secret: true,
  },
  { name: "a2a-token", kind: "token", env: ["IAC_CODE_AGUI_A2A_TOKEN"], help: "token of the kernel", secret: true },
] as const satisfies readonly Option[];

export type OptionName = typeof OPTIONS[number]["name"];

/** The table, as one that is walked. */
export const TABLE: readonly (Option & { readonly name: OptionName })[] = OPTIONS;

/** The key of an option in a config file. */
export function fileKey(name: string): string {
  return name.replaceAll("-", "_");
}
