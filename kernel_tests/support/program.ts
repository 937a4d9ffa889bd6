/** Processes of the tests: output into a file, readiness by their port, and an end that is waited for. */

/** A process under way. */
export interface Program {
  readonly isRunning: boolean;
  /** Sends a signal and waits until the process is gone. */
  end(signal?: Deno.Signal): Promise<void>;
}

export interface ProgramOptions {
  /** File that gets both output streams, appended. */
  readonly log: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How long a program may take to listen; a kernel on a busy machine needs several seconds. */
const READY_MS = 60_000;
const POLL_MS = 25;

/** Starts a process. Its output goes to a file, since nobody reads a pipe while a test waits for something else. */
export function startProgram({ log, command, env }: ProgramOptions): Program {
  const child = new Deno.Command("/bin/sh", {
    args: ["-c", 'log=$1; shift; exec "$@" >>"$log" 2>&1', "sh", log, ...command],
    env: { ...env },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let running = true;
  const gone = child.status.then(() => void (running = false));
  return {
    get isRunning() {
      return running;
    },
    async end(signal = "SIGKILL") {
      if (running) child.kill(signal);
      await gone;
    },
  };
}

/** Waits until a program listens on a port of this machine; throws with the end of its output when it does not. */
export async function untilListening(port: number, program: Program, log: string): Promise<void> {
  const until = Date.now() + READY_MS;
  while (program.isRunning && Date.now() < until) {
    if (await listens(port)) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const output = await Deno.readTextFile(log).catch(() => "");
  throw new Error(`nothing listens on ${port}: ${output.slice(-2000)}`);
}

async function listens(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    return true;
  } catch {
    return false;
  }
}

/** Ports that no system hands out by itself: a program that is started again on its port must find it free. */
const PORTS = { from: 12_000, count: 20_000 };

/** A port that nobody listens on. */
export function freePort(): number {
  for (let tries = 0; tries < 100; tries++) {
    const port = PORTS.from + Math.floor(Math.random() * PORTS.count);
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
  throw new Error("no port is free");
}
