/** Bytes → JSON value (docs/protocol.md, "Checks", step 4), and the JSON text that a digest is made of. Pure. */
import { endOfString, type Json } from "../json.ts";
import { JSON_DEPTH, JSON_VALUES } from "../limits.ts";

export type ParsedJson =
  | { readonly ok: true; readonly value: Json; readonly text: string }
  | { readonly ok: false; readonly why: "json" | "depth" | "size" };

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/**
 * Reads a body as JSON in UTF-8. A byte order mark is accepted; invalid UTF-8, empty bodies and more than 200 levels of
 * nesting or 200,000 values are not, whatever charset was named.
 */
export function parseJson(bytes: Uint8Array): ParsedJson {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { ok: false, why: "json" };
  }
  const why = excess(text);
  if (why) return { ok: false, why };
  try {
    return { ok: true, value: JSON.parse(text), text };
  } catch {
    return { ok: false, why: "json" };
  }
}

/** Why a text is refused unseen by a parser: it nests too deeply, or holds too many values. Of broken JSON, a harmless guess. */
function excess(text: string): "depth" | "size" | undefined {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at) - 1;
        break;
      case "[":
      case "{":
        depth++;
        values++;
        break;
      case "]":
      case "}":
        depth--;
        break;
      case ",":
        values++;
    }
    if (depth > JSON_DEPTH) return "depth";
    if (values > JSON_VALUES) return "size";
  }
  return undefined;
}
