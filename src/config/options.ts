/**
 * Flags over environment over config file over defaults (docs/operators.md): one table, read into settings or into a list
 * of precise mistakes. Names and defaults are those of `iac-code agui` 0.16. Pure.
 */
import { parseArgs } from "node:util";

type Kind = "text" | "url" | "port" | "seconds" | "switch" | "list" | "paths" | "format";

interface Option {
  /** Name of the flag, and with `_` for `-` the key in a config file. */
  readonly name: string;
  readonly kind: Kind;
  readonly env?: readonly string[];
  readonly fallback?: Value;
  readonly help: string;
  readonly placeholder?: string;
  /** Not a flag: secrets on a command line can be read by everybody. */
  readonly noFlag?: true;
  readonly secret?: true;
  /** Not to be put into a config file. */
  readonly noFile?: true;
}

export type Value = string | number | boolean | readonly string[];
export type Source = "flag" | "environment" | "config file" | "default";

export const OPTIONS = [
  { name: "host", kind: "text", env: ["IAC_CODE_AGUI_HOST"], fallback: "127.0.0.1", help: "address to listen on" },
  {
    name: "port",
    kind: "port",
    env: ["IAC_CODE_AGUI_PORT"],
    fallback: 8000,
    help: "port to listen on; 0 picks a free one",
  },
  { name: "a2a-url", kind: "url", env: ["IAC_CODE_AGUI_A2A_URL"], help: "kernel to use instead of starting one" },
  {
    name: "state-dir",
    kind: "text",
    env: ["IAC_CODE_AGUI_STATE_DIR"],
    help: "where thread files are kept",
    placeholder: "DIR",
  },
  { name: "heartbeat", kind: "seconds", fallback: 15, help: "silence after which a stream gets a comment" },
  { name: "interrupt-ttl", kind: "seconds", fallback: 540, help: "how long an interrupt may be answered; 0: for ever" },
  {
    name: "allow-host",
    kind: "list",
    fallback: [],
    help: "further host name to answer for (repeatable)",
    placeholder: "NAME",
  },
  {
    name: "allow-origin",
    kind: "list",
    fallback: [],
    help: "origin whose pages may use the server (repeatable)",
    placeholder: "ORIGIN",
  },
  { name: "allow-remote-a2a", kind: "switch", fallback: false, help: "accept a kernel that is not on this machine" },
  { name: "demo", kind: "switch", fallback: false, help: "run on the embedded demo kernel, without iac-code" },
  { name: "log-format", kind: "format", fallback: "text", help: "text or json", placeholder: "FORMAT" },
  { name: "debug", kind: "switch", fallback: false, help: "log more" },
  { name: "config", kind: "text", help: "YAML or JSON file with these options", placeholder: "FILE", noFile: true },
  {
    name: "auth-token",
    kind: "text",
    env: ["IAC_CODE_AGUI_AUTH_TOKEN"],
    help: "token that clients must send",
    noFlag: true,
    secret: true,
  },
  {
    name: "a2a-token",
    kind: "text",
    env: ["IAC_CODE_AGUI_A2A_TOKEN"],
    help: "token for the kernel",
    noFlag: true,
    secret: true,
  },
  {
    name: "allowed-cwds",
    kind: "paths",
    env: ["IAC_CODE_AGUI_ALLOWED_CWDS", "IACCODE_A2A_ALLOWED_CWDS"],
    help: "workspace roots",
    noFlag: true,
  },
] as const satisfies readonly Option[];

export type OptionName = typeof OPTIONS[number]["name"];
const TABLE: readonly Option[] = OPTIONS;

/** Every option that has a value, and where it came from. */
export type Values = ReadonlyMap<OptionName, { readonly value: Value; readonly source: Source }>;

export interface CommandLine {
  readonly flags: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  /** Words that are no flags: the command. */
  readonly words: readonly string[];
  readonly mistakes: readonly string[];
}

/** Splits arguments into flags and words; unknown flags and missing values are mistakes. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const known = TABLE.filter(({ noFlag }) => !noFlag).map(({ name, kind }) => [name, {
    type: kind === "switch" ? "boolean" as const : "string" as const,
    ...(kind === "list" && { multiple: true }),
    ...(name === "debug" && { short: "d" }),
  }]);
  const extra = {
    help: { type: "boolean" as const, short: "h" },
    version: { type: "boolean" as const },
    "print-config": { type: "boolean" as const },
  };
  try {
    const options = { ...Object.fromEntries(known), ...extra };
    const { values, positionals } = parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
    return { flags: values, words: positionals, mistakes: [] };
  } catch (error) {
    const text = error instanceof Error ? error.message.split(". ")[0] ?? "" : String(error);
    return { flags: {}, words: [], mistakes: [text] };
  }
}

/** What a config file holds: raw values by option name, and how a mistake in one is told. */
export interface ConfigFile {
  readonly values: ReadonlyMap<string, unknown>;
  readonly where: (name: string) => string;
}

/** Resolves all options; each mistake names the flag, the variable, or the line that is wrong. */
export function resolveOptions(
  flags: CommandLine["flags"],
  env: (name: string) => string | undefined,
  file?: ConfigFile,
): { values: Values; mistakes: string[] } {
  const values = new Map<OptionName, { value: Value; source: Source }>();
  const mistakes: string[] = [];
  for (const option of TABLE) {
    const found = findValue(option, flags, env, file);
    if (!found) continue;
    const read = readValue(option.kind, found.raw);
    if (read === undefined) mistakes.push(`${found.where} ${EXPECTED[option.kind]}`);
    else values.set(option.name as OptionName, { value: read, source: found.source });
  }
  return { values, mistakes };
}

function findValue(
  { name, env: variables = [], fallback }: Option,
  flags: CommandLine["flags"],
  env: (name: string) => string | undefined,
  file: ConfigFile | undefined,
): { raw: unknown; source: Source; where: string } | undefined {
  const flag = flags[name];
  if (flag !== undefined) return { raw: flag, source: "flag", where: `--${name}` };
  for (const variable of variables) {
    const set = env(variable);
    if (set !== undefined && set !== "") return { raw: set, source: "environment", where: variable };
  }
  const kept = file?.values.get(name);
  if (file && kept !== undefined) return { raw: kept, source: "config file", where: file.where(name) };
  return fallback === undefined ? undefined : { raw: fallback, source: "default", where: name };
}

const EXPECTED: Readonly<Record<Kind, string>> = {
  text: "must be a text that is not empty.",
  url: "must be an http or https URL.",
  port: "must be a port from 0 to 65535.",
  seconds: "must be a number of seconds, 0 or more.",
  switch: "must be true or false.",
  list: "must be a text, or a list of texts.",
  paths: "must be a list of absolute paths.",
  format: "must be text or json.",
};

const MAX_SECONDS = 365 * 24 * 3600;

function readValue(kind: Kind, raw: unknown): Value | undefined {
  switch (kind) {
    case "text":
      return typeof raw === "string" && raw !== "" ? raw : undefined;
    case "url":
      return typeof raw === "string" && isHttpUrl(raw) ? raw : undefined;
    case "port":
      return readNumber(raw, (port) => Number.isInteger(port) && port <= 65_535);
    case "seconds":
      return readNumber(raw, (seconds) => seconds <= MAX_SECONDS);
    case "switch":
      return typeof raw === "boolean" ? raw : raw === "true" ? true : raw === "false" ? false : undefined;
    case "list":
      return readList(typeof raw === "string" ? [raw] : raw);
    case "paths":
      return readList(typeof raw === "string" ? raw.split(DELIMITER).filter((path) => path !== "") : raw);
    case "format":
      return raw === "text" || raw === "json" ? raw : undefined;
  }
}

const DELIMITER = typeof Deno !== "undefined" && Deno.build.os === "windows" ? ";" : ":";

function readNumber(raw: unknown, fits: (value: number) => boolean): number | undefined {
  const value = typeof raw === "string" && /^\d+(\.\d+)?$/.test(raw) ? Number(raw) : raw;
  return typeof value === "number" && Number.isFinite(value) && value >= 0 && fits(value) ? value : undefined;
}

function readList(raw: unknown): readonly string[] | undefined {
  const isList = Array.isArray(raw) && raw.every((item) => typeof item === "string" && item !== "");
  return isList ? raw as string[] : undefined;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol);
}

/** The help's table of options. */
export function optionHelp(): string {
  const rows = TABLE.map(({ name, kind, env = [], fallback, help, placeholder, noFlag }) => {
    const flag = noFlag ? "" : `--${name}${kind === "switch" ? "" : ` ${placeholder ?? kind.toUpperCase()}`}`;
    const notes = [
      ...(fallback === undefined || fallback === false || Array.isArray(fallback) ? [] : [`default ${fallback}`]),
      ...env.slice(0, 1),
    ];
    return {
      flag: flag || (env[0] ?? ""),
      help: `${help}${notes.length > 0 && !noFlag ? ` [${notes.join(", ")}]` : ""}`,
    };
  });
  const width = Math.max(...rows.map(({ flag }) => flag.length)) + 2;
  return rows.map(({ flag, help }) => `  ${flag.padEnd(width)}${help}`).join("\n");
}
