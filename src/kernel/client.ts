/**
 * JSON-RPC to the kernel over fetch: plain calls, and streams as batches of frames (docs/protocol.md, "The kernel").
 * An edge: it sends, reads and parses; what an answer means is decided elsewhere.
 */
import { createParser } from "eventsource-parser";
import { isObject, type JsonObject } from "../json.ts";
import { FRAME_CHARS, KERNEL_CALL_MS, KERNEL_POOL_IDLE_MS } from "../limits.ts";
import { isLoopbackName } from "../request/gates.ts";
import { type Frame, parseFrame } from "./wire.ts";

/**
 * The kernel gave no answer that could be used: `refused` (no connection, so nothing was sent), `broken` (the connection
 * was lost or timed out, so the request may have arrived), or `status` (an HTTP error).
 */
export class KernelFailure extends Error {
  constructor(readonly kind: "refused" | "broken" | "status", readonly status?: number, options?: ErrorOptions) {
    super(status === undefined ? kind : `${kind} ${status}`, options);
    this.name = "KernelFailure";
  }
}

/** An open stream of the kernel. Whoever gets one closes it. */
export interface KernelStream {
  /** The frames of the next read, at least one; undefined at the end. Throws KernelFailure when the stream breaks. */
  next(): Promise<Frame[] | undefined>;
  /** Leaves the stream; the kernel sees the connection go. */
  close(): void;
}

export interface PipelineState {
  readonly snapshot: JsonObject | undefined;
  readonly events: readonly JsonObject[];
}

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
  close(): void;
}

export interface KernelSettings {
  /** Base URL of the kernel. */
  readonly url: URL;
  readonly token: string | undefined;
}

/** A client of one kernel. A loopback kernel is reached directly, whatever HTTP_PROXY says: requests carry cloud keys. */
export function connectKernel({ url, token }: KernelSettings): Kernel {
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
      throw asFailure(error);
    }
  }

  async function post(method: string, params: JsonObject, accept: string, signal: AbortSignal): Promise<Response> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: crypto.randomUUID(), method, params });
    const response = await send("", { method: "POST", body }, accept, signal);
    if (response.status < 400) return response;
    await response.body?.cancel();
    throw new KernelFailure("status", response.status);
  }

  return {
    async stream(method, params, signal) {
      const leave = new AbortController();
      const response = await post(method, params, "text/event-stream", AbortSignal.any([signal, leave.signal]));
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
      return isStream ? frameStream(response, leave) : single(response, leave);
    },
    call: (method, params, signal, timeoutMs = KERNEL_CALL_MS) =>
      within(timeoutMs, signal, async (bounded) => {
        const response = await post(method, params, "application/json", bounded);
        return parseFrame(await readText(response));
      }),
    ensureRestored: (cwd, sessionId, taskId, signal) =>
      within(KERNEL_CALL_MS, signal, async (bounded) => {
        const body = JSON.stringify({ cwd, sessionId, taskId });
        const path = "iac-code/session/ensure-restored";
        const response = await send(path, { method: "POST", body }, "application/json", bounded);
        const answer = asJson(await readText(response));
        if (response.status === 404) return "lost";
        if (response.status === 409) {
          if (isObject(answer?.error) && answer.error.retryable === true) return "notReady";
          throw new KernelFailure("status", 409);
        }
        return "ready";
      }),
    pipelineState: (taskId, afterSequence, signal) =>
      within(KERNEL_CALL_MS, signal, async (bounded) => {
        const query = new URLSearchParams({ taskId, afterSequence: String(afterSequence) });
        const response = await send(`iac-code/pipeline/state?${query}`, { method: "GET" }, "application/json", bounded);
        const answer = asJson(await readText(response));
        if (response.status === 404) return undefined;
        if (response.status === 409 || !answer) throw new KernelFailure("status", response.status);
        const { snapshot, events } = answer;
        return {
          snapshot: isObject(snapshot) ? snapshot : undefined,
          events: Array.isArray(events) ? events.filter(isObject) : [],
        };
      }),
    close: () => client.close(),
  };
}

/** A connection pool to the kernel at `url`; a loopback kernel is reached directly. */
export function httpClient(url: URL): Deno.HttpClient {
  // The kernel's server closes a connection that was idle for 5 s; one of ours must not be in use at that moment.
  const poolIdleTimeout = KERNEL_POOL_IDLE_MS;
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  if (!isLoopbackName(hostname) || url.protocol !== "http:") return Deno.createHttpClient({ poolIdleTimeout });
  const port = Number(url.port || 80);
  return Deno.createHttpClient({ poolIdleTimeout, proxy: { transport: "tcp", hostname, port } });
}

/** Runs `work` under a signal that also fires after `ms`. */
async function within<T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new KernelFailure("broken")), ms);
  try {
    return await work(outer ? AbortSignal.any([outer, late.signal]) : late.signal);
  } catch (error) {
    throw asFailure(error);
  } finally {
    clearTimeout(timer);
  }
}

/** An error of fetch as a KernelFailure; an abort that a caller asked for stays what it is. */
function asFailure(error: unknown): unknown {
  if (error instanceof KernelFailure) return error;
  if (!(error instanceof Error)) return error;
  if (error.name === "AbortError") return error;
  const cause = error.cause instanceof Error ? error.cause.message : "";
  return new KernelFailure(cause.includes("client error (Connect)") ? "refused" : "broken", undefined, {
    cause: error,
  });
}

/** The frames of an event stream, read by read; nothing is read ahead, so a slow reader slows the kernel down. */
function frameStream(response: Response, leave: AbortController): KernelStream {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let frames: Frame[] = [];
  const parser = createParser({
    onEvent: ({ data }) => frames.push(parseFrame(data)),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") frames.push({ kind: "invalid", why: "a frame is too large" });
    },
    maxBufferSize: FRAME_CHARS,
  });
  return {
    async next() {
      frames = [];
      try {
        while (frames.length === 0) {
          const read = await reader?.read();
          if (!read || read.done) return undefined;
          parser.feed(decoder.decode(read.value, { stream: true }));
        }
        return frames;
      } catch (error) {
        throw asFailure(error);
      }
    },
    close: () => leave.abort(),
  };
}

/** A JSON answer to a streaming method: one frame, as for an error or a task that is over. */
function single(response: Response, leave: AbortController): KernelStream {
  let answered = false;
  return {
    async next() {
      if (answered) return undefined;
      answered = true;
      try {
        return [parseFrame(await readText(response))];
      } catch (error) {
        throw asFailure(error);
      }
    },
    close: () => leave.abort(),
  };
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let all = "";
  for await (const chunk of response.body ?? []) {
    all += decoder.decode(chunk, { stream: true });
    if (all.length > FRAME_CHARS) throw new KernelFailure("broken");
  }
  return all + decoder.decode();
}

function asJson(body: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
