import assert from "node:assert/strict";
import fc from "fast-check";
import { REASON_CHARS, SECRET_MIN_CHARS } from "../src/limits.ts";
import { redactor } from "../src/redact.ts";

const SECRET = "LTAI5t/Fg+x9==&Z é😀\"'";

/** A text as Python's json.dumps writes it, without its quotes: ASCII only. */
function asciiJson(text: string): string {
  const unit = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).slice(1, -1).replace(/[^ -~]/g, unit);
}

function base64(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}

Deno.test("a secret is masked wherever it stands, as often as it stands there", () => {
  const redact = redactor(["secret-key"]);
  assert.equal(redact("secret-key"), "***");
  assert.equal(redact("bad key: secret-key, xsecret-keyx and secret-keysecret-key"), "bad key: ***, x***x and ******");
  assert.equal(redact("Secret-Key secret key"), "Secret-Key secret key");
});

Deno.test("a secret is masked in the spellings in which programs repeat it", () => {
  const encoded = encodeURIComponent(SECRET);
  const spellings: [name: string, spelling: string][] = [
    ["as it is", SECRET],
    ["URL-encoded", encoded],
    ["URL-encoded in lower case", encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())],
    ["URL-encoded but for slashes, as Python does", encoded.replaceAll("%2F", "/")],
    ["URL-encoded with quotes, as Python does", encoded.replaceAll("'", "%27")],
    ["as a form's field", new URLSearchParams({ "": SECRET }).toString().slice(1)],
    ["in a URL's path", new URL(`http://h/${SECRET}`).pathname.slice(1)],
    ["in JSON", JSON.stringify(SECRET).slice(1, -1)],
    ["in ASCII JSON", asciiJson(SECRET)],
    ["in base64", base64(SECRET).replace(/.?=*$/, "")],
  ];
  const redact = redactor(["another-secret", SECRET]);
  for (const [name, spelling] of spellings) {
    const text = redact(`<${spelling}>`);
    assert.match(text, /^<.{0,1}\*\*\*.{0,1}>$/u, `${name}: ${spelling} → ${text}`);
  }
});

Deno.test("a secret in base64 is masked wherever it begins, for URLs too, with at most a rim of it left", () => {
  const redact = redactor([SECRET]);
  for (const before of ["", "a", "ab", "abc", "user:"]) {
    for (const after of ["", "x", "xy", "xyz"]) {
      const whole = base64(before + SECRET + after);
      const forms = [whole, whole.replace(/=+$/, ""), whole.replaceAll("+", "-").replaceAll("/", "_")];
      for (const form of forms) {
        const text = redact(form);
        assert.ok(
          text.includes("***") && text.length <= before.length * 2 + after.length * 2 + 3 + 8,
          `${form} → ${text}`,
        );
      }
    }
  }
});

Deno.test("what only looks like an encoded secret stays", () => {
  assert.equal(redactor(["secret-key"])("secret+key, secret%20key"), "secret+key, secret%20key");
  assert.equal(redactor(["a/b/c/d"])("a%2Bb%2Fc%2Fd a%b%c%d"), "a%2Bb%2Fc%2Fd a%b%c%d");
});

Deno.test("values under 6 characters are not masked", () => {
  const redact = redactor(["", "a", "12345", "123456"]);
  assert.equal(SECRET_MIN_CHARS, 6);
  assert.equal(redact("a 12345 123456"), "a 12345 ***");
});

Deno.test("a secret that holds another one is masked whole", () => {
  for (const secrets of [["secret", "secret-long"], ["secret-long", "secret"]]) {
    assert.equal(redactor(secrets)("secret-long secret"), "*** ***");
  }
});

Deno.test("characters that mean something in a pattern are only characters", () => {
  for (const secret of ["a.*b.*c", "$&$1(x)", "[^a-z]+", "\\d\\d\\d\\d", "%25%25%25", "{6,}|x", "^start$"]) {
    assert.equal(redactor([secret])(`<${secret}>`), "<***>", secret);
    assert.equal(redactor([secret])("aXXbYYc 1234 start"), "aXXbYYc 1234 start", secret);
  }
});

Deno.test("control characters and what turns or hides text become one space", () => {
  const redact = redactor([]);
  assert.equal(redact("\n a\r\n\tb\u0000\u001b[31mc\u007f\u0085d \u2028\u2029e\u202ef\u200bg\n"), "a b [31mc d  e f g");
  assert.equal(redact("half \ud83d pair"), "half \ufffd pair");
});

Deno.test("a text is cut to 500 characters, and no character is cut in two", () => {
  const redact = redactor([]);
  assert.equal(REASON_CHARS, 500);
  assert.equal(redact("a".repeat(501)), "a".repeat(500));
  assert.equal(redact("😀".repeat(501)), "😀".repeat(500));
  assert.equal(redact(`a${"😀".repeat(600)}`), `a${"😀".repeat(499)}`);
  assert.equal(redact(`  ${"a".repeat(500)}  `), "a".repeat(500));
});

Deno.test("a secret is masked before the cut: no part of it is left at the edge", () => {
  const secret = "0123456789abcdefghij";
  for (let before = 480; before <= 500; before++) {
    assert.equal(redactor([secret])("-".repeat(before) + secret), ("-".repeat(before) + "***").slice(0, 500));
  }
});

Deno.test("no part of a secret shows, wherever a very long text holds it", () => {
  const secret = "0123456789".repeat(200);
  const redact = redactor([secret]);
  // Masks and line ends shrink to a few characters, so that what stands far behind comes into view.
  for (let before = 0; before < 30_000; before += 250) {
    const text = redact(`${secret.repeat(30)}${"\n".repeat(before)}${secret}${"tail ".repeat(100_000)}`);
    assert.doesNotMatch(text, /[0-9]/, `${before} lines`);
  }
});

Deno.test("whatever surrounds it, a secret does not come through", () => {
  const character = fc.constantFrom(..."abcXYZ019+/=%&\\\"' .*é😀\u0000");
  const secret = fc.string({ unit: character, minLength: 6, maxLength: 24 });
  fc.assert(fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
    const redact = redactor([value]);
    for (const form of [value, encodeURIComponent(value), JSON.stringify(value), asciiJson(value)]) {
      const masked = redact(`${before}${form}${after}`);
      // What surrounds it may hold a beginning of it by chance; as a whole it must be gone.
      assert.ok(masked.includes("***"), masked);
    }
  }));
});

Deno.test("a per cent sign before an encoded secret does not hide it", () => {
  for (const secret of ["12345 6", "ab/cdef", "c/defgh", "41414141 "]) {
    for (const before of ["%", "%4", "%41", "100%", "%%"]) {
      assert.equal(redactor([secret])(`${before}${encodeURIComponent(secret)}!`), `${before}***!`);
    }
  }
});

Deno.test("hostile secrets and texts of megabytes are masked in bounded time", () => {
  const letters = "a".repeat(16_000);
  const secrets: [string, readonly string[]][] = [
    ["a few", ["%25".repeat(5000), "\\".repeat(16_000), letters]],
    ["as many as headers may be", Array.from({ length: 100 }, (_, at) => `${letters.slice(at)}b${at}`)],
    ["short ones that begin alike", Array.from({ length: 100 }, (_, at) => `${letters.slice(0, 200)}b${at}`)],
  ];
  for (const [name, known] of secrets) {
    const began = performance.now();
    const redact = redactor(known);
    redact("%25".repeat(1_000_000));
    redact("%61".repeat(1_000_000));
    redact("\\".repeat(4_000_000));
    redact(`%${letters.slice(1)}${"b".repeat(8_000_000)}`);
    redact(`%${"a".repeat(8_000_000)}`);
    assert.ok(performance.now() - began < 10_000, `${name}: ${performance.now() - began} ms`);
  }
});
