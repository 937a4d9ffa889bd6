/** One answer as an event stream with CRLF. What was said since the last read goes out in one piece. */
import type { Json } from "../src/json.ts";
import { wait } from "./pace.ts";

export interface EventStream {
  /** Sends a JSON-RPC result, already as JSON. */
  send(result: string): void;
  /** Ends the stream after what was sent. */
  end(): void;
  /** Breaks the connection after what was sent. */
  cut(): void;
}

/** What is sent needs a moment to leave before the connection is broken; else the other side may see none of it. */
const FLUSH_MS = 100;

/** Marks the break that `cut` asked for. */
export class Cut extends Error {}

/** Opens an event stream that answers the request `rpcId`. `onLeave` is called when the other side goes first. */
export function openEventStream(
  rpcId: Json,
  closing: AbortSignal,
  onLeave: () => void,
): { stream: EventStream; response: Response } {
  const encoder = new TextEncoder();
  const tail = `,"id":${JSON.stringify(rpcId)},"jsonrpc":"2.0"}\r\n\r\n`;
  let unsent = "";
  let fate: "open" | "end" | "cut" = "open";
  let wake = (): void => {};

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (unsent === "" && fate === "open") await new Promise<void>((resolve) => wake = resolve);
    if (unsent !== "") {
      const chunk = unsent;
      unsent = "";
      return controller.enqueue(encoder.encode(chunk));
    }
    if (fate === "cut") {
      await wait(FLUSH_MS, closing).catch(() => {});
      return controller.error(new Cut());
    }
    controller.close();
  }

  function decide(next: "end" | "cut"): void {
    if (fate === "open") fate = next;
    wake();
  }

  const body = new ReadableStream<Uint8Array>({
    pull,
    cancel() {
      fate = "end";
      unsent = "";
      onLeave();
    },
  }, { highWaterMark: 0 });
  const stream: EventStream = {
    send(result) {
      if (fate !== "open") return;
      unsent += `data: {"result":${result}${tail}`;
      wake();
    },
    end: () => decide("end"),
    cut: () => decide("cut"),
  };
  return { stream, response: new Response(body, { headers: HEADERS }) };
}

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};
