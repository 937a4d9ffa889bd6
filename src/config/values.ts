/** Flags over environment over config file over defaults: the value of every option, or a precise mistake. Pure. */
import type { CommandLine } from "./command_line.ts";
import { type Kind, type Option, type OptionName, TABLE, type Value } from "./options.ts";

/** Where a value came from; `from` names the flag, the variable, or the file and line. */
export interface Source {
  readonly kind: "flag" | "environment" | "config file" | "default";
  readonly from?: string;
}

/** Every option that has a value. */
export type Values = ReadonlyMap<OptionName, { readonly value: Value; readonly source: Source }>;

/** What a config file holds: raw values by option name, and where each stands. */
export interface ConfigFile {
  readonly values: ReadonlyMap<string, unknown>;
  readonly where: (name: string) => string;
}

/** Resolves all options; each mistake names the flag, the variable, or the line that is wrong. */
export function resolveValues(
  flags: CommandLine["flags"],
  env: (name: string) => string | undefined,
  file: ConfigFile | undefined,
  delimiter: string,
): { values: Values; mistakes: string[] } {
  const values = new Map<OptionName, { value: Value; source: Source }>();
  const mistakes: string[] = [];
  for (const option of TABLE) {
    const found = findValue(option, flags, env, file);
    if (!found) continue;
    const value = readValue(option.kind, found.raw, found.source.kind, delimiter);
    if (value === undefined) mistakes.push(`${found.source.from ?? option.name} ${EXPECTED[option.kind]}`);
    else values.set(option.name, { value, source: found.source });
  }
  return { values, mistakes };
}

function findValue(
  { name, env: variables = [], fallback }: Option,
  flags: CommandLine["flags"],
  env: (name: string) => string | undefined,
  file: ConfigFile | undefined,
): { raw: unknown; source: Source } | undefined {
  const flag = flags[name];
  if (flag !== undefined) return { raw: flag, source: { kind: "flag", from: `--${name}` } };
  for (const variable of variables) {
    const set = env(variable);
    if (set !== undefined && set !== "") return { raw: set, source: { kind: "environment", from: variable } };
  }
  const kept = file?.values.get(name);
  // The Python adapter takes an empty value for one that is not set.
  if (file && kept !== undefined && kept !== null && kept !== "") {
    return { raw: kept, source: { kind: "config file", from: file.where(name) } };
  }
  return fallback === undefined ? undefined : { raw: fallback, source: { kind: "default" } };
}

const EXPECTED: Readonly<Record<Kind, string>> = {
  text: "must be a text that is not empty.",
  token: "must be printable ASCII characters without spaces, as a header can carry.",
  url: "must be an http or https URL without user name, query and fragment.",
  port: "must be a port from 0 to 65535.",
  seconds: "must be a number of seconds, 0 or more and at most a year.",
  interval: "must be a number of seconds, 0.05 or more and at most a year.",
  switch: "must be true or false.",
  hosts: "must be host names as in a Host header, such as agui.example.com, without scheme and path.",
  origins:
    "must be origins as browsers send them, such as https://app.example.com, without a path or a slash at the end; or *.",
  paths: "must be absolute paths.",
  command: "must be a command, or a list of a command and its arguments.",
  format: "must be text or json.",
};

const MIN_INTERVAL_SECONDS = 0.05;
const MAX_SECONDS = 365 * 24 * 3600;

function readValue(kind: Kind, raw: unknown, from: Source["kind"], delimiter: string): Value | undefined {
  // Flags and variables are text; a config file has numbers of its own, and a text there is a mistake.
  const number = typeof raw === "string" && from !== "config file" && /^\d+(\.\d+)?$/.test(raw) ? Number(raw) : raw;
  switch (kind) {
    case "text":
      return typeof raw === "string" && raw !== "" ? raw : undefined;
    case "token":
      return typeof raw === "string" && /^[!-~]+$/.test(raw) ? raw : undefined;
    case "url":
      return typeof raw === "string" && isPlainUrl(raw) ? raw : undefined;
    case "port":
      return isNumber(number, 65_535) && Number.isInteger(number) ? number : undefined;
    case "seconds":
      return isNumber(number, MAX_SECONDS) ? number : undefined;
    case "interval":
      return isNumber(number, MAX_SECONDS) && number >= MIN_INTERVAL_SECONDS ? number : undefined;
    case "switch":
      return typeof raw === "boolean" ? raw : undefined;
    case "hosts":
      return readNames(raw, isHost);
    case "origins":
      return readNames(raw, isOrigin);
    case "paths":
      return readPaths(typeof raw === "string" ? raw.split(delimiter).filter((path) => path !== "") : raw);
    case "command":
      return readFilled(typeof raw === "string" ? raw.split(" ").filter((word) => word !== "") : raw);
    case "format":
      return raw === "text" || raw === "json" ? raw : undefined;
  }
}

function isNumber(raw: unknown, most: number): raw is number {
  return typeof raw === "number" && raw >= 0 && raw <= most;
}

function readList(raw: unknown): readonly string[] | undefined {
  const isList = Array.isArray(raw) && raw.every((item) => typeof item === "string" && item !== "");
  return isList ? raw as string[] : undefined;
}

function readNames(raw: unknown, isName: (text: string) => boolean): readonly string[] | undefined {
  const list = readList(typeof raw === "string" ? [raw] : raw);
  return list?.every(isName) ? list : undefined;
}

/** A name or address, perhaps with a port, as a client writes it into a Host header. */
function isHost(text: string): boolean {
  const isBareAddress = /^[0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*$/i.test(text);
  const url = URL.parse(`http://${isBareAddress ? `[${text}]` : text}/`);
  return url !== null && (isBareAddress || url.host === text.toLowerCase().replace(/:80$/, ""));
}

/** What a browser may send as Origin: of its own schemes, such as those of extensions, no more than the form is known. */
function isOrigin(text: string): boolean {
  if (text === "*" || text === "null") return true;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[!-~]+$/i.test(text) || /[/?#@*\\]/.test(text.replace("://", ""))) return false;
  return !/^https?:/i.test(text) || URL.parse(text)?.origin === text.toLowerCase();
}

function readFilled(raw: unknown): readonly string[] | undefined {
  const list = readList(raw);
  return list && list.length > 0 ? list : undefined;
}

function readPaths(raw: unknown): readonly string[] | undefined {
  const paths = readFilled(raw);
  const isAbsolute = (path: string): boolean => path.startsWith("/") || /^[A-Za-z]:[\\/]|^\\\\/.test(path);
  return paths?.every(isAbsolute) ? paths : undefined;
}

function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ["http:", "https:"].includes(url.protocol) && url.username + url.password === "" &&
    url.search + url.hash === "";
}
