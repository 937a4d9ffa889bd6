/**
 * The bare pipe, the limit that is compared with: accepts a run, forwards its message to the kernel, and passes the bytes of
 * the answer through. Arguments: port, URL of the kernel.
 */
const [port, kernel = ""] = Deno.args;

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
  return new Response(answer.body, { headers: { "content-type": "text/event-stream" } });
}

Deno.serve({ hostname: "127.0.0.1", port: Number(port), onListen: () => undefined }, (request) => {
  return request.method === "POST" ? run(request) : Response.json({ status: "ok" });
});
