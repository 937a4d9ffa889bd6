/** Command line, environment and config file → settings, or a start failure that lists every mistake. */
import type { CommandLine } from "./command_line.ts";
import { StartFailure } from "../start_failure.ts";
import { isGranted, missing, path, unreadVariables } from "./permissions.ts";
import { type Settings, toSettings } from "./settings.ts";
import type { Surroundings } from "./surroundings.ts";
import { type ConfigFile, resolveValues, type Values } from "./values.ts";

export interface Configuration {
  readonly values: Values;
  readonly settings: Settings;
}

/** More than any list of options. */
const CONFIG_BYTES = 1024 * 1024;

/** Reads the configuration. Throws StartFailure. */
export async function readConfiguration(line: CommandLine, around: Surroundings): Promise<Configuration> {
  if (line.mistakes.length > 0) throw new StartFailure(line.mistakes);
  const named = line.flags.config;
  const file = typeof named === "string" && named !== "" ? await readConfigFile(named) : undefined;
  const { values, mistakes } = resolveValues(line.flags, around.env, file, around.windows ? ";" : ":");
  if (mistakes.length > 0) throw new StartFailure(mistakes);
  const made = toSettings(values, around);
  // A variable that may not be read could hold a token: going on without it would leave the door open.
  const unread = unreadVariables(around.unread);
  if (unread.length > 0) throw new StartFailure(unread);
  if ("mistakes" in made) throw new StartFailure(made.mistakes);
  return { values, settings: made.settings };
}

async function readConfigFile(name: string): Promise<ConfigFile> {
  const need = path("read", `read the config file ${name}`, name);
  if (!isGranted(need.permission)) throw new StartFailure(missing([need]));
  let text: string;
  try {
    if ((await Deno.stat(name)).size > CONFIG_BYTES) throw new StartFailure([`The config file ${name} is too large.`]);
    text = await Deno.readTextFile(name);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof StartFailure) throw error;
    throw new StartFailure([`The config file ${name} cannot be read (${error.name}).`], undefined, { cause: error });
  }
  const { readConfig } = await import("./config_file.ts");
  const read = readConfig(text, name);
  if ("mistakes" in read) throw new StartFailure(read.mistakes);
  return read.file;
}
