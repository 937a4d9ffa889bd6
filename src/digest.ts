/** Digests of requests and answers, equal to the Python adapter's (docs/protocol.md, "Admission"). Pure. */
import { createHash } from "node:crypto";
import type { Json } from "./json.ts";

/** A number as Python writes it; stands for it in a tree that is serialized. */
class PythonNumber {
  constructor(readonly text: string) {}
}

/**
 * SHA-256 (lower-case hex) of a JSON text as Python writes it with keys sorted by code point, no spaces and text
 * unescaped: integers as written, other numbers as the `repr` of a float. The same body has the same digest in both.
 * Throws a SyntaxError when it is no JSON.
 */
export function pythonDigest(text: string): string {
  // Only these need the source text of their numbers; all others print the same in both languages.
  const tree = /\d[.eE]|-0|\d{16}/.test(text) ? JSON.parse(text, withPythonNumbers) : JSON.parse(text);
  return createHash("sha256").update(pythonText(tree)).digest("hex");
}

/** The digest of an answer to an interrupt, {payload, status}, as the Python adapter computes it from the value. */
export function answerDigest(status: string, payload: Json | undefined): string {
  return pythonDigest(JSON.stringify({ payload: payload ?? null, status }));
}

function withPythonNumbers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  const { source } = context;
  if (/^-?\d+$/.test(source)) return new PythonNumber(source === "-0" ? "0" : source);
  return new PythonNumber(pythonFloat(value));
}

/** A double as Python's `repr` prints it. */
function pythonFloat(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [mantissa = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  const plain = String(value);
  return plain.includes(".") ? plain : `${plain}.0`;
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
