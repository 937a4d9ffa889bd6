/** Makes a text of the kernel fit for an error message or the log: secrets masked, then cut (docs/security.md). Pure. */
import { REASON_CHARS, SECRET_MIN_CHARS } from "./limits.ts";

const MASK = "***";
/** Characters of a text that are looked at: more than a reason shows, also when most of it is masked. */
const WINDOW = 65_536;
/** A character takes at most three bytes of UTF-8, each three characters when it is URL-encoded. */
const LONGEST_FORM = 9;
/** So much of a secret's beginning is masked whatever follows: looking further would take time without a bound. */
const ANCHOR_CHARS = 256;

/**
 * A function that masks the given secrets in a text, as they are, escaped in JSON, URL-encoded and in base64; removes
 * control characters; and cuts to 500 characters. Values under 6 characters are too common to be masked.
 */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter((secret) => secret.length >= SECRET_MIN_CHARS).sort((a, b) => b.length - a.length);
  const forms = known.flatMap((secret) => [secret, ...jsonForms(secret), ...base64Forms(secret)]);
  const encoded = known.map(urlCharacters);
  const rim = LONGEST_FORM * (known[0]?.length ?? 0);
  return (text) => {
    const head = text.slice(0, WINDOW + rim);
    // No regular expressions: one of a long secret overflows the stack, and its error would quote the secret.
    const plain = forms.reduce((result, form) => result.replaceAll(form, MASK), head);
    const masked = encoded.reduce(maskEncoded, plain);
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

/** A character as it is, and URL-encoded with digits in upper case. */
type UrlCharacter = readonly [plain: string, encoded: string];

function urlCharacters(secret: string): UrlCharacter[] {
  const encoded = (character: string): string =>
    [...new TextEncoder().encode(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
      .join("");
  return [...secret].map((character) => [character, encoded(character)]);
}

/** Masks a secret of which any characters are URL-encoded, and spaces perhaps written as in a form. */
function maskEncoded(text: string, secret: readonly UrlCharacter[]): string {
  if (!/[%+]/.test(text)) return text;
  let result = "";
  let from = 0;
  for (let at = 0; at < text.length;) {
    const end = endOfEncoded(text, at, secret);
    if (end === undefined) {
      at++;
      continue;
    }
    result += text.slice(from, at) + MASK;
    from = at = end;
  }
  return result + text.slice(from);
}

/** Where a secret that begins at a place ends; undefined when none does. A long beginning is enough, however it goes on. */
function endOfEncoded(text: string, at: number, secret: readonly UrlCharacter[]): number | undefined {
  let end = at;
  for (const [count, [plain, encoded]] of secret.entries()) {
    const isEncoded = text[end] === "%" && text.slice(end, end + encoded.length).toUpperCase() === encoded;
    if (isEncoded) end += encoded.length;
    else if (text.startsWith(plain, end) || (plain === " " && text[end] === "+")) end += plain.length;
    else return count >= ANCHOR_CHARS ? end : undefined;
  }
  return end;
}
