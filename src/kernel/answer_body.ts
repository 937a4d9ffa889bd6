/** What the kernel answers, read piece by piece: as frames, or as one text. An edge, as the client that uses it. */
import { createParser } from "eventsource-parser";
import { FRAME_BYTES, FRAME_CHARS, READ_BYTES, READ_BYTES_MAX } from "../limits.ts";
import type { LinkedAbort } from "../linked_abort.ts";
import { toFailure } from "./failure.ts";
import { createFrameReader } from "./frame_reader.ts";
import { type Frame, parseFrame } from "./wire.ts";

/** An open stream of the kernel. Whoever gets one closes it. */
export interface KernelStream {
  /** The frames of the next read, at least one; undefined at the end. Throws KernelFailure when the stream breaks. */
  next(): Promise<Frame[] | undefined>;
  /** Leaves the stream; the kernel sees the connection go. */
  close(): void;
}

/** The frames of an event stream, read by read; nothing is read ahead, so a slow reader slows the kernel down. */
export function frameStream(response: Response, abort: LinkedAbort, mostBytes = FRAME_BYTES): KernelStream {
  const body = readBody(response, abort.signal);
  const decoder = new TextDecoder();
  const readFrame = createFrameReader();
  let frames: Frame[] = [];
  /** Since the last frame: lines that say nothing fill no buffer, and would be read for ever. */
  let bytesRead = 0;
  const parser = createParser({
    onEvent: ({ data }) => frames.push(readFrame(data)),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") frames.push({ kind: "invalid", why: "a frame is too large" });
    },
    maxBufferSize: FRAME_CHARS,
  });

  /** The frames that a piece completes; undefined when there are none. */
  function framesIn(bytes: Uint8Array): Frame[] | undefined {
    parser.feed(decoder.decode(bytes, STREAM));
    bytesRead += bytes.length;
    if (frames.length === 0 && bytesRead > mostBytes) frames.push({ kind: "invalid", why: "a frame has no end" });
    if (frames.length === 0) return undefined;
    bytesRead = 0;
    const complete = frames;
    frames = [];
    return complete;
  }

  return { next: () => body.first(framesIn), close: () => closeBoth(body, abort) };
}

/** A JSON answer to a streaming method: one frame, as for an error or a task that is over. */
export function singleFrame(response: Response, abort: LinkedAbort): KernelStream {
  const body = readBody(response, abort.signal);
  let answered = false;
  return {
    async next() {
      if (answered) return undefined;
      answered = true;
      return [parseFrame(await joined(body))];
    },
    close: () => closeBoth(body, abort),
  };
}

/** The whole body as text; empty when it is larger than any frame. Throws KernelFailure when it breaks. */
export async function readText(response: Response, signal: AbortSignal): Promise<string> {
  const body = readBody(response, signal);
  try {
    return await joined(body);
  } finally {
    body.close();
  }
}

interface Body {
  /**
   * The first thing that is made of a piece, one piece after the other; undefined at the end. A piece is to be used before the
   * next is asked for. Throws the signal's reason, or KernelFailure.
   */
  first<T>(make: (bytes: Uint8Array) => T | undefined): Promise<T | undefined>;
  close(): void;
}

const STREAM = { stream: true } as const;

/**
 * Aborting a fetch does not always reach its body (see linkedAbort); cancelling the body does. Reads into one buffer over
 * and over: fetch would make one of 64 KiB for each delta, which took a third of the time of 200 paced streams, and 90 MB.
 */
function readBody(response: Response, signal: AbortSignal): Body {
  const reader = response.body?.getReader({ mode: "byob" });
  let buffer = new ArrayBuffer(READ_BYTES);
  function close(): void {
    signal.removeEventListener("abort", close);
    // A body that broke before cannot be cancelled, and need not be.
    reader?.cancel().catch(() => undefined);
  }
  signal.addEventListener("abort", close);
  return {
    // One function that waits, not one for the piece and one for what it makes: each costs 1 µs for each delta.
    async first(make) {
      signal.throwIfAborted();
      while (true) {
        let read: ReadableStreamReadResult<Uint8Array<ArrayBuffer>> | undefined;
        try {
          read = await reader?.read(new Uint8Array(buffer));
          signal.throwIfAborted();
        } catch (error) {
          throw toFailure(error);
        }
        if (!read?.value || read.done) return undefined;
        buffer = nextBuffer(read.value);
        const made = make(read.value);
        if (made !== undefined) return made;
      }
    },
    close,
  };
}

/** The same buffer again, or a larger one when it was filled. */
function nextBuffer({ buffer, byteLength }: Uint8Array<ArrayBuffer>): ArrayBuffer {
  const isFull = byteLength === buffer.byteLength && byteLength < READ_BYTES_MAX;
  return isFull ? new ArrayBuffer(byteLength * 4) : buffer;
}

function closeBoth(body: Body, abort: LinkedAbort): void {
  body.close();
  abort[Symbol.dispose]();
}

async function joined(body: Body): Promise<string> {
  const decoder = new TextDecoder();
  let all = "";
  // Larger than any frame: an answer, so that asking again is of no use, but none that can be read.
  const tooLarge = await body.first((bytes) => {
    all += decoder.decode(bytes, STREAM);
    return all.length > FRAME_CHARS || undefined;
  });
  return tooLarge ? "" : all + decoder.decode();
}
