/** Makes a text of the kernel fit for an error message or the log: secrets masked, then cut (docs/security.md). Pure. */
import { Buffer } from "node:buffer";
import { REASON_CHARS, SECRET_MIN_CHARS } from "./limits.ts";

const MASK = "***";
/** Characters of a text that are looked at: more than a reason shows, also when most of it is masked. */
const WINDOW = 65_536;
/** A character takes at most three bytes of UTF-8, each three characters when it is URL-encoded. */
const LONGEST_FORM = 9;

/**
 * A function that masks the given secrets in a text, as they are, escaped in JSON, URL-encoded and in base64; removes
 * control characters; and cuts to 500 characters. Values under 6 characters are too common to be masked.
 */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const known = [...new Set(secrets)].filter((secret) => secret.length >= SECRET_MIN_CHARS)
    .sort((a, b) => b.length - a.length);
  const rim = LONGEST_FORM * (known[0]?.length ?? 0);
  // Most runs end well, and a hundred long headers take a while.
  let forms: readonly string[] | undefined;
  return (text) => {
    forms ??= known.flatMap((secret) => [secret, ...jsonForms(secret), ...base64Forms(secret)]);
    const head = text.slice(0, WINDOW + rim);
    // No regular expressions: one of a long secret overflows the stack, and its error would quote the secret.
    const plain = forms.reduce((result, form) => result.replaceAll(form, MASK), head);
    const masked = maskEncoded(plain, known);
    // Where the text is cut, half a secret may stand, which nothing recognizes.
    const whole = head.length < text.length ? masked.slice(0, Math.max(0, masked.length - rim)) : masked;
    const clean = whole.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim();
    // A character has at most two code units: what is cut off first needs no look at its characters.
    return [...clean.slice(0, 2 * REASON_CHARS).toWellFormed()].slice(0, REASON_CHARS).join("");
  };
}

/** A secret within a JSON string, with its characters as they are and in ASCII. */
function jsonForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const unit = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return [json, json.replace(/[^\0-\x7f]/g, unit)];
}

/** The secret in base64 wherever it may begin within three bytes; the characters at the rims depend on their neighbours. */
function base64Forms(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  return [0, 1, 2].flatMap((shift) => {
    const shifted = new Uint8Array(shift + bytes.length);
    shifted.set(bytes, shift);
    const inner = shifted.toBase64({ omitPadding: true }).slice(shift === 0 ? 0 : shift + 1, -1);
    const forms = [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
    return inner.length >= SECRET_MIN_CHARS ? forms : [];
  });
}

/** A text in which what is URL-encoded is decoded. Texts here are bytes of UTF-8, one in a character, to be searched natively. */
interface Decoded {
  readonly text: string;
  /** Where in the bytes of the original each byte begins, and where the last one ends. */
  readonly places: Uint32Array;
}

/** Masks secrets of which any characters are URL-encoded, and spaces perhaps written as in a form. */
function maskEncoded(text: string, secrets: readonly string[]): string {
  if (!/[%+]/.test(text)) return text;
  const bytes = Buffer.from(text);
  const original = bytes.toString("latin1");
  const plain = decode(bytes, false);
  const form = original.includes("+") ? decode(bytes, true) : undefined;
  const spans = secrets.flatMap((secret) => {
    const wanted = Buffer.from(secret).toString("latin1");
    return [
      ...findIn(plain, original, wanted),
      ...(form && secret.includes(" ") ? findIn(form, original, wanted) : []),
    ];
  });
  let masked = "";
  let at = 0;
  for (const [from, to] of spans.sort(([a], [b]) => a - b)) {
    if (from >= at) masked += bytes.toString("utf8", at, from) + MASK;
    at = Math.max(at, to);
  }
  return masked + bytes.toString("utf8", at);
}

function decode(bytes: Uint8Array, plusIsSpace: boolean): Decoded {
  const decoded = Buffer.alloc(bytes.length);
  const places = new Uint32Array(bytes.length + 1);
  let length = 0;
  for (let at = 0; at < bytes.length; length++) {
    places[length] = at;
    const byte = bytes[at] ?? 0;
    const [high, low] = byte === PERCENT ? [hexDigit(bytes[at + 1]), hexDigit(bytes[at + 2])] : [-1, -1];
    const isEncoded = high >= 0 && low >= 0;
    decoded[length] = isEncoded ? high * 16 + low : plusIsSpace && byte === PLUS ? SPACE : byte;
    at += isEncoded ? 3 : 1;
  }
  places[length] = bytes.length;
  return { text: decoded.toString("latin1", 0, length), places };
}

/** Where a secret stands in the original. A `%` right before it may have taken its first digits for a code. */
function findIn({ text, places }: Decoded, original: string, secret: string): [from: number, to: number][] {
  const found: [number, number][] = [];
  for (let taken = 0; taken <= 2 && (taken === 0 || hexDigit(secret.charCodeAt(taken - 1)) >= 0); taken++) {
    const wanted = secret.slice(taken);
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const from = (places[at] ?? 0) - taken;
      if (original.startsWith(secret.slice(0, taken), from)) found.push([from, places[at + wanted.length] ?? 0]);
    }
  }
  return found;
}

const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;

/** What a character is worth as a digit in base 16; negative when it is none. */
function hexDigit(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = (code | 0x20) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
}
