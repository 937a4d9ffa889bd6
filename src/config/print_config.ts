/** What `--print-config` prints: a config file that says where each value came from. Secrets are left out. Pure. */
import { fileKey, type Option, TABLE, type Value } from "./options.ts";
import type { Settings } from "./settings.ts";
import type { Source, Values } from "./values.ts";

/** Every option with its value and source, as YAML: what is not set, and every secret, as a comment. */
export function printConfig(values: Values, { stateDir, roots }: Settings): string {
  // Their defaults depend on where the program runs.
  const defaults = new Map<string, Value>([["state-dir", stateDir], ["allowed-cwds", roots]]);
  const rows = TABLE.map((option): [string, string] => {
    const found = values.get(option.name);
    const fallback = defaults.get(option.name);
    if (found) return [row(option, found.value), origin(found.source)];
    return fallback === undefined ? [`# ${fileKey(option.name)}:`, "not set"] : [row(option, fallback), "default"];
  });
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${left.padEnd(width)}  # ${right}\n`).join("");
}

function row({ name, secret, noFile }: Option, value: Value): string {
  if (secret) return `# ${fileKey(name)}: (hidden)`;
  // JSON is YAML, and quotes what has to be quoted.
  return `${noFile ? "# " : ""}${fileKey(name)}: ${JSON.stringify(value)}`;
}

function origin({ kind, from }: Source): string {
  return from === undefined ? kind : `${kind}: ${from}`;
}
