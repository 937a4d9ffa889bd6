/** The service as a process of its own, as scripts start, look at, and kill it. */

export interface ServiceProcess {
  readonly url: string;
  readonly pid: number;
  /** Standard error so far. */
  readonly output: () => string;
  /** Resident memory in bytes and open files, from /proc; undefined where there is none. */
  look(): Promise<{ rssBytes: number; files: number } | undefined>;
  /** Sends a signal and waits for the end; gives the exit code, or the signal's name. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | string>;
}

export interface ServiceProcessOptions {
  readonly kernel: { readonly url: string; readonly token: string };
  readonly stateDir: string;
  readonly cwd: string;
  readonly flags?: readonly string[];
}

const MAIN = new URL("../main.ts", import.meta.url).pathname;
const CONFIG = new URL("../deno.json", import.meta.url).pathname;
const START_MS = 30_000;
const LOOK_MS = 10;
const KEPT_CHARS = 64 * 1024;

/** Starts the program on a free port and waits until it listens. Rejects with its output when it does not. */
export async function startService(
  { kernel, stateDir, cwd, flags = [] }: ServiceProcessOptions,
): Promise<ServiceProcess> {
  const own = ["--port", "0", "--a2a-url", kernel.url, "--state-dir", stateDir, ...flags];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-prompt", "--no-check", "--config", CONFIG, MAIN, ...own],
    env: { IAC_CODE_AGUI_A2A_TOKEN: kernel.token, IAC_CODE_AGUI_ALLOWED_CWDS: cwd },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let output = "";
  let running = true;
  const ended = child.status.finally(() => running = false);
  const read = (async () => {
    for await (const piece of child.stderr.pipeThrough(new TextDecoderStream())) {
      output = (output + piece).slice(-KEPT_CHARS);
    }
  })();
  const url = (): string | undefined => /listening url=(\S+)/.exec(output)?.[1];
  for (const until = Date.now() + START_MS; url() === undefined;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    if (running && Date.now() < until) continue;
    if (running) child.kill("SIGKILL");
    await Promise.all([ended, read]);
    throw new Error(`the service does not start: ${output.slice(-2_000)}`);
  }
  return {
    url: url() ?? "",
    pid: child.pid,
    output: () => output,
    look: () => look(child.pid),
    async end(signal) {
      if (running) child.kill(signal);
      const { code, signal: by } = await ended;
      await read;
      return by ?? code;
    },
  };
}

async function look(pid: number): Promise<{ rssBytes: number; files: number } | undefined> {
  try {
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    const rssBytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
    const files = (await Array.fromAsync(Deno.readDir(`/proc/${pid}/fd`))).length;
    return { rssBytes, files };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
