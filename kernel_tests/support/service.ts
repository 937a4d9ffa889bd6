/** The service under test as a process of its own, so that it can be killed at any moment and started again. */
import { installKernel, KERNEL_TOKEN } from "./kernel.ts";
import { freePort, type Program, startProgram, untilListening } from "./program.ts";

export interface ServiceOptions {
  /** A folder of the test's own; workspaces lie below it. */
  readonly folder: string;
  readonly kernelUrl: string;
  /** Name of the state directory in the folder; processes that follow one another share it. */
  readonly state?: string;
  readonly flags?: readonly string[];
  /** By default a free one. */
  readonly port?: number;
}

export interface Service {
  readonly url: string;
  readonly stateDir: string;
  /** Ends the process as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on the same port and state directory. */
  start(): Promise<void>;
  /** Ends it as an operator does; the state directory is free then. */
  stop(): Promise<void>;
}

/** Starts the service and waits until it listens. */
export function startService(options: ServiceOptions): Promise<Service> {
  const main = new URL("../../main.ts", import.meta.url).pathname;
  return startOn([Deno.execPath(), "run", "-A", "--no-prompt", main], options);
}

/** Starts the Python adapter, which takes the same flags and variables, and waits until it listens. */
export async function startAdapter(options: ServiceOptions): Promise<Service> {
  return await startOn([await installKernel(), "agui"], options);
}

async function startOn(words: readonly string[], options: ServiceOptions): Promise<Service> {
  const { folder, kernelUrl, state = "state", flags = [], port = freePort() } = options;
  const stateDir = `${folder}/${state}`;
  const command = [...words, "--port", String(port), "--a2a-url", kernelUrl];
  const log = `${folder}/service-${state}.log`;
  const env = {
    IAC_CODE_AGUI_A2A_TOKEN: KERNEL_TOKEN,
    IAC_CODE_AGUI_ALLOWED_CWDS: folder,
    IAC_CODE_CONFIG_DIR: `${folder}/config`,
    IAC_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
  let program: Program | undefined;

  async function end(signal: Deno.Signal): Promise<void> {
    await program?.end(signal);
    program = undefined;
  }

  const service: Service = {
    url: `http://127.0.0.1:${port}`,
    stateDir,
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    async start() {
      if (program) return;
      program = startProgram({ log, command: [...command, "--state-dir", stateDir, ...flags], env });
      await untilListening(port, program, log);
    },
  };
  await service.start();
  return service;
}
