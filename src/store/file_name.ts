/** Thread id → name of its file (docs/protocol.md, "Thread files"): the Python adapter's, so that both find the same. Pure. */
import { sha256 } from "../sha256.ts";

const PLAIN = /^[a-z0-9_.-]+$/;
const PLAIN_CHARS = 250;
const ENCODED_CHARS = 200;
/** Names that mean a device on Windows, whatever their ending. */
const DEVICE = /^(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)/;

/** The file's name without its folder: the id itself, its UTF-8 in hex, or its hash when that would be too long. */
export function threadFileName(threadId: string): string {
  if (isPlain(threadId)) return `${threadId}.json`;
  const encoded = `aguiid~${new TextEncoder().encode(threadId).toHex()}`;
  if (encoded.length <= ENCODED_CHARS) return `${encoded}.json`;
  return `aguihash~${sha256(threadId)}.json`;
}

function isPlain(threadId: string): boolean {
  return PLAIN.test(threadId) && threadId.length <= PLAIN_CHARS && !threadId.endsWith(".") && !DEVICE.test(threadId);
}
