import assert from "node:assert/strict";
import fc from "fast-check";
import { answerDigest, pythonDigest } from "../../src/digest.ts";
import { JSON_DEPTH, JSON_VALUES, RUN_BODY_BYTES } from "../../src/limits.ts";
import { parseJson } from "../../src/request/json.ts";
import recorded from "./digests.json" with { type: "json" };

const PAIRS = recorded as [string, string][];

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Why a body is refused; undefined when it is taken. */
function refused(body: Uint8Array | string): "json" | "depth" | "size" | undefined {
  const parsed = parseJson(typeof body === "string" ? bytesOf(body) : body);
  return parsed.ok ? undefined : parsed.why;
}

function nested(levels: number, inner = ""): string {
  return "[".repeat(levels) + inner + "]".repeat(levels);
}

/** A JSON text of a value with its keys in another order and white space between its tokens. */
function written(value: unknown, space: string, turned: boolean): string {
  const inner = (item: unknown) => written(item, space, turned);
  const list = (items: string[]) => items.join(`${space},${space}`);
  if (Array.isArray(value)) return `[${space}${list(value.map(inner))}${space}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}${space}:${space}${inner(item)}`);
  return `{${space}${list(turned ? members.reverse() : members)}${space}}`;
}

const json = fc.jsonValue({ maxDepth: 5, stringUnit: "grapheme" });
const space = fc.constantFrom("", " ", "\n", "\t\r\n ");

Deno.test("JSON in UTF-8 is read as it stands, with the text that its digest is made of", () => {
  const text = ' {"a": [1, "ü😀", null]}\n';
  assert.deepEqual(parseJson(bytesOf(text)), { ok: true, value: { a: [1, "ü😀", null] }, text });
});

Deno.test("a byte order mark is accepted, and is no part of the digest's text", () => {
  assert.deepEqual(parseJson(new Uint8Array([0xef, 0xbb, 0xbf, 0x5b, 0x5d])), { ok: true, value: [], text: "[]" });
  assert.equal(refused("\ufeff\ufeff[]"), "json");
  assert.equal(refused("[\ufeff]"), "json");
});

Deno.test("what is no JSON in UTF-8 is refused", () => {
  const utf16 = new Uint8Array([0xff, 0xfe, 0x5b, 0x00, 0x5d, 0x00]);
  const bodies: [string, Uint8Array | string][] = [
    ["an empty body", ""],
    ["white space", " \n"],
    ["only a byte order mark", "\ufeff"],
    ["UTF-16 with its mark", utf16],
    ["UTF-16 without", utf16.subarray(2)],
    ["a byte 0xFF in a string", new Uint8Array([0x22, 0xff, 0x22])],
    ["a surrogate as UTF-8", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ["an overlong quote", new Uint8Array([0x22, 0xc0, 0xa2, 0x22])],
    ["half a character", new Uint8Array([0x22, 0xc3, 0x22])],
    ["Latin-1", new Uint8Array([0x22, 0xe9, 0x22])],
    ["half a JSON", '{"a":'],
    ["an unfinished string", '{"a":"\\'],
    ["JSON and more", "{} {}"],
    ["NaN", "NaN"],
    ["Infinity", "[-Infinity]"],
    ["a leading zero", "01"],
    ["a plus", "+1"],
    ["single quotes", "{'a':1}"],
    ["a trailing comma", "[1,]"],
    ["a comment", "/* */ {}"],
    ["a raw control character", '"\n"'],
    ["closing brackets", "]".repeat(1000) + "[".repeat(100)],
  ];
  for (const [name, body] of bodies) assert.equal(refused(body), "json", name);
});

Deno.test("JSON nests 200 levels deep and no deeper", () => {
  assert.equal(refused(nested(JSON_DEPTH)), undefined);
  assert.equal(refused(nested(JSON_DEPTH + 1)), "depth");
  assert.equal(refused('{"a":'.repeat(JSON_DEPTH) + "1" + "}".repeat(JSON_DEPTH)), undefined);
  assert.equal(refused('{"a":'.repeat(JSON_DEPTH + 1) + "1" + "}".repeat(JSON_DEPTH + 1)), "depth");
  assert.equal(refused(`{"state":${nested(100_000)}}`), "depth");
  assert.equal(refused("[".repeat(6_000_000)), "depth");
});

Deno.test("brackets side by side or within a string nest nothing", () => {
  assert.equal(refused(`[${"[],{},".repeat(1000)}0]`), undefined);
  assert.equal(refused(JSON.stringify("[{".repeat(1000))), undefined);
  assert.equal(refused(JSON.stringify({ 'key "[[[': '\\"[[['.repeat(500) })), undefined);
  assert.equal(refused(nested(JSON_DEPTH, JSON.stringify('\\\\"['.repeat(300)))), undefined);
  assert.equal(refused(`["\\\\",${nested(JSON_DEPTH)}]`), "depth");
});

Deno.test("any bytes are read or refused, never thrown over", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
    const parsed = parseJson(bytes);
    assert.ok(parsed.ok ? typeof parsed.text === "string" : ["json", "depth"].includes(parsed.why));
  }));
  const pieces = fc.array(fc.constantFrom("[", "]", "{", "}", '"', "\\", ":", ",", "1", "null", " "), {
    maxLength: 30,
  });
  fc.assert(fc.property(pieces, (tokens) => {
    const text = tokens.join("");
    assert.equal(refused(text) === undefined, isJson(text));
  }));
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

Deno.test("a JSON text has the digest that Python gives it", () => {
  assert.ok(PAIRS.length > 500);
  for (const [text, digest] of PAIRS) assert.equal(pythonDigest(text), digest, JSON.stringify(text));
});

Deno.test("the order of keys and white space do not change a digest", () => {
  fc.assert(fc.property(json, space, (value, between) => {
    const digest = pythonDigest(JSON.stringify(value));
    assert.equal(pythonDigest(written(value, between, false)), digest);
    assert.equal(pythonDigest(written(value, "", true)), digest);
  }));
});

Deno.test("other values have other digests", () => {
  fc.assert(fc.property(json, json, (a, b) => {
    fc.pre(JSON.stringify(a) !== JSON.stringify(b) && written(a, "", true) !== written(b, "", true));
    const same = isSame(a, b);
    assert.equal(pythonDigest(JSON.stringify(a)) === pythonDigest(JSON.stringify(b)), same);
  }));
  const texts = ["1", "1.0", '"1"', "[1]", "true", "null", '{"1":1}', "-0.0", "0", '{"a":1,"b":2}', '{"a":2,"b":1}'];
  assert.equal(new Set(texts.map(pythonDigest)).size, texts.length);
});

function isSame(a: unknown, b: unknown): boolean {
  try {
    assert.deepStrictEqual(a, b);
    return true;
  } catch {
    return false;
  }
}

Deno.test("the digest of an answer is that of its status and payload", () => {
  assert.equal(answerDigest("cancelled", undefined), pythonDigest('{"status": "cancelled", "payload": null}'));
  assert.equal(
    answerDigest("resolved", { b: [1], a: "ü" }),
    pythonDigest('{"payload":{"a":"\\u00fc","b":[1]},"status":"resolved"}'),
  );
  assert.notEqual(answerDigest("resolved", { decision: "deny" }), answerDigest("resolved", { decision: "allow_once" }));
});

Deno.test("more values than a body may have are refused unparsed; as many as it may have are taken", () => {
  const list = (count: number) => `[${"0,".repeat(count - 2)}"[,{"]`;
  assert.equal(refused(list(JSON_VALUES)), undefined);
  assert.equal(refused(list(JSON_VALUES + 1)), "size");
  assert.equal(refused(`{${'"a":{},'.repeat(JSON_VALUES)}"a":1}`), "size");
});

Deno.test("no body keeps everybody waiting: reading and digesting it takes time for its length, not for the square of it", () => {
  const many = Array.from({ length: JSON_VALUES - 1 }, (_, at) => at);
  const long = "x".repeat(RUN_BODY_BYTES / 2_000);
  const bodies: [string, string][] = [
    ["decimals", `[${many.map((at) => `${at}.5`).join()}]`],
    ["keys", `{${many.map((at) => `"${at * 7_919 % JSON_VALUES}":1.5`).join()}}`],
    [
      "long keys that end in characters beyond U+FFFF",
      `{${many.slice(0, 1_000).map((at) => `"${long}😀${at}":1`).join()}}`,
    ],
    ["one long number", "9".repeat(RUN_BODY_BYTES)],
    ["escapes", `"${"\\\\".repeat(RUN_BODY_BYTES / 2 - 1)}"`],
  ];
  for (const [name, body] of bodies) {
    const began = performance.now();
    assert.equal(refused(body), undefined, name);
    pythonDigest(body);
    const ms = performance.now() - began;
    // Far above what a slow machine needs, far below the minute that the square of it takes.
    assert.ok(ms < 5_000, `${name}: ${ms} ms`);
  }
});
