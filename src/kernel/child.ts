/**
 * A kernel that we start and watch: on a free port with a token of its own, started again when it dies, ended with us
 * (docs/operators.md, "A kernel of its own").
 */
import { type Clock, systemClock } from "../clock.ts";
import {
  KERNEL_LAST_WORDS_MS,
  KERNEL_LOG_LINE_CHARS,
  KERNEL_READY_STEP_MS,
  KERNEL_RESTART_FIRST_MS,
  KERNEL_RESTART_LONGEST_MS,
  KERNEL_START_MS,
  KERNEL_STEADY_MS,
  KERNEL_STOP_MS,
  LOG_VALUE_CHARS,
} from "../limits.ts";
import { linkedAbort } from "../linked_abort.ts";
import { errorKind, KERNEL_LINE, type Log } from "../log.ts";
import { EXIT, StartFailure } from "../start_failure.ts";
import { askHealth } from "./health.ts";
import { eachLine } from "./log_lines.ts";

export interface ManagedKernelOptions {
  /** The command and its first arguments. */
  readonly command: readonly string[];
  /** 0 takes a free port. */
  readonly port: number;
  /** Directories that the kernel may work in. */
  readonly roots: readonly string[];
  readonly log: Log;
  readonly clock?: Clock;
  /** Gives the start up. */
  readonly signal?: AbortSignal;
}

export interface ManagedKernel {
  readonly url: string;
  readonly token: string;
  /** Ends the kernel: asks it, and after 5 s kills it. Resolves when it is gone. */
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
const EXITS = ["unload", "error", "unhandledrejection"] as const;

/** Starts a kernel and waits until it answers. Throws StartFailure; then nothing is left running. */
export async function startManagedKernel(options: ManagedKernelOptions): Promise<ManagedKernel> {
  const { log, clock = systemClock, signal } = options;
  const port = options.port === 0 ? freePort() : options.port;
  const token = crypto.randomUUID() + crypto.randomUUID();
  const url = new URL(`http://${HOST}:${port}`);
  const closing = new AbortController();
  let child = spawn(options, port, token);
  /** Resolves when the kernel that was started last is gone. */
  let ended = follow(child, log);
  const kill = (): void => send(child, "SIGKILL");
  // However this program exits, its kernel does not stay behind.
  for (const event of EXITS) addEventListener(event, kill);
  const forget = (): void => EXITS.forEach((event) => removeEventListener(event, kill));

  async function becomesReady(): Promise<Readiness> {
    const until = clock.elapsed() + KERNEL_START_MS;
    const gone = new AbortController();
    void ended.then(() => gone.abort());
    using linked = linkedAbort(gone.signal, closing.signal, signal);
    const stop = linked.signal;
    while (clock.elapsed() < until) {
      const health = await askHealth(url, token, KERNEL_START_MS, stop);
      if (gone.signal.aborted) return "dead";
      if (stop.aborted) return "stopped";
      if (health?.status === 200) {
        log.info("kernel ready", { url: url.origin, version: health.version, pid: child.pid });
        return "ready";
      }
      await clock.sleep(KERNEL_READY_STEP_MS, stop);
    }
    return "late";
  }

  async function end(): Promise<void> {
    const over = new AbortController();
    send(child, "SIGTERM");
    void clock.sleep(KERNEL_STOP_MS, over.signal).then(() => over.signal.aborted || kill());
    await ended;
    over.abort();
  }

  /** Starts the kernel again whenever it has died, until it is to be closed. */
  async function watch(): Promise<void> {
    let wait = KERNEL_RESTART_FIRST_MS;
    for (let began = clock.elapsed();; began = clock.elapsed()) {
      const { code, signal } = await ended;
      if (closing.signal.aborted) return;
      if (clock.elapsed() - began >= KERNEL_STEADY_MS) wait = KERNEL_RESTART_FIRST_MS;
      log.error("the kernel ended; it is started again", { code, signal: signal ?? undefined, inMs: wait });
      await clock.sleep(wait, closing.signal);
      if (closing.signal.aborted) return;
      wait = Math.min(2 * wait, KERNEL_RESTART_LONGEST_MS);
      try {
        child = spawn(options, port, token);
      } catch (error) {
        // Its file is being replaced, for example: the next attempt may find it.
        log.error("the kernel cannot be started", { failure: errorKind(error) });
        continue;
      }
      ended = follow(child, log);
      if (await becomesReady() === "late") await end();
    }
  }

  const readiness = await becomesReady();
  if (readiness !== "ready") {
    await end();
    forget();
    throw notReady(readiness);
  }
  const watched = watch();
  return {
    url: url.href,
    token,
    async close() {
      closing.abort();
      await end();
      await watched;
      forget();
    },
  };
}

type Readiness = "ready" | "dead" | "late" | "stopped";

function notReady(readiness: Exclude<Readiness, "ready">): StartFailure {
  if (readiness === "stopped") return new StartFailure([], EXIT.ok);
  const why = readiness === "dead" ? "it ended before it answered" : `no answer within ${KERNEL_START_MS / 1000} s`;
  return new StartFailure([`The kernel did not start: ${why}. Its own lines above say more.`], EXIT.failed);
}

/** A message on how to get a kernel, after the sentence that says what is missing. */
export function noKernel(why: string): StartFailure {
  return new StartFailure([
    `There is no kernel to talk to: ${why} Either
  install it:            pip install 'iac-code[a2a]==0.16.0' 'a2a-sdk==1.1.5'
  or say where it is:    --kernel-command /path/to/iac-code
  or use a running one:  --a2a-url http://127.0.0.1:41242 (its token in IAC_CODE_AGUI_A2A_TOKEN)
  or try without:        --demo`,
  ]);
}

function spawn(
  { command: [command = "", ...first], roots }: ManagedKernelOptions,
  port: number,
  token: string,
): Deno.ChildProcess {
  const exposure = ["raw-thinking", "tool-trace"].flatMap((kind) => ["--thinking-exposure", kind]);
  try {
    return new Deno.Command(command, {
      args: [...first, "a2a", "--host", HOST, "--port", String(port), ...exposure],
      env: {
        "IACCODE_A2A_HTTP_TOKEN": token,
        "IACCODE_A2A_ALLOWED_CWDS": roots.join(Deno.build.os === "windows" ? ";" : ":"),
        // The agent's shell sees the kernel's environment; our tokens are not its business.
        "IAC_CODE_AGUI_AUTH_TOKEN": "",
        "IAC_CODE_AGUI_A2A_TOKEN": "",
      },
      // A terminal's Ctrl-C goes to us alone, so that runs are ended before their kernel is.
      detached: Deno.build.os !== "windows",
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw noKernel(`the command ${command} was not found.`);
    if (error instanceof Deno.errors.PermissionDenied) throw noKernel(`the file ${command} cannot be executed.`);
    throw error;
  }
}

/** Passes a child's output on to the log, and resolves with its status when it is gone. */
async function follow(child: Deno.ChildProcess, log: Log): Promise<Deno.CommandStatus> {
  function say(line: string): void {
    for (let at = 0; at < line.length; at += LOG_VALUE_CHARS) {
      log.info(KERNEL_LINE, { says: line.slice(at, at + LOG_VALUE_CHARS) });
    }
  }
  const readers = [child.stdout.getReader(), child.stderr.getReader()];
  const read = Promise.all(readers.map((reader) => eachLine(reader, KERNEL_LOG_LINE_CHARS, say)));
  const status = await child.status;
  // What it started may hold its output open; only its own last words are waited for.
  const late = setTimeout(() => readers.forEach((reader) => void reader.cancel()), KERNEL_LAST_WORDS_MS);
  await read;
  clearTimeout(late);
  return status;
}

function send(child: Deno.ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    child.kill(signal);
  } catch (error) {
    // It is gone already.
    if (!(error instanceof TypeError) && !(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: HOST, port: 0 });
  return listener.addr.port;
}
