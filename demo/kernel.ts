/** The embedded demo kernel: a small A2A 1.0 kernel over loopback HTTP, for those who have no iac-code, and for tests. */
import { isObject, text } from "../src/json.ts";
import { Cut } from "./event_stream.ts";
import { createPace } from "./pace.ts";
import { pipelineState } from "./pipeline_snapshot.ts";
import { answerRpc, type KernelParts } from "./rpc.ts";
import { createTaskStore } from "./tasks.ts";

export interface DemoKernelOptions {
  /** 0, the default, takes a free port. */
  readonly port?: number;
  /** The bearer token that every request has to bring; a random one when absent. */
  readonly token?: string;
  /** How fast it speaks: 1, the default, for people; 0 as fast as possible. */
  readonly pace?: number;
}

export interface DemoKernel {
  readonly url: string;
  readonly token: string;
  /** Stops all tasks and connections. */
  close(): Promise<void>;
}

/** A message with images; more than any request of the service. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Starts a demo kernel on 127.0.0.1. */
export function startDemoKernel(
  { port = 0, token = crypto.randomUUID(), pace = 1 }: DemoKernelOptions = {},
): DemoKernel {
  const closing = new AbortController();
  const tasks = createTaskStore();
  const parts: KernelParts = { tasks, pace: createPace(pace), closing: closing.signal, told: new Set() };
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port,
    signal: closing.signal,
    onListen() {},
    onError(error) {
      if (error instanceof Cut) return new Response(null, { status: 500 });
      return Response.json({ error: "Internal Server Error" }, { status: 500 });
    },
  }, (request) => serve(request, parts, `Bearer ${token}`));
  // Without a file for one more connection Deno gives the listener up: no reason to end the service beside it.
  const finished = server.finished.catch(() => undefined);
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    token,
    async close() {
      tasks.stopAll();
      closing.abort();
      await Promise.all(parts.told);
      await finished;
    },
  };
}

type Handler = (request: Request, parts: KernelParts) => Response | Promise<Response>;

const ROUTES: Readonly<Record<string, Handler>> = {
  "GET /health": () => Response.json({ status: "ok", demo: true }),
  "POST /": async (request, parts) => {
    const body = await readJson(request);
    if (body !== undefined) return answerRpc(parts, body);
    return Response.json({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Invalid JSON payload" } });
  },
  "POST /iac-code/session/ensure-restored": ensureRestored,
  "GET /iac-code/pipeline/state": getPipelineState,
};

async function serve(request: Request, parts: KernelParts, authorization: string): Promise<Response> {
  if (request.headers.get("authorization") !== authorization) {
    await request.body?.cancel();
    return Response.json({ error: "Unauthorized" }, { status: 401 });
  }
  const handler = ROUTES[`${request.method} ${new URL(request.url).pathname}`];
  return handler ? await handler(request, parts) : Response.json({ error: "Not Found" }, { status: 404 });
}

async function ensureRestored(request: Request, { tasks }: KernelParts): Promise<Response> {
  const body = await readJson(request);
  const sessionId = isObject(body) && text(body.cwd) !== undefined ? text(body.sessionId) : undefined;
  if (sessionId === undefined) return Response.json({ error: "Invalid session restore request." }, { status: 400 });
  if (!tasks.knowsSession(sessionId)) return Response.json({ status: "not_found" }, { status: 404 });
  return Response.json({ status: "current" });
}

function getPipelineState(request: Request, { tasks }: KernelParts): Response {
  const { searchParams } = new URL(request.url);
  const taskId = searchParams.get("taskId");
  if (!taskId) return Response.json({ error: "contextId or taskId is required" }, { status: 400 });
  const after = Number(searchParams.get("afterSequence") ?? 0);
  if (!Number.isSafeInteger(after) || after < 0) {
    return Response.json({ error: "afterSequence must be a non-negative integer" }, { status: 400 });
  }
  const task = tasks.find(taskId);
  const state = task && pipelineState(task, after);
  return state ? Response.json(state) : Response.json({ error: "A2A pipeline state not found" }, { status: 404 });
}

/** The request's body as JSON; undefined when it is none, or too large. */
async function readJson(request: Request): Promise<unknown> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) {
    await request.body?.cancel();
    return undefined;
  }
  try {
    return await request.json();
  } catch {
    return undefined;
  }
}
