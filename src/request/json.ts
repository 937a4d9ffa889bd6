/** Bytes → JSON value (docs/protocol.md, "Checks", step 4), and the JSON text that a digest is made of. Pure. */
import { createHash } from "node:crypto";
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

/** A number as Python wrote it; stands for it in a tree that is serialized. */
class PythonNumber {
  constructor(readonly text: string) {}
}

/**
 * SHA-256 (lower-case hex) of a JSON text as Python writes it with keys sorted by code point, no spaces and text
 * unescaped: integers as written, other numbers as the `repr` of a float. The same body has the same digest in both.
 */
export function pythonDigest(text: string): string {
  // Only these need the source text of their numbers; all others print the same in both languages.
  const tree = /[\d][.eE]|-0|\d{16}/.test(text) ? JSON.parse(text, withPythonNumbers) : JSON.parse(text);
  return createHash("sha256").update(pythonText(tree)).digest("hex");
}

function withPythonNumbers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  const source = context.source;
  if (/^-?\d+$/.test(source)) return new PythonNumber(source === "-0" ? "0" : source);
  return new PythonNumber(pythonFloat(value));
}

/** A finite or infinite double as Python's `repr` prints it. */
export function pythonFloat(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [mantissa = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 16) {
    const plain = plainDecimal(value, mantissa, exponent);
    return plain.includes(".") ? plain : `${plain}.0`;
  }
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function plainDecimal(value: number, mantissa: string, exponent: number): string {
  const plain = String(value);
  if (!plain.includes("e")) return plain;
  const digits = mantissa.replace(/[-.]/g, "");
  return `${value < 0 ? "-" : ""}0.${"0".repeat(-exponent - 1)}${digits}`;
}

function pythonText(value: unknown): string {
  if (value instanceof PythonNumber) return value.text;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(pythonText).join(",")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => byCodePoint(a, b));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${pythonText(item)}`).join(",")}}`;
}

/** UTF-16 order and code point order differ where a surrogate meets U+E000 or above. */
function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (x === y) continue;
    const [xHigh, yHigh] = [x >= 0xd800 && x <= 0xdfff, y >= 0xd800 && y <= 0xdfff];
    return xHigh === yHigh ? x - y : xHigh ? 1 : -1;
  }
  return a.length - b.length;
}

/** The digest of an answer to an interrupt, {payload, status}, as the Python adapter computes it from the value. */
export function answerDigest(status: string, payload: Json | undefined): string {
  return pythonDigest(JSON.stringify({ payload: payload ?? null, status }));
}
