/** Makes a text of the kernel fit for an error message or the log: secrets masked, then cut (docs/security.md). Pure. */
import { REASON_CHARS, SECRET_MIN_CHARS } from "./limits.ts";

const MASK = "***";

/**
 * A function that masks the given secrets in a text, as they are, URL-encoded and in base64; removes control characters;
 * and cuts to 500 characters. Values under 6 characters are too common to be masked.
 */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .filter((secret) => secret.length >= SECRET_MIN_CHARS)
    .flatMap((secret) => [secret, encodeURIComponent(secret.toWellFormed()), ...base64Forms(secret)])
    .filter((form) => form.length >= SECRET_MIN_CHARS)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const masked = forms.reduce((result, form) => result.replaceAll(form, MASK), text);
    const clean = masked.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim().toWellFormed();
    return [...clean].slice(0, REASON_CHARS).join("");
  };
}

/** The secret in base64 wherever it may begin within three bytes; the characters at the rims depend on their neighbours. */
function base64Forms(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  return [0, 1, 2].map((shift) => {
    const shifted = new Uint8Array(shift + bytes.length);
    shifted.set(bytes, shift);
    const encoded = shifted.toBase64({ omitPadding: true });
    return encoded.slice(shift === 0 ? 0 : shift + 1, -1);
  });
}
