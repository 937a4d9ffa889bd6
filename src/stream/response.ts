/**
 * The stream to one client: what belongs together leaves as one chunk, a slow reader holds up the writer, a client that
 * left or stalls is noticed, and a comment keeps a quiet connection alive (docs/protocol.md, "The stream").
 */
import { CLIENT_BUFFER_BYTES, CLIENT_STALLED_MS, LONGEST_TIMER_MS } from "../limits.ts";
import type { RunEvent } from "../mapping/event.ts";
import { createEncoder, HEARTBEAT } from "./frame.ts";

/** A waiting string takes two bytes a character. */
const BUFFER_CHARS = CLIENT_BUFFER_BYTES / 2;

export interface EventSink {
  /** Puts an event behind those before it; it leaves with the next `flush`. */
  write(event: RunEvent): void;
  /** Hands over what was written. A promise when the client is too far behind; it resolves when it has taken enough, or left. */
  flush(): Promise<void> | undefined;
  /** No further event comes. */
  end(): void;
  /** How many events were written. */
  readonly events: number;
}

export interface EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly sink: EventSink;
}

/**
 * A stream with a heartbeat after `heartbeatMs` without an event. `onGone` is called once when the client leaves, or takes
 * nothing for `stalledMs`, before the end.
 */
export function createEventStream(
  heartbeatMs: number,
  onGone: () => void,
  stalledMs: number = CLIENT_STALLED_MS,
): EventStream {
  const encoder = new TextEncoder();
  const encodeEvent = createEncoder();
  let waiting = "";
  let events = 0;
  let over: "no" | "ended" | "gone" = "no";
  /** Whether the client waits for more. */
  let wish = false;
  /** Resolves a writer that is held up. */
  let room: PromiseWithResolvers<void> | undefined;
  /** Since when the client takes nothing, as performance.now(). */
  let blockedSince: number | undefined;
  let stalled: ReturnType<typeof setTimeout> | undefined;
  let lastEvent = performance.now();
  let timestamp = 0;
  let isStamped = false;
  let heartbeat = schedule(heartbeatMs);
  let controller: ReadableStreamDefaultController<Uint8Array>;

  function schedule(ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(beat, Math.min(ms, LONGEST_TIMER_MS));
  }

  function beat(): void {
    const rest = heartbeatMs - (performance.now() - lastEvent);
    // Instead of a new timer for each event, the one timer looks how long ago the last one was.
    if (rest > 0) {
      heartbeat = schedule(rest);
      return;
    }
    if (waiting === "") {
      waiting = HEARTBEAT;
      deliver();
      // Handing over is how it may turn out that the client has left.
      if (over !== "no") return;
    }
    lastEvent = performance.now();
    heartbeat = schedule(heartbeatMs);
  }

  function deliver(): void {
    if (over === "gone") return;
    if (wish && waiting !== "") {
      wish = false;
      blockedSince = undefined;
      const chunk = encoder.encode(waiting);
      waiting = "";
      controller.enqueue(chunk);
      room?.resolve();
      room = undefined;
    }
    if (waiting !== "") {
      blockedSince ??= performance.now();
      stalled ??= setTimeout(lookForStall, stalledMs);
    } else if (over === "ended") close();
  }

  /** One timer for all the times that the client is behind, which it is for a moment after most events. */
  function lookForStall(): void {
    stalled = undefined;
    if (blockedSince === undefined) return;
    const rest = stalledMs - (performance.now() - blockedSince);
    if (rest > 0) stalled = setTimeout(lookForStall, rest);
    else leave();
  }

  function close(): void {
    clearTimeout(stalled);
    controller.close();
    over = "gone";
  }

  /** The client is gone, or as good as gone. */
  function leave(): void {
    const before = over;
    if (before === "gone") return;
    over = "gone";
    waiting = "";
    clearTimeout(heartbeat);
    clearTimeout(stalled);
    room?.resolve();
    // A client that merely stalls still holds the connection; one that left has closed the stream already. Deno writes what
    // is given here to standard error: a sentence, not a stack.
    controller.error("a client that took nothing was cut off");
    if (before === "no") onGone();
  }

  const isFull = (): boolean => waiting.length > BUFFER_CHARS && over === "no";

  async function hasRoom(): Promise<void> {
    while (isFull()) await (room ??= Promise.withResolvers<void>()).promise;
  }

  const body = new ReadableStream<Uint8Array>({
    start: (given) => void (controller = given),
    pull() {
      wish = true;
      deliver();
    },
    cancel: leave,
  }, { highWaterMark: 0 });

  return {
    body,
    sink: {
      write(event) {
        if (over !== "no") return;
        events++;
        // One look at the clocks for all events of a chunk: they cost a third of what a delta takes here.
        if (!isStamped) {
          lastEvent = performance.now();
          timestamp = Date.now();
          isStamped = true;
        }
        waiting += encodeEvent(event, timestamp);
      },
      flush() {
        isStamped = false;
        deliver();
        return isFull() ? hasRoom() : undefined;
      },
      end() {
        if (over !== "no") return;
        over = "ended";
        clearTimeout(heartbeat);
        deliver();
      },
      get events() {
        return events;
      },
    },
  };
}
