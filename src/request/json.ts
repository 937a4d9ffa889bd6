/** Bytes → JSON value (docs/protocol.md, "Checks", step 4), and the JSON text that a digest is made of. Pure. */
import type { Json } from "../json.ts";
import { JSON_DEPTH } from "../limits.ts";

export type ParsedJson =
  | { readonly ok: true; readonly value: Json; readonly text: string }
  | { readonly ok: false; readonly why: "json" | "depth" };

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/**
 * Reads a body as JSON in UTF-8. A byte order mark is accepted; invalid UTF-8, empty bodies and more than 200 levels of
 * nesting are not, whatever charset was named.
 */
export function parseJson(bytes: Uint8Array): ParsedJson {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { ok: false, why: "json" };
  }
  // Deep nesting is found before a parser that could recurse over it sees the text.
  if (depth(text) > JSON_DEPTH) return { ok: false, why: "depth" };
  try {
    return { ok: true, value: JSON.parse(text), text };
  } catch {
    return { ok: false, why: "json" };
  }
}

/** How deeply brackets nest outside of strings; of broken JSON, a harmless guess. */
function depth(text: string): number {
  const token = /["[\]{}]/g;
  const quote = /["\\]/g;
  let now = 0;
  let most = 0;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    if (found[0] === '"') {
      quote.lastIndex = token.lastIndex;
      let end = quote.exec(text);
      while (end && end[0] === "\\") {
        quote.lastIndex += 1;
        end = quote.exec(text);
      }
      if (!end) return most;
      token.lastIndex = quote.lastIndex;
    } else if (found[0] === "[" || found[0] === "{") {
      most = Math.max(most, ++now);
      if (most > JSON_DEPTH) return most;
    } else now--;
  }
  return most;
}
