/** The program: options → edges → service. The only place that exits (docs/operators.md). */
import { optionHelp, readCommandLine, resolveOptions } from "./src/config/options.ts";
import { type Settings, toSettings } from "./src/config/settings.ts";
import { createLog } from "./src/log.ts";
import { serve, type Server } from "./src/server.ts";
import { createService } from "./src/service.ts";
import { lockState, type StateLock } from "./src/store/lock.ts";
import { makeStateDirectory, removeTempFiles } from "./src/store/thread_files.ts";
import { VERSION } from "./src/version.ts";

const NO_KERNEL = `There is no kernel to talk to. Either
  start one:        iac-code a2a --port 41242
  and name it:      --a2a-url http://127.0.0.1:41242 (its token in IAC_CODE_AGUI_A2A_TOKEN),
  or try without:   --demo`;

/** A start that cannot succeed: one clear line, exit code 2. */
function refuseStart(...lines: string[]): never {
  for (const line of lines) write(Deno.stderr, `iac-code-agui: ${line}\n`);
  Deno.exit(2);
}

function write(to: { writeSync(data: Uint8Array): number }, text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += to.writeSync(bytes.subarray(at));
}

/** A variable of the environment; one that may not be read counts as not set. */
function env(name: string): string | undefined {
  return Deno.permissions.querySync({ name: "env", variable: name }).state === "granted"
    ? Deno.env.get(name)
    : undefined;
}

function readSettings(): Settings {
  const { flags, words, mistakes } = readCommandLine(Deno.args);
  if (flags.help) {
    write(Deno.stdout, `iac-code-agui ${VERSION}: an AG-UI server beside iac-code\n\nOptions:\n${optionHelp()}\n`);
    Deno.exit(0);
  }
  if (flags.version) {
    write(Deno.stdout, `iac-code-agui ${VERSION}\n`);
    Deno.exit(0);
  }
  const unknown = words.map((word) => `Unknown command ${JSON.stringify(word)}. See --help.`);
  const resolved = resolveOptions(flags, env);
  const all = [...mistakes, ...unknown, ...resolved.mistakes];
  if (all.length > 0) refuseStart(...all);
  const made = toSettings(resolved.values, { env, cwd: Deno.cwd, tempDir });
  return "settings" in made ? made.settings : refuseStart(...made.mistakes);
}

function tempDir(): string {
  return env("TMPDIR") ?? env("TEMP") ?? "/tmp";
}

async function openState(stateDir: string): Promise<{ folder: string; lock: StateLock }> {
  try {
    const folder = await makeStateDirectory(stateDir);
    const lock = await lockState(stateDir);
    if (!lock) refuseStart(`another process uses the state directory ${stateDir}.`);
    await removeTempFiles(folder);
    return { folder, lock };
  } catch (error) {
    const why = error instanceof Error ? error.name : "unknown";
    refuseStart(`the state directory ${stateDir} cannot be written (${why}). Name another one with --state-dir.`);
  }
}

async function main(): Promise<void> {
  const settings = readSettings();
  if (!settings.demo && settings.a2aUrl === undefined) refuseStart(NO_KERNEL);
  const log = createLog({ format: settings.logFormat, level: settings.debug ? "debug" : "info" });
  const { folder, lock } = await openState(settings.stateDir);
  const kernelAt = { url: settings.a2aUrl ?? "", token: settings.a2aToken };
  const { app, services } = await createService(settings, kernelAt, folder, log);
  let server: Server;
  try {
    server = serve(app, services, settings);
  } catch (error) {
    const taken = error instanceof Deno.errors.AddrInUse;
    refuseStart(
      taken
        ? `port ${settings.port} is in use. Choose another one with --port.`
        : `cannot listen on ${settings.host}:${settings.port} (${error instanceof Error ? error.name : "unknown"}).`,
    );
  }
  log.info("listening", { url: `http://${settings.host}:${server.port}`, version: VERSION });
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) Deno.exit(130);
    stopping = true;
    log.info("stopping", { runs: services.runs.size });
    await server.stop();
    lock.release();
    Deno.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => void stop());
}

await main();
