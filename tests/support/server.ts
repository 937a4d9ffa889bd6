/** The service on a real port of 127.0.0.1, in this process, with a state directory of its own. */
import type { Settings } from "../../src/config/settings.ts";
import type { JsonObject } from "../../src/json.ts";
import { type Log, type LogFields, silentLog } from "../../src/log.ts";
import type { Services } from "../../src/run/context.ts";
import { serve } from "../../src/server.ts";
import { createService, type Edges } from "../../src/service.ts";
import { makeStateDirectory } from "../../src/store/state_directory.ts";
import { readEvents, type RunReader } from "./run_reader.ts";
import { type StrictThread, strictThread } from "./strict_stream.ts";

export interface ServerOptions {
  readonly heartbeatMs?: number;
  readonly interruptTtlMs?: number;
  readonly edges?: Edges;
  /** A directory that outlives this server; by default one that goes with it. */
  readonly stateDir?: string;
  /** A workspace that outlives this server. */
  readonly cwd?: string;
  readonly log?: Log;
}

export interface InputOptions {
  readonly text?: string;
  readonly resume?: JsonObject[];
  readonly iac?: JsonObject;
  readonly more?: JsonObject;
}

export interface TestServer extends AsyncDisposable {
  readonly port: number;
  readonly services: Services;
  /** The folder of the thread files. */
  readonly threads: string;
  /** A workspace that is allowed. */
  readonly cwd: string;
  /** What was logged as a warning or an error. */
  readonly complaints: string[];
  /** A RunAgentInput. */
  input(threadId: string, runId: string, options?: InputOptions): JsonObject;
  /** POST / with a body. */
  post(body: BodyInit, headers?: Record<string, string>): Promise<Response>;
  /** Starts a run; fails unless it is a stream. */
  run(threadId: string, runId: string, options?: InputOptions): Promise<RunReader>;
  cancel(executionId: string, body: JsonObject): Promise<Response>;
  /** The thread's file, parsed. */
  file(threadId: string): Promise<JsonObject>;
  stop(): Promise<void>;
}

/** Starts a server beside a kernel. */
export async function startServer(kernelUrl: string, options: ServerOptions = {}): Promise<TestServer> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "agui-" }));
  const stateDir = options.stateDir ?? `${root}/state`;
  const cwd = options.cwd ?? `${root}/work`;
  await Deno.mkdir(cwd, { recursive: true });
  const threads = await makeStateDirectory(stateDir);
  const complaints: string[] = [];
  const log = options.log ?? complaintLog(complaints);
  const settings = settingsOf(kernelUrl, stateDir, cwd, options);
  const kernelAt = { url: kernelUrl, token: "kernel-token" };
  const { app, services } = await createService(settings, kernelAt, threads, log, options.edges);
  const server = serve(app, services, { host: "127.0.0.1", port: 0 });
  const base = `http://127.0.0.1:${server.port}`;
  let stopping: Promise<void> | undefined;

  const input: TestServer["input"] = (threadId, runId, { text, resume, iac, more } = {}) => ({
    threadId,
    runId,
    state: {},
    messages: resume ? [] : [{ id: `message-${runId}`, role: "user", content: text ?? `message of ${runId}` }],
    tools: [],
    context: [],
    forwardedProps: { iacCode: { schemaVersion: 1, rosInvocationId: "invocation-1", cwd, runMode: "normal", ...iac } },
    ...(resume && { resume }),
    ...more,
  });
  const post: TestServer["post"] = (body, headers = {}) =>
    fetch(base, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
  const checks = new Map<string, StrictThread>();
  function strictOf(threadId: string): StrictThread {
    const strict = checks.get(threadId) ?? strictThread();
    checks.set(threadId, strict);
    return strict;
  }
  const stop = (): Promise<void> => stopping ??= server.stop().then(() => services.kernel.close());

  return {
    port: server.port,
    services,
    threads,
    cwd,
    complaints,
    input,
    post,
    run: async (threadId, runId, more) =>
      readEvents(await post(JSON.stringify(input(threadId, runId, more))), strictOf(threadId)),
    cancel: (executionId, body) =>
      fetch(`${base}/extensions/iac-code/v1/executions/${executionId}/cancel`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
    file: async (threadId) => JSON.parse(await Deno.readTextFile(`${threads}/${threadId}.json`)),
    stop,
    async [Symbol.asyncDispose]() {
      // The end of a test is not held up by a kernel that does not answer, or a clock that stands.
      services.aftermath.close();
      await stop();
      // A clock that stands may have ended the stop while a run was still writing its last file.
      await Promise.all([...services.runs].map(({ finished }) => finished));
      await Deno.remove(root, { recursive: true });
    },
  };
}

function settingsOf(a2aUrl: string, stateDir: string, cwd: string, options: ServerOptions): Settings {
  return {
    host: "127.0.0.1",
    port: 0,
    a2aUrl,
    a2aToken: "kernel-token",
    authToken: undefined,
    stateDir,
    heartbeatMs: options.heartbeatMs ?? 15_000,
    interruptTtlMs: options.interruptTtlMs ?? 540_000,
    hosts: [],
    origins: [],
    roots: [cwd],
    idleShutdownMs: 0,
    kernelCommand: [],
    kernelPort: 0,
    console: false,
    demo: false,
    logFormat: "text",
    logStdout: false,
    debug: false,
  };
}

function complaintLog(complaints: string[]): Log {
  const note = (message: string, fields: LogFields = {}): void =>
    void complaints.push(`${message} ${JSON.stringify(fields)}`);
  return { ...silentLog, warn: note, error: note };
}
