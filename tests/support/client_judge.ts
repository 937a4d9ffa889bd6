/** The real client's own judgement of a run's stream: its parser, its enforcement and its verifier, without an agent. */
import { enforceEvents, runHttpRequest, transformChunks, transformHttpEventStream, verifyEvents } from "@ag-ui/client";
import type { JsonObject } from "../../src/json.ts";
import type { RunEvent } from "../../src/mapping/event.ts";
import { encodeEvent } from "../../src/stream/frame.ts";

/** The client warns of what it drops; the strict check says what may be dropped. */
Deno.env.set("SUPPRESS_TRANSFORMATION_WARNINGS", "1");

/** Resolves when the client accepts the stream; rejects with what it says otherwise. */
export function judgedByClient(events: readonly JsonObject[]): Promise<void> {
  const body = events.map((event) => encodeEvent(event as unknown as RunEvent, Date.now())).join("");
  const headers = { "content-type": "text/event-stream" };
  const received = transformHttpEventStream(runHttpRequest(() => Promise.resolve(new Response(body, { headers }))));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  verifyEvents()(transformChunks()(enforceEvents()(received))).subscribe({ error: reject, complete: resolve });
  return promise;
}
