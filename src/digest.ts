/** Digests of requests and answers, equal to the Python adapter's (docs/protocol.md, "Admission"). Pure. */
import { endOfString, type Json } from "./json.ts";
import { sha256 } from "./sha256.ts";

/**
 * SHA-256 (lower-case hex) of a valid JSON text as Python writes it with keys sorted by code point, no spaces and text
 * unescaped: integers as written, other numbers as the `repr` of a float. The same body has the same digest in both.
 */
export function pythonDigest(text: string): string {
  return sha256(pythonText(text));
}

/** The digest of an answer to an interrupt, {payload, status}, as the Python adapter computes it from the value. */
export function answerDigest(status: string, payload: Json | undefined): string {
  return pythonDigest(JSON.stringify({ payload: payload ?? null, status }));
}

/**
 * Rewrites the text token by token. `JSON.parse` would lose how numbers are written, and a reviver that is told so takes time
 * in the square of their count: 80 s for a list of 12 MiB.
 */
function pythonText(text: string): string {
  let at = 0;

  /** The code of the next character that is no white space. */
  function next(): number {
    while (text.charCodeAt(at) <= 0x20) at++;
    return text.charCodeAt(at);
  }

  function value(): string {
    switch (next()) {
      case QUOTE:
        return string();
      case BRACE:
        return object();
      case BRACKET:
        return array();
      default:
        return scalar();
    }
  }

  function string(): string {
    const from = at;
    at = endOfString(text, from);
    const written = text.slice(from, at);
    return written.includes("\\") ? JSON.stringify(JSON.parse(written)) : written;
  }

  function array(): string {
    const items: string[] = [];
    at++;
    while (next() !== BRACKET_END) {
      if (text.charCodeAt(at) === COMMA) at++;
      items.push(value());
    }
    at++;
    return `[${items.join(",")}]`;
  }

  function object(): string {
    // Of a key that is there twice the last one counts, as it does in Python.
    const members = new Map<string, string>();
    at++;
    while (next() !== BRACE_END) {
      if (text.charCodeAt(at) === COMMA) at++;
      next();
      const written = string();
      next();
      at++;
      members.set(keyOf(written), `${written}:${value()}`);
    }
    at++;
    return `{${sorted([...members.keys()]).map((key) => members.get(key)).join(",")}}`;
  }

  function scalar(): string {
    const from = at;
    while (isScalar(text.charCodeAt(at))) at++;
    const written = text.slice(from, at);
    if (written === "true" || written === "false" || written === "null") return written;
    if (/[.eE]/.test(written)) return pythonFloat(Number(written));
    return written === "-0" ? "0" : written;
  }

  return value();
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;

/** Whether a character is one of a number, or of true, false and null. */
function isScalar(code: number): boolean {
  return code > 0x20 && code !== COMMA && code !== BRACKET_END && code !== BRACE_END;
}

/** A double as Python's `repr` prints it. */
function pythonFloat(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e16) {
    const plain = String(value);
    return plain.includes(".") ? plain : `${plain}.0`;
  }
  const [mantissa = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** What a written key says. */
function keyOf(written: string): string {
  return written.includes("\\") ? JSON.parse(written) : written.slice(1, -1);
}

/** Where UTF-16 order and the order of code points differ: a surrogate meets U+E000 or above. */
const FROM_SURROGATES = /[\ud800-\uffff]/;

/** Keys in the order of their code points. */
function sorted(keys: string[]): string[] {
  if (!keys.some((key) => FROM_SURROGATES.test(key))) return keys.sort();
  const ranked = keys.map((key) => ({ key, rank: rank(key) }));
  return ranked.sort((a, b) => a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0).map(({ key }) => key);
}

/** A text whose UTF-16 order is the order of a key's code points. */
function rank(key: string): string {
  return key.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800);
  });
}
