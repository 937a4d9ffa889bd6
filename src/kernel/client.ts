/**
 * JSON-RPC to the kernel over fetch: plain calls, and streams as batches of frames (docs/protocol.md, "The kernel").
 * An edge: it sends, reads and parses; what an answer means is decided elsewhere.
 */
import { type Clock, systemClock } from "../clock.ts";
import { isObject, type JsonObject } from "../json.ts";
import { KERNEL_CALL_MS, KERNEL_POOL_IDLE_MS } from "../limits.ts";
import { type LinkedAbort, linkedAbort } from "../linked_abort.ts";
import { isLoopback } from "../loopback.ts";
import { frameStream, type KernelStream, readText, singleFrame } from "./answer_body.ts";
import { KernelFailure, toFailure } from "./failure.ts";
import { type Execution, executionOf } from "./session.ts";
import { type Frame, parseFrame, type PipelineState } from "./wire.ts";

export interface Kernel {
  /** Opens a stream; resolves with the response's head. A JSON answer is a stream of one frame. */
  stream(
    method: "SendStreamingMessage" | "SubscribeToTask",
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<KernelStream>;
  /** Asks once, within `timeoutMs`. */
  call(
    method: "SendMessage" | "GetTask" | "CancelTask",
    params: JsonObject,
    signal?: AbortSignal,
    timeoutMs?: number,
  ): Promise<Frame>;
  /** Asks the kernel to have a session at hand: `ready`, `lost` (it knows none), or `notReady` (try again). */
  ensureRestored(
    cwd: string,
    sessionId: string,
    taskId: string,
    signal: AbortSignal,
  ): Promise<"ready" | "lost" | "notReady">;
  /** The pipeline's snapshot and the events after a sequence; undefined when the task has no pipeline. */
  pipelineState(taskId: string, afterSequence: number, signal: AbortSignal): Promise<PipelineState | undefined>;
  /** What a context's newest execution does at this moment; undefined when the kernel, since its start, had none in it. */
  execution(contextId: string, signal: AbortSignal): Promise<Execution | undefined>;
  /** The messages of an execution's session, oldest first; undefined when the context has gone on to another execution. */
  sessionOf(contextId: string, executionId: string, signal: AbortSignal): Promise<JsonObject[] | undefined>;
  close(): void;
}

export interface KernelSettings {
  /** Base URL of the kernel. */
  readonly url: URL;
  readonly token: string | undefined;
  /** Measures how long a plain call may take. */
  readonly clock?: Clock;
}

/** Methods that do something in the kernel: sent twice, they would do it twice. */
const ONCE: ReadonlySet<string> = new Set(["SendStreamingMessage", "SendMessage"]);

/** A client of one kernel. A loopback kernel is reached directly, whatever HTTP_PROXY says: requests carry cloud keys. */
export function connectKernel({ url, token, clock = systemClock }: KernelSettings): Kernel {
  const client = httpClient(url);
  const base = url.href.replace(/\/*$/, "/");
  const headers = { "a2a-version": "1.0", ...(token !== undefined && { authorization: `Bearer ${token}` }) };

  async function send(path: string, init: RequestInit, accept: string, signal: AbortSignal): Promise<Response> {
    try {
      const response = await fetch(`${base}${path}`, {
        ...init,
        client,
        signal,
        redirect: "error",
        headers: { ...headers, accept, ...(init.body !== undefined && { "content-type": "application/json" }) },
      });
      if (response.status < 400 || response.status === 404 || response.status === 409) return response;
      await response.body?.cancel();
      throw new KernelFailure("status", response.status);
    } catch (error) {
      throw toFailure(error);
    }
  }

  async function post(method: string, params: JsonObject, accept: string, signal: AbortSignal): Promise<Response> {
    const text = JSON.stringify({ jsonrpc: "2.0", id: crypto.randomUUID(), method, params });
    // Deno's fetch sends a body of text a second time when the connection breaks before an answer. A blob is streamed, so
    // that it cannot, and still has its Content-Length.
    const body = ONCE.has(method) ? new Blob([text]) : text;
    const response = await send("", { method: "POST", body }, accept, signal);
    if (response.status < 400) return response;
    await response.body?.cancel();
    throw new KernelFailure("status", response.status);
  }

  /** Runs `work` under a signal that also fires after `ms`. */
  async function within<T>(
    ms: number,
    outer: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    using abort = linkedAbort(outer);
    const answered = new AbortController();
    void clock.sleep(ms, answered.signal).then(() => {
      if (!answered.signal.aborted) abort.abort(new KernelFailure("broken"));
    });
    try {
      return await work(abort.signal);
    } catch (error) {
      throw toFailure(error);
    } finally {
      answered.abort();
    }
  }

  async function stream(method: string, params: JsonObject, abort: LinkedAbort): Promise<KernelStream> {
    try {
      const response = await post(method, params, "text/event-stream", abort.signal);
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
      return isStream ? frameStream(response, abort) : singleFrame(response, abort);
    } catch (error) {
      abort[Symbol.dispose]();
      throw error;
    }
  }

  /** A GET of the kernel's own; undefined for what it does not know. */
  async function get(
    path: string,
    query: Record<string, string>,
    signal: AbortSignal,
  ): Promise<JsonObject | undefined> {
    return await within(KERNEL_CALL_MS, signal, async (bounded) => {
      const response = await send(
        `${path}?${new URLSearchParams(query)}`,
        { method: "GET" },
        "application/json",
        bounded,
      );
      const answer = asJson(await readText(response, bounded));
      if (response.status === 404) return undefined;
      if (response.status === 409 || !answer) throw new KernelFailure("status", response.status);
      return answer;
    });
  }

  return {
    stream: (method, params, signal) => stream(method, params, linkedAbort(signal)),
    call: (method, params, signal, timeoutMs = KERNEL_CALL_MS) =>
      within(timeoutMs, signal, async (bounded) => {
        const response = await post(method, params, "application/json", bounded);
        return parseFrame(await readText(response, bounded));
      }),
    ensureRestored: (cwd, sessionId, taskId, signal) =>
      within(KERNEL_CALL_MS, signal, async (bounded) => {
        const body = JSON.stringify({ cwd, sessionId, taskId });
        const path = "iac-code/session/ensure-restored";
        const response = await send(path, { method: "POST", body }, "application/json", bounded);
        const answer = asJson(await readText(response, bounded));
        if (response.status === 404) return "lost";
        if (response.status === 409) {
          if (isObject(answer?.error) && answer.error.retryable === true) return "notReady";
          throw new KernelFailure("status", 409);
        }
        return "ready";
      }),
    async pipelineState(taskId, afterSequence, signal) {
      const query = { taskId, afterSequence: String(afterSequence) };
      const state = await get("iac-code/pipeline/state", query, signal);
      if (!state) return undefined;
      const { snapshot, events } = state;
      return { snapshot: isObject(snapshot) ? snapshot : undefined, events: objectsIn(events) };
    },
    async execution(contextId, signal) {
      const state = await get("iac-code/execution/state", { contextId }, signal);
      return state && executionOf(state);
    },
    async sessionOf(contextId, executionId, signal) {
      const recovery = await get("iac-code/session/recovery", { contextId, executionId }, signal);
      return recovery && objectsIn(recovery.messages);
    },
    close: () => client.close(),
  };
}

/** A connection pool to the kernel at `url`; a loopback kernel is reached directly. */
export function httpClient(url: URL): Deno.HttpClient {
  // The kernel's server closes a connection that was idle for 5 s; one of ours must not be in use at that moment.
  const poolIdleTimeout = KERNEL_POOL_IDLE_MS;
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  if (!isLoopback(hostname) || url.protocol !== "http:") return Deno.createHttpClient({ poolIdleTimeout });
  const port = Number(url.port || 80);
  return Deno.createHttpClient({ poolIdleTimeout, proxy: { transport: "tcp", hostname, port } });
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function asJson(body: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
