/** Reads a request's body within its limit of bytes and time (docs/protocol.md, "Checks", step 3). */
import { type Refusal, refusal } from "../errors.ts";
import { BODY_MS } from "../limits.ts";

/** Bytes of a body that are read at once. */
const CHUNK_BYTES = 64 * 1024;

/** Room for bodies that are on their way at once, in bytes. */
export interface BodyRoom {
  left: number;
}

/**
 * The body's bytes, or the refusal: 413 by the declared length before a byte is read, or while reading, never holding
 * more than `limit` bytes and one chunk; 503 when bodies on their way leave no room for it; 408 when it has not arrived within
 * `ms`. A client that leaves rejects.
 */
export async function readBody(
  request: Request,
  limit: number,
  ms = BODY_MS,
  room: BodyRoom = { left: Infinity },
): Promise<Uint8Array | Refusal> {
  const tooLarge = refusal("REQUEST_TOO_LARGE", { params: { limit } });
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limit) return tooLarge;
  if (!request.body) return new Uint8Array();
  const reader = readerOf(request.body, Math.min(declared || CHUNK_BYTES, CHUNK_BYTES));
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    giveUp(reader);
  }, ms);
  // One buffer, not a list of chunks: a chunk of one byte takes hundreds of bytes as an object.
  let held = new Uint8Array();
  let size = 0;
  try {
    while (true) {
      const chunk = await reader.read();
      if (isLate) return refusal("REQUEST_TIMEOUT", { params: { seconds: ms / 1000 } });
      if (!chunk) return held.subarray(0, size);
      if (size + chunk.length > limit) {
        giveUp(reader);
        return tooLarge;
      }
      const next = withChunk(held, size, chunk, limit);
      room.left -= next.length - held.length;
      held = next;
      size += chunk.length;
      if (room.left < 0) {
        giveUp(reader);
        return refusal("SERVER_BUSY");
      }
    }
  } finally {
    clearTimeout(timer);
    room.left += held.length;
  }
}

interface ChunkReader {
  /** The next chunk; undefined at the end. */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  cancel(): Promise<void>;
}

/** Reads chunks of up to `bytes`. The server would make a buffer of 64 KiB for each: 27 MB when 200 runs begin at once. */
function readerOf(body: ReadableStream<Uint8Array<ArrayBuffer>>, bytes: number): ChunkReader {
  try {
    const reader = body.getReader({ mode: "byob" });
    const read = async () => {
      const { done, value } = await reader.read(new Uint8Array(bytes));
      return done ? undefined : value;
    };
    return { read, cancel: () => reader.cancel() };
  } catch {
    // A body that a program made of a text, not one that came over a connection, is no stream of bytes.
    const reader = body.getReader();
    return { read: async () => (await reader.read()).value, cancel: () => reader.cancel() };
  }
}

/** The rest of the body is of no use; that the client may be gone already is no news. A read under way ends with it. */
function giveUp(reader: ChunkReader): void {
  reader.cancel().catch(() => undefined);
}

/** The buffer with a chunk behind its first `size` bytes; a larger one, at most `limit` bytes, when there is no room. */
function withChunk(
  held: Uint8Array<ArrayBuffer>,
  size: number,
  chunk: Uint8Array<ArrayBuffer>,
  limit: number,
): Uint8Array<ArrayBuffer> {
  if (size === 0) return chunk;
  const needed = size + chunk.length;
  if (needed <= held.length) {
    held.set(chunk, size);
    return held;
  }
  const larger = new Uint8Array(Math.min(limit, Math.max(needed, 2 * held.length)));
  larger.set(held.subarray(0, size));
  larger.set(chunk, size);
  return larger;
}
