/** Reads a request's body within its limit of bytes and time (docs/protocol.md, "Checks", step 3). */
import { BODY_MS } from "../limits.ts";
import { type Refusal, refusal } from "../errors.ts";

/**
 * The body's bytes, or the refusal: 413 by the declared length before a byte is read, or while reading, never holding
 * more than `limit` bytes; 408 when it has not arrived within 30 s. A client that leaves rejects.
 */
export async function readBody(request: Request, limit: number): Promise<Uint8Array | Refusal> {
  const tooLarge = refusal("REQUEST_TOO_LARGE", { params: { limit } });
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limit) return tooLarge;
  if (!request.body) return new Uint8Array();
  const reader = request.body.getReader();
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(() => late.resolve("late"), BODY_MS);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    while (true) {
      const read = await Promise.race([reader.read(), late.promise]);
      if (read === "late") {
        giveUp(reader);
        return refusal("REQUEST_TIMEOUT", { params: { seconds: BODY_MS / 1000 } });
      }
      if (read.done) return join(chunks, size);
      size += read.value.length;
      if (size > limit) {
        giveUp(reader);
        return tooLarge;
      }
      chunks.push(read.value);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The rest of the body is of no use; that the client may be gone already is no news. */
function giveUp(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.cancel().catch(() => undefined);
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = chunks;
  if (chunks.length === 1 && only) return only;
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
