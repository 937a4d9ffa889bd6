/** The command line: flags, the command, and the help that tells of both. Pure. */
import { parseArgs } from "node:util";
import { type Option, TABLE } from "./options.ts";

export interface CommandLine {
  readonly flags: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  readonly command: Command;
  readonly mistakes: readonly string[];
}

/** What the program is to do. */
export type Command = "serve" | "doctor" | "print-config" | "help" | "version";

/** Splits arguments into flags and a command; unknown flags and words, and missing values, are mistakes. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const known = TABLE.filter(({ secret }) => !secret).map(({ name, kind, short }) => [name, {
    type: kind === "switch" ? "boolean" as const : "string" as const,
    ...((kind === "hosts" || kind === "origins") && { multiple: true }),
    ...(short !== undefined && { short }),
  }]);
  const options = {
    ...Object.fromEntries(known),
    help: { type: "boolean" as const, short: "h" },
    version: { type: "boolean" as const },
    "print-config": { type: "boolean" as const },
  };
  try {
    const parsed = parseArgs({
      args: withNumbers(args),
      options,
      strict: true,
      allowPositionals: true,
      allowNegative: true,
    });
    return { flags: parsed.values, ...findCommand(parsed.values, parsed.positionals) };
  } catch (error) {
    const [text = ""] = error instanceof Error ? error.message.split(/\. |\.?\n/) : [];
    return { flags: {}, command: "serve", mistakes: [`${text}. See --help.`] };
  }
}

/** A number below 0 is a wrong value, not a flag: `--port -1` is told as such. */
function withNumbers(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1);
    if (/^-\d/.test(arg) && before !== undefined && /^--[a-z0-9-]+$/.test(before)) {
      joined.push(`${joined.pop()}=${arg}`);
    } else joined.push(arg);
  }
  return joined;
}

function findCommand(flags: CommandLine["flags"], words: readonly string[]): Omit<CommandLine, "flags"> {
  if (flags.help === true) return { command: "help", mistakes: [] };
  if (flags.version === true) return { command: "version", mistakes: [] };
  const unknown = words.filter((word, at) => at > 0 || word !== "doctor");
  const mistakes = unknown.map((word) => `Unknown command ${JSON.stringify(word)}. See --help.`);
  const command = flags["print-config"] === true ? "print-config" : words[0] === "doctor" ? "doctor" : "serve";
  return { command, mistakes };
}

/** What `--help` prints. */
export function helpText(version: string): string {
  const flags = TABLE.filter(({ secret }) => !secret).map((
    option,
  ) => [flagOf(option), `${option.help}${notes(option)}`]);
  const more = [
    ["--print-config", "show the options and where each came from"],
    ["--version", "show the version"],
    ["-h, --help", "show this"],
  ];
  const secrets = TABLE.filter(({ secret }) => secret).map(({ env = [], help }) => [env[0] ?? "", help]);
  return `iac-code-agui ${version}: an AG-UI server beside iac-code

iac-code-agui [OPTIONS]          serve
iac-code-agui doctor [OPTIONS]   check what serving with these options needs

Options:
${columns([...flags, ...more])}

Secrets come from the environment or a config file:
${columns(secrets)}
`;
}

function flagOf({ name, kind, short, placeholder }: Option): string {
  const value = kind === "switch" ? "" : ` ${placeholder ?? kind.toUpperCase()}`;
  return `${short === undefined ? "" : `-${short}, `}--${name}${value}`;
}

function notes({ fallback, env = [] }: Option): string {
  const isTold = fallback !== undefined && fallback !== false && !Array.isArray(fallback);
  const all = [...(isTold ? [`default ${fallback}`] : []), ...env.slice(0, 1)];
  return all.length === 0 ? "" : ` [${all.join(", ")}]`;
}

function columns(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([left = ""]) => left.length)) + 2;
  return rows.map(([left = "", right = ""]) => `  ${left.padEnd(width)}${right}`).join("\n");
}
