/** JSON values as they come from outside. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** Whether a value is a JSON object (not an array, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value when it is a non-empty string. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value as an integer, also when the wire wrote it as `11.0`. */
export function integer(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

/** The JSON of a value, with U+FFFD for each half of a surrogate pair that stands alone in it. */
export function writeJson(value: unknown): string {
  const json = JSON.stringify(value);
  // Such a half shows as an escape of its own; a text that merely speaks of one costs a second look.
  return json.includes("\\ud") ? JSON.stringify(wellFormed(value)) : json;
}

/** A copy without lone halves of surrogate pairs. */
export function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]));
}

/** Where a string of a JSON text ends, behind its closing quote; `at` is its opening one. The text's end when none closes it. */
export function endOfString(written: string, at: number): number {
  let end = at + 1;
  for (; end < written.length; end++) {
    const code = written.charCodeAt(end);
    if (code === 0x22) return end + 1;
    if (code === 0x5c) end++;
  }
  return written.length;
}
