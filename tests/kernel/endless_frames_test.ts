/** A kernel that sends bytes and never a frame: read in bounded memory, and not for ever. */
import assert from "node:assert/strict";
import { frameStream } from "../../src/kernel/answer_body.ts";
import { linkedAbort } from "../../src/linked_abort.ts";

const MIB = 1024 * 1024;

function repeating(line: string): Response {
  const piece = new TextEncoder().encode(line.repeat(Math.ceil(16_384 / line.length)));
  return new Response(new ReadableStream({ type: "bytes", pull: (controller) => controller.enqueue(piece.slice()) }));
}

for (
  const [what, line] of [
    ["lines without a field", "nothing\n"],
    ["comments", ": here I am\n\n"],
    ["empty data lines", "data:\n"],
    ["data lines", "data: more\n"],
    ["fields that nobody knows", "x: y\n"],
    ["one line", "data: x"],
    ["line ends", "\r\n"],
  ] as const
) {
  Deno.test(`endless ${what} are a frame that is no frame`, async () => {
    using abort = linkedAbort();
    const stream = frameStream(repeating(line), abort, MIB / 2);
    assert.deepEqual(await stream.next(), [{ kind: "invalid", why: "a frame has no end" }]);
    stream.close();
  });
}

Deno.test("comments between frames are no frame without an end", async () => {
  using abort = linkedAbort();
  const pieces = Array.from({ length: 64 }, () => `${": here I am\n\n".repeat(8_000)}data: {}\n\n`);
  const body = new Response(pieces.join("")).body ?? assert.fail();
  const bytes = new ReadableStream({
    type: "bytes",
    async start(controller) {
      for await (const piece of body) controller.enqueue(piece);
      controller.close();
    },
  });
  const stream = frameStream(new Response(bytes), abort, MIB);
  let frames = 0;
  for (let read = await stream.next(); read; read = await stream.next()) frames += read.length;
  assert.equal(frames, 64);
});
