/** Values and bytes that are almost right: one or a few changes to what was valid, by seeded chance. */
import { isObject, type Json, type JsonObject } from "../../src/json.ts";
import type { Random } from "./random.ts";

/** Values that have broken somebody's reader before. */
const NASTY: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1e308,
  0.1,
  9007199254740993,
  "",
  " ",
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "\u0000",
  "\u2028\u0085",
  "\ud83d\ude00",
  "x".repeat(70_000),
  [],
  {},
  [[[[]]]],
  { toString: null, then: 1 },
];

/** A copy of a JSON value with one to four changes anywhere in it. */
export function mutateJson(value: JsonObject, random: Random): Json {
  let changed: Json = structuredClone(value);
  for (let left = random.between(1, 4); left > 0; left--) changed = changeOne(changed, random);
  return changed;
}

function changeOne(value: Json, random: Random): Json {
  const isLeaf = typeof value !== "object" || value === null;
  if (isLeaf || random.chance(0.15)) return random.chance(0.5) ? random.pick(NASTY) : changeLeaf(value, random);
  if (Array.isArray(value)) return changeArray(value, random);
  return changeObject(value, random);
}

function changeLeaf(value: Json, random: Random): Json {
  if (typeof value === "number") return value + random.pick([-1, 1, 0.5, 1e15]);
  if (typeof value !== "string") return random.pick(NASTY);
  const at = random.between(0, value.length);
  return random.pick([
    value.slice(0, at),
    value + value,
    value.slice(0, at) + String.fromCodePoint(random.between(0, 0xd7ff)) + value.slice(at),
    value.toUpperCase(),
    [value],
  ]);
}

function changeArray(value: readonly Json[], random: Random): Json {
  if (value.length === 0) return [random.pick(NASTY)];
  const at = random.between(0, value.length - 1);
  const item = value[at] ?? null;
  return random.pick([
    () => value.with(at, changeOne(item, random)),
    () => value.toSpliced(at, 1),
    () => [...value, item],
    () => value.toReversed(),
  ])();
}

function changeObject(value: JsonObject, random: Random): Json {
  const entries = Object.entries(value);
  if (entries.length === 0) return { [random.pick(["__proto__", "x", "type"])]: random.pick(NASTY) };
  const [key, item] = random.pick(entries);
  const others = entries.filter(([name]) => name !== key);
  return random.pick([
    () => Object.fromEntries([...others, [key, changeOne(item, random)]]),
    () => Object.fromEntries([...others, [key, changeOne(item, random)]]),
    () => Object.fromEntries(others),
    () => Object.fromEntries([...others, [`${key}x`, item]]),
    () => Object.fromEntries([...entries, [random.pick(["__proto__", "extra"]), random.pick(NASTY)]]),
    () => Object.fromEntries([...others, [key, random.pick(entries)[1]]]),
  ])();
}

/** A copy of bytes with one to six changes: flipped, left out, doubled, put in, or cut off. */
export function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array<ArrayBuffer> {
  let changed = new Uint8Array(bytes);
  for (let left = random.between(1, 6); left > 0; left--) {
    const at = random.between(0, changed.length);
    const size = random.between(1, 16);
    const [head, rest] = [changed.subarray(0, at), changed.subarray(at)];
    const noise = Uint8Array.from({ length: size }, () => random.between(0, 255));
    changed = random.pick([
      () => joined(head, rest.subarray(size)),
      () => joined(head, noise, rest),
      () => joined(head, noise, rest.subarray(size)),
      () => joined(head, rest.subarray(0, size), rest),
      () => joined(head),
    ])();
  }
  return changed;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The JSON text of a value; now and then with a key twice, or deeper than any reader has to go. */
export function jsonText(value: Json, random: Random): string {
  const text = JSON.stringify(value);
  if (!isObject(value) || random.chance(0.95)) return text;
  return random.chance(0.5)
    ? `{"threadId":"twice",${text.slice(1)}`
    : `${text.slice(0, -1)},"deep":${"[".repeat(300)}${"]".repeat(300)}}`;
}
