/** The program as a process of its own: what it logs and exports is read as an operator reads it. */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../src/json.ts";

export interface ServiceProcessOptions {
  readonly kernelUrl: string;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface ServiceProcess extends AsyncDisposable {
  readonly url: string;
  /** A workspace that is allowed. */
  readonly cwd: string;
  /** The lines of standard error so far, as JSON. */
  readonly lines: readonly JsonObject[];
  /** All of standard error so far. */
  readonly output: () => string;
  /** Reads nothing more of standard error; the pipe stays open, and fills. */
  stopReading(): Promise<void>;
  /** Closes the pipe of standard error. */
  closeErrors(): Promise<void>;
  /** Ends it as an operator does; gives the exit code. */
  stop(): Promise<number>;
}

const MAIN = new URL("../../main.ts", import.meta.url).pathname;
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;

/** Starts the program with JSON log lines and waits until it listens. */
export async function startProcess(
  { kernelUrl, flags = [], env = {} }: ServiceProcessOptions,
): Promise<ServiceProcess> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "agui-" }));
  const given = [
    "--port",
    "0",
    "--a2a-url",
    kernelUrl,
    "--state-dir",
    `${root}/state`,
    "--log-format",
    "json",
    ...flags,
  ];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-prompt", "--config", CONFIG, MAIN, ...given],
    env: { IAC_CODE_AGUI_ALLOWED_CWDS: root, ...env },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const errors = readLines(child.stderr);
  const { url } = await errors.until(({ message }) => message === "listening");
  assert.ok(typeof url === "string");
  let ended: Promise<number> | undefined;

  async function end(): Promise<number> {
    child.kill("SIGTERM");
    const { code } = await child.status;
    await errors.over();
    return code;
  }

  return {
    url,
    cwd: root,
    lines: errors.lines,
    output: errors.output,
    stopReading: errors.pause,
    closeErrors: errors.close,
    stop: () => ended ??= end(),
    async [Symbol.asyncDispose]() {
      await (ended ??= end());
      await Deno.remove(root, { recursive: true });
    },
  };
}

function readLines(stream: ReadableStream<Uint8Array>) {
  const lines: JsonObject[] = [];
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const wakers = new Set<() => void>();
  let output = "";
  let rest = "";
  let paused = false;
  let open = true;
  const wake = (): void => wakers.forEach((waker) => waker());

  const reading = (async () => {
    while (!paused) {
      const { done, value } = await reader.read();
      if (done) break;
      const piece = decoder.decode(value, { stream: true });
      output += piece;
      const whole = (rest + piece).split("\n");
      rest = whole.pop() ?? "";
      lines.push(...whole.map(objectOf));
      wake();
    }
    open = paused;
    wake();
  })();

  return {
    lines,
    output: () => output,
    async until(fits: (line: JsonObject) => boolean): Promise<JsonObject> {
      while (true) {
        const found = lines.find(fits);
        if (found) return found;
        assert.ok(open, `the process ended: ${output}`);
        const { promise, resolve } = Promise.withResolvers<void>();
        wakers.add(resolve);
        await promise;
        wakers.delete(resolve);
      }
    },
    /** The read that is under way is the last. */
    pause: () => Promise.resolve(void (paused = true)),
    close: () => reader.cancel(),
    async over(): Promise<void> {
      if (paused) await reader.cancel();
      await reading;
    },
  };
}

function objectOf(line: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    assert.fail(`not a JSON line: ${line}`);
  }
  return isObject(value) ? value : assert.fail(`not an object: ${line}`);
}

/** A RunAgentInput for a process. */
export function runInput(
  cwd: string,
  threadId: string,
  runId: string,
  more: { iacCode?: JsonObject; text?: string; resume?: JsonObject[] } = {},
): JsonObject {
  const { iacCode, text = `message of ${runId}`, resume } = more;
  return {
    threadId,
    runId,
    state: {},
    messages: resume ? [] : [{ id: `message-${runId}`, role: "user", content: text }],
    tools: [],
    context: [],
    forwardedProps: { iacCode: { schemaVersion: 1, rosInvocationId: "invocation-1", cwd, ...iacCode } },
    ...(resume && { resume }),
  };
}
