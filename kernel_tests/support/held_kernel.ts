/** A kernel behind a line that lets all through but keeps back what the kernel says to some messages, until it is let go. */
import { isObject } from "../../src/json.ts";

export interface HeldKernel {
  readonly url: string;
  /** Resolves when the kernel has begun on the message whose answer is kept back. */
  readonly asked: Promise<void>;
  /** Drops what was kept back; from then on everything passes. */
  letGo(): void;
  close(): Promise<void>;
}

/** Messages that begin a task, or those that answer one's question. */
export type Held = "first messages" | "answers";

/** Opens the line on a free port. */
export function holdBack(kernelUrl: string, held: Held): HeldKernel {
  const asked = Promise.withResolvers<void>();
  const dropped = new AbortController();

  async function pass(request: Request): Promise<Response> {
    const { method, headers } = request;
    const { pathname, search } = new URL(request.url);
    const body = method === "POST" ? await request.text() : undefined;
    const isHeld = !dropped.signal.aborted && body !== undefined && isOneOf(held, body);
    const signal = isHeld ? dropped.signal : request.signal;
    const response = await fetch(`${kernelUrl}${pathname}${search}`, {
      method,
      headers,
      signal,
      ...(body && { body }),
    });
    if (!isHeld) return response;
    asked.resolve();
    await new Promise((resolve) => dropped.signal.addEventListener("abort", resolve));
    return new Response(null, { status: 502 });
  }

  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {}, onError: () => new Response(null, { status: 502 }) },
    pass,
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    asked: asked.promise,
    letGo: () => dropped.abort(),
    async close() {
      dropped.abort();
      await server.shutdown();
    },
  };
}

function isOneOf(held: Held, body: string): boolean {
  const value: unknown = JSON.parse(body);
  if (!isObject(value) || value.method !== "SendStreamingMessage") return false;
  const isAnswer = isObject(value.params) && isObject(value.params.message) && "taskId" in value.params.message;
  return isAnswer === (held === "answers");
}
