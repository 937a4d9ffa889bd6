import assert from "node:assert/strict";
import { eachLine } from "../../src/kernel/log_lines.ts";

async function lines(pieces: readonly (string | Uint8Array)[], maxChars = 100): Promise<string[]> {
  const bytes = pieces.map((piece) => typeof piece === "string" ? new TextEncoder().encode(piece) : piece);
  const taken: string[] = [];
  await eachLine(ReadableStream.from(bytes).getReader(), maxChars, (line) => taken.push(line));
  return taken;
}

Deno.test("lines are taken whole however they arrive, without ends and empty ones", async () => {
  assert.deepEqual(await lines(["a", "b\nc\r\n\n", "\r\n  d", " "]), ["ab", "c", "  d"]);
  assert.deepEqual(await lines([]), []);
});

Deno.test("a character that was split is joined; bytes that are none become U+FFFD", async () => {
  const [first, ...rest] = new TextEncoder().encode("é\n");
  assert.deepEqual(await lines([Uint8Array.of(first ?? 0), Uint8Array.from(rest), Uint8Array.of(0xff)]), [
    "é",
    "\ufffd",
  ]);
});

Deno.test("a line without an end is bounded, and the next one is whole", async () => {
  const endless = Array.from({ length: 1000 }, () => "x".repeat(1000));
  assert.deepEqual(await lines([...endless, "\nnext"], 10), [
    "xxxxxxxxxx … [999990 characters left out]",
    "next",
  ]);
});

Deno.test("a reader that is cancelled ends the lines with what there was", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const reader = readable.getReader();
  const taken: string[] = [];
  const all = eachLine(reader, 100, (line) => taken.push(line));
  const writer = writable.getWriter();
  await writer.write(new TextEncoder().encode("one\ntwo"));
  await reader.cancel();
  await all;
  assert.deepEqual(taken, ["one", "two"]);
});
