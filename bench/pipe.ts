/**
 * The bare pipe, the limit that is compared with: accepts a run, forwards its message to the kernel, and passes the bytes of
 * the answer through. Deno does that without JavaScript; with `script` each piece passes through JavaScript, unread, which is
 * the limit of every program that looks at what it passes on. Arguments: port, URL of the kernel, `script`.
 */
const [port, kernel = "", through] = Deno.args;
const BUFFER_BYTES = 65_536;

async function run(request: Request): Promise<Response> {
  const { threadId, runId, messages } = await request.json();
  const message = {
    messageId: messages.at(-1).id,
    role: "ROLE_USER",
    parts: [{ text: messages.at(-1).content }],
    contextId: threadId,
    metadata: {},
  };
  const answer = await fetch(kernel, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: runId, method: "SendStreamingMessage", params: { message } }),
  });
  const body = answer.body && through === "script" ? throughScript(answer.body) : answer.body;
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** What a stream brings, read into one buffer over and over, which is the cheapest way that there is. */
function throughScript(stream: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader({ mode: "byob" });
  let buffer = new ArrayBuffer(BUFFER_BYTES);
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await reader.read(new Uint8Array(buffer));
      if (done || !value) return controller.close();
      buffer = value.buffer;
      controller.enqueue(value.slice());
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

Deno.serve({ hostname: "127.0.0.1", port: Number(port), onListen: () => undefined }, (request) => {
  return request.method === "POST" ? run(request) : Response.json({ status: "ok" });
});
