/** Makes a text of the kernel fit for an error message or the log: secrets masked, then cut (docs/security.md). Pure. */
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
  const patterns = secrets
    .filter((secret) => secret.length >= SECRET_MIN_CHARS)
    .sort((a, b) => b.length - a.length)
    .flatMap((secret) => [...written(secret), ...base64Forms(secret)])
    .map((pattern) => new RegExp(pattern, "g"));
  const rim = LONGEST_FORM * Math.max(0, ...secrets.map((secret) => secret.length));
  return (text) => {
    const head = text.slice(0, WINDOW + rim);
    const masked = patterns.reduce((result, pattern) => result.replace(pattern, MASK), head);
    // Where the text is cut, half a secret may stand, which nothing recognizes.
    const whole = head.length < text.length ? masked.slice(0, Math.max(0, masked.length - rim)) : masked;
    const clean = whole.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim();
    // A character has at most two code units: what is cut off first needs no look at its characters.
    return [...clean.slice(0, 2 * REASON_CHARS).toWellFormed()].slice(0, REASON_CHARS).join("");
  };
}

/** Patterns for a secret as it is or URL-encoded, whichever of its characters are, and as JSON may write it. */
function written(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const ascii = json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return [[...secret].map(urlCharacter).join(""), RegExp.escape(json), RegExp.escape(ascii)];
}

function urlCharacter(character: string): string {
  const plain = RegExp.escape(character);
  if (/[a-z0-9]/i.test(character)) return plain;
  const bytes = [...new TextEncoder().encode(character)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`);
  const encoded = bytes.join("").replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  return `(?:${encoded}|${plain}${character === " " ? "|\\+" : ""})`;
}

/** The secret in base64 wherever it may begin within three bytes; the characters at the rims depend on their neighbours. */
function base64Forms(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  return [0, 1, 2].flatMap((shift) => {
    const shifted = new Uint8Array(shift + bytes.length);
    shifted.set(bytes, shift);
    const inner = shifted.toBase64({ omitPadding: true }).slice(shift === 0 ? 0 : shift + 1, -1);
    const either = RegExp.escape(inner).replace(/\\\+/g, "[+\\-]").replace(/\\\//g, "[/_]");
    return inner.length >= SECRET_MIN_CHARS ? [either] : [];
  });
}
