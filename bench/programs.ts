/** The programs of the benchmark as child processes; all sockets are on 127.0.0.1, all files in one temporary folder. */
import { join } from "node:path";
import type { Job, StreamsJob, StreamsResult, TurnsJob, TurnsResult } from "./load.ts";

const HERE = import.meta.dirname ?? ".";
const START_MS = 30_000;
const POLL_MS = 2;

/** A server that is measured. */
export interface Target {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  /** Where it keeps its state. */
  readonly state: string;
  /** From its start to its first answer to /health, in ms. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** How to start a server; `state` is a folder of its own. */
export interface TargetKind {
  readonly name: string;
  command(at: { port: number; kernel: string; state: string }): { words: string[]; env?: Record<string, string> };
}

const deno = (...words: string[]) => [Deno.execPath(), "run", "--no-prompt", "-A", ...words];
const file = (name: string) => join(HERE, name);

/** As `deno task start` starts it. */
export const OURS: TargetKind = {
  name: "ours",
  command: (at) => ({ words: [...startWords(), ...flags(at)] }),
};

function startWords(): string[] {
  const { tasks } = JSON.parse(Deno.readTextFileSync(file("../deno.json")));
  const words: string[] = tasks.start.split(" ");
  return words.map((word) => word === "deno" ? Deno.execPath() : word === "main.ts" ? file("../main.ts") : word);
}

export const PIPE: TargetKind = {
  name: "pipe",
  command: ({ port, kernel }) => ({ words: [...deno(file("pipe.ts")), String(port), kernel] }),
};

/** The pipe whose bytes pass through JavaScript, started with the flags that ours is started with. */
export const SCRIPT_PIPE: TargetKind = {
  name: "scriptPipe",
  command: ({ port, kernel }) => {
    const words = startWords().filter((word) => word !== file("../main.ts"));
    return { words: [...words, file("pipe.ts"), String(port), kernel, "script"] };
  },
};

/** Our executable, when somebody compiled one. */
export function executable(path: string): TargetKind {
  return { name: "executable", command: (at) => ({ words: [path, ...flags(at)] }) };
}

/** The Python adapter, whose command starts with `words`. */
export function pythonAdapter(words: readonly string[]): TargetKind {
  return {
    name: "python",
    command: (at) => ({
      words: [...words, "--host", "127.0.0.1", ...flags(at)],
      env: { IAC_CODE_CONFIG_DIR: at.state, IAC_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
    }),
  };
}

function flags({ port, kernel, state }: { port: number; kernel: string; state: string }): string[] {
  return ["--port", String(port), "--a2a-url", kernel, "--state-dir", state];
}

/** Starts a server and waits for its first answer. */
export async function startTarget(kind: TargetKind, kernel: string, folder: string): Promise<Target> {
  const state = await Deno.makeTempDir({ dir: folder, prefix: `${kind.name}-` });
  const port = freePort();
  const { words: [command = "", ...args], env } = kind.command({ port, kernel, state });
  const began = performance.now();
  const child = new Deno.Command(command, {
    args,
    env: { IAC_CODE_AGUI_ALLOWED_CWDS: folder, DENO_NO_UPDATE_CHECK: "1", ...env },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let running = true;
  child.status.then(() => running = false);
  const url = `http://127.0.0.1:${port}`;
  while (!await answers(url)) {
    if (!running || performance.now() - began > START_MS) {
      throw new Error(`${kind.name} does not start: ${command} ${args.join(" ")}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const startMs = performance.now() - began;
  return {
    name: kind.name,
    url,
    pid: child.pid,
    state,
    startMs,
    async stop() {
      if (running) child.kill("SIGTERM");
      await child.status;
    },
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** The stand-in kernel. */
export async function startKernel(): Promise<{ url: string; stop(): Promise<void> }> {
  const child = helper("kernel_stand_in.ts", "null");
  const reader = lineReader(child.stdout);
  const port = Number(await reader.next());
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => end(child, reader),
  };
}

/** The clients. */
export interface Load {
  run(job: StreamsJob): Promise<StreamsResult>;
  run(job: TurnsJob): Promise<TurnsResult>;
  stop(): Promise<void>;
}

export function startLoad(): Load {
  const child = helper("load.ts", "piped");
  const reader = lineReader(child.stdout);
  const writer = child.stdin.getWriter();
  const run = async (job: Job) => {
    await writer.write(new TextEncoder().encode(`${JSON.stringify(job)}\n`));
    return JSON.parse(await reader.next());
  };
  return {
    run,
    async stop() {
      await writer.close();
      await end(child, reader);
    },
  };
}

function helper(name: string, stdin: "null" | "piped"): Deno.ChildProcess {
  const [command = "", ...args] = deno(file(name));
  return new Deno.Command(command, { args, stdin, stdout: "piped", stderr: "inherit" }).spawn();
}

async function end(child: Deno.ChildProcess, reader: LineReader): Promise<void> {
  const ended = await Promise.race([child.status, Promise.resolve(undefined)]);
  if (!ended) child.kill("SIGTERM");
  await child.status;
  await reader.cancel();
}

interface LineReader {
  /** The next line; rejects when there is none. */
  next(): Promise<string>;
  cancel(): Promise<void>;
}

function lineReader(stream: ReadableStream<Uint8Array>): LineReader {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let buffered = "";
  return {
    async next() {
      while (!buffered.includes("\n")) {
        const { value, done } = await reader.read();
        if (done) throw new Error("a program of the benchmark has ended");
        buffered += value;
      }
      const at = buffered.indexOf("\n");
      const line = buffered.slice(0, at);
      buffered = buffered.slice(at + 1);
      return line;
    },
    cancel: () => reader.cancel(),
  };
}
