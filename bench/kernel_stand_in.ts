/**
 * A stand-in for the kernel, as a program of its own: answers each message with the frames that it asks for (wire.ts).
 * Prints its port.
 */
import { closing, type Ids, mixedRound, opening, ROUND, type Script, textFrame, textFrames } from "./wire.ts";

interface Message {
  readonly contextId: string;
  readonly parts: readonly { readonly text: string }[];
}

const encoder = new TextEncoder();
const sessions = new Map<string, string>();

/** The session of a context, which stays the same from turn to turn. */
function sessionOf(context: string): string {
  const session = sessions.get(context) ?? crypto.randomUUID();
  sessions.set(context, session);
  return session;
}

/** Everything between a task's opening and its end, write by write. */
function* writes(script: Script, ids: Ids): Generator<Uint8Array> {
  if (script.wire === "mixed") {
    for (let round = 0; round * ROUND < script.frames; round++) yield encoder.encode(mixedRound(ids, round));
    return;
  }
  // The words repeat, so that the stand-in's own work does not slow down what is measured.
  const full = encoder.encode(textFrames(ids, script.write));
  for (let left = script.frames; left > 0; left -= script.write) {
    yield left >= script.write ? full : encoder.encode(textFrames(ids, left));
  }
}

/** A stream that goes as fast as it is read. */
function fast(script: Script, ids: Ids, message: Message): ReadableStream<Uint8Array> {
  const rest = writes(script, ids);
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(opening(ids, message))),
    pull(controller) {
      const next = rest.next();
      if (!next.done) return controller.enqueue(next.value);
      controller.enqueue(encoder.encode(closing(ids)));
      controller.close();
    },
  });
}

/** A stream that sends one delta every `gapMs`, each with the time at which it was sent. */
function paced({ frames, gapMs }: Script, ids: Ids, message: Message): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setTimeout>;
  return new ReadableStream({
    start(controller) {
      const began = performance.now();
      let sent = 0;
      controller.enqueue(encoder.encode(opening(ids, message)));
      const tick = (): void => {
        if (sent === frames) {
          controller.enqueue(encoder.encode(closing(ids)));
          return controller.close();
        }
        const now = performance.timeOrigin + performance.now();
        controller.enqueue(encoder.encode(textFrame(ids, `@${now.toFixed(3)}@ `)));
        sent++;
        timer = setTimeout(tick, Math.max(0, began + (sent + 1) * gapMs - performance.now()));
      };
      timer = setTimeout(tick, gapMs);
    },
    cancel: () => clearTimeout(timer),
  });
}

function answer({ id, params: { message } }: { id: string; params: { message: Message } }): Response {
  const { contextId: context } = message;
  const ids = { rpc: id, task: crypto.randomUUID(), context, session: sessionOf(context) };
  const script: Script = JSON.parse(message.parts[0]?.text ?? "");
  const body = script.gapMs > 0 ? paced(script, ids, message) : fast(script, ids, message);
  return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => undefined }, async (request) => {
  const call = await request.json();
  if (call.method === "SendStreamingMessage") return answer(call);
  return Response.json({ jsonrpc: "2.0", id: call.id, error: { code: -32601, message: "not part of a benchmark" } });
});
await Deno.stdout.write(encoder.encode(`${server.addr.port}\n`));
