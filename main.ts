/** The program: command line → configuration → service. The only place that exits (docs/operators.md). */
import { type Command, helpText, readCommandLine } from "./src/config/command_line.ts";
import { type Configuration, readConfiguration } from "./src/config/read.ts";
import { systemSurroundings } from "./src/config/surroundings.ts";
import type { Settings } from "./src/config/settings.ts";
import { createLog, type OpenLog } from "./src/log.ts";
import { aborted, endSignal } from "./src/signals.ts";
import { startService } from "./src/start.ts";
import { EXIT, StartFailure } from "./src/start_failure.ts";
import { VERSION } from "./src/version.ts";

type Writer = { writeSync(data: Uint8Array): number };

function write(to: Writer, text: string): void {
  const bytes = new TextEncoder().encode(text);
  try {
    for (let at = 0; at < bytes.length;) at += to.writeSync(bytes.subarray(at));
  } catch (error) {
    // Who reads no further (`| head`) has seen enough.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** Carries a command out; gives the exit code. */
async function run(command: Command, configure: () => Promise<Configuration>): Promise<number> {
  switch (command) {
    case "help":
      write(Deno.stdout, helpText(VERSION));
      return EXIT.ok;
    case "version":
      write(Deno.stdout, `iac-code-agui ${VERSION}\n`);
      return EXIT.ok;
    case "print-config": {
      const { values, settings } = await configure();
      const { printConfig } = await import("./src/config/print_config.ts");
      write(Deno.stdout, printConfig(values, settings));
      return EXIT.ok;
    }
    case "doctor": {
      const { settings } = await configure();
      const { examine } = await import("./src/config/doctor.ts");
      return await examine(settings, (line) => write(Deno.stdout, `${line}\n`)) ? EXIT.ok : EXIT.failed;
    }
    case "serve":
      return await serve((await configure()).settings);
  }
}

/** Serves until a signal, or until idle for too long. A second signal exits at once. */
async function serve(settings: Settings): Promise<number> {
  const log = openLog(settings);
  const asked = endSignal(() => Deno.exit(EXIT.killed));
  try {
    const service = await startService(settings, log, asked);
    await Promise.race([aborted(asked), service.idle]);
    await service.stop();
    return EXIT.ok;
  } finally {
    await log.flush();
  }
}

function openLog({ logFormat, logStdout, debug }: Settings): OpenLog {
  return createLog({
    format: logFormat,
    level: debug ? "debug" : "info",
    ...(logStdout && { to: { isTerminal: Deno.stdout.isTerminal(), write: (bytes) => Deno.stdout.write(bytes) } }),
  });
}

async function main(): Promise<number> {
  const line = readCommandLine(Deno.args);
  try {
    return await run(line.command, () => readConfiguration(line, systemSurroundings()));
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    for (const told of error.lines) write(Deno.stderr, `iac-code-agui: ${told}\n`);
    return error.exitCode;
  }
}

Deno.exit(await main());
