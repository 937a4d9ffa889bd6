/** Remembers how a text begins without keeping it: enough to cut it off when the kernel repeats it. Pure. */
import type { Hash } from "node:crypto";
import { hash, sha256 } from "../sha256.ts";
import type { ShownText } from "../thread/thread.ts";

/** Up to this many characters are kept and compared as they are, which is faster than hashing each delta. */
const KEPT_CHARS = 8_192;
/** So many are joined at once: a text that grows delta by delta is a chain of them, 60 bytes for each. */
const PIECES = 64;
/** A repeat whose length nobody wrote down (the Python adapter's) is looked for in this many characters. */
const SEARCHED_CHARS = 32_768;

export interface Tally {
  add(text: string): void;
  /** UTF-16 code units so far. */
  readonly length: number;
  /** Whether a text begins with all that was added. */
  startsOff(text: string): boolean;
  /** Length and digest of all that was added; undefined when that is nothing. */
  shown(): ShownText | undefined;
}

/** An empty tally. */
export function createTally(): Tally {
  /** Of what is not kept any more; most texts need none. */
  let head: Hash | undefined;
  let tail = "";
  let pieces: string[] = [];
  let length = 0;

  function join(): void {
    tail += pieces.join("");
    pieces = [];
    if (tail.length <= KEPT_CHARS) return;
    head ??= hash();
    // Half a surrogate pair has no UTF-8 of its own: it waits for its other half.
    const whole = isHighSurrogate(tail, tail.length - 1) ? tail.length - 1 : tail.length;
    head.update(tail.slice(0, whole));
    tail = tail.slice(whole);
  }

  function digest(): string {
    join();
    return (head?.copy() ?? hash()).update(tail).digest("hex");
  }

  return {
    add(text) {
      length += text.length;
      pieces.push(text);
      if (pieces.length >= PIECES) join();
    },
    get length() {
      return length;
    },
    startsOff(text) {
      if (text.length < length) return false;
      join();
      if (length === tail.length) return text.startsWith(tail);
      return sha256(text.slice(0, length)) === digest();
    },
    shown: () => length === 0 ? undefined : { length, digest: digest() },
  };
}

/**
 * How much of `text` repeats what earlier runs showed: all of `earlier` in its order, or, of a thread that the Python
 * adapter wrote, the longest beginning that has one of its digests; 0 when it is no repeat.
 */
export function repeatedLength(text: string, earlier: readonly ShownText[], digests: readonly string[]): number {
  if (earlier.length > 0) return chainLength(text, earlier);
  if (digests.length === 0) return 0;
  const known = new Set(digests);
  const begun = hash();
  let longest = 0;
  let at = 0;
  for (const character of text.slice(0, SEARCHED_CHARS)) {
    begun.update(character);
    at += character.length;
    if (known.has(begun.copy().digest("hex"))) longest = at;
  }
  return longest;
}

function chainLength(text: string, pieces: readonly ShownText[]): number {
  let at = 0;
  for (const { length, digest } of pieces) {
    if (text.length < at + length || sha256(text.slice(at, at + length)) !== digest) return 0;
    at += length;
  }
  return at;
}

/** Whether the character at a place is the first half of a surrogate pair. */
export function isHighSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xd800 && code <= 0xdbff;
}
