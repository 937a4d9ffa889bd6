/** Event → one SSE record (docs/protocol.md, "The stream"): LF only, one `data:` line, at most 8 MiB. Pure. */
import { EVENT_BYTES } from "../limits.ts";
import type { RunEvent } from "../mapping/event.ts";

export const HEARTBEAT = ": heartbeat\n\n";

/** A delta up to this length fits into an event, whatever its characters. */
const PLAIN_DELTA_CHARS = EVENT_BYTES / 4;

const encoder = new TextEncoder();

/**
 * The SSE record of an event sent at `timestamp` (ms). A lone surrogate becomes U+FFFD, and the longest string of an event
 * that is too large for the client's parser is cut.
 */
export function encodeEvent(event: RunEvent, timestamp: number): string {
  const json = JSON.stringify(event);
  // Half a surrogate pair shows as an escape of its own; a text that merely speaks of one costs a second look.
  const whole = json.includes("\\ud") ? JSON.stringify(wellFormed(event)) : json;
  // A character has at most three bytes, so most events need no exact count.
  const fits = whole.length * 3 <= EVENT_BYTES || encoder.encode(whole).length <= EVENT_BYTES - 64;
  return `data: ${(fits ? whole : shortened(event)).slice(0, -1)},"timestamp":${timestamp}}\n\n`;
}

/**
 * As `encodeEvent`, for the events of one stream. Two kinds come by the thousand, and differ from the one before only in
 * delta and time: to keep what they share took 0.2 µs each instead of 0.5.
 */
export function createEncoder(): typeof encodeEvent {
  let type = "";
  let messageId = "";
  let head = "";
  return (event, timestamp) => {
    if (event.type !== "TEXT_MESSAGE_CONTENT" && event.type !== "REASONING_MESSAGE_CONTENT") {
      return encodeEvent(event, timestamp);
    }
    const delta = JSON.stringify(event.delta);
    if (delta.length > PLAIN_DELTA_CHARS || delta.includes("\\ud")) return encodeEvent(event, timestamp);
    if (event.messageId !== messageId || event.type !== type) {
      ({ type, messageId } = event);
      head = `data: {"type":"${type}","messageId":${JSON.stringify(messageId.toWellFormed())},"delta":`;
    }
    return `${head}${delta},"timestamp":${timestamp}}\n\n`;
  };
}

function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]));
}

/** The event's JSON with its longest strings cut, one after the other, until it fits. */
function shortened(event: RunEvent): string {
  let value = wellFormed(event);
  while (true) {
    const json = JSON.stringify(value);
    const over = encoder.encode(json).length - (EVENT_BYTES - 128);
    if (over <= 0) return json;
    const longest = longestString(value);
    value = replace(value, longest, cut(longest, over));
  }
}

function longestString(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  return Object.values(value).map(longestString).reduce((a, b) => b.length > a.length ? b : a, "");
}

/** The text without at least `over` bytes of its JSON, and a word on how many are missing. */
function cut(text: string, over: number): string {
  const bytes = encoder.encode(text).length;
  // Escapes make JSON longer than the text, so a cut by bytes of text may be repeated; each leaves out at least this much.
  const keep = Math.max(0, bytes - over - 64);
  const kept = new TextDecoder().decode(encoder.encode(text).subarray(0, keep)).replace(/\ufffd$/, "");
  return `${kept}… [${bytes - encoder.encode(kept).length} bytes left out]`;
}

function replace(value: unknown, what: string, by: string): unknown {
  if (value === what) return by;
  if (Array.isArray(value)) return value.map((item) => replace(item, what, by));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replace(item, what, by)]));
}
