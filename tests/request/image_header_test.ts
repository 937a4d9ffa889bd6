import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { inspectImage } from "../../src/request/image_header.ts";

function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(33);
  header.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
  header.write("IHDR", 12, "latin1");
  header.writeUInt32BE(width, 16);
  header.writeUInt32BE(height, 20);
  return header;
}

function gif(version: string, width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.write(version, "latin1");
  header.writeUInt16LE(width, 6);
  header.writeUInt16LE(height, 8);
  return header;
}

function riff(chunk: string): Buffer {
  const header = Buffer.alloc(40);
  header.write("RIFF", 0, "latin1");
  header.write(`WEBP${chunk}`, 8, "latin1");
  return header;
}

function lossy(width: number, height: number): Buffer {
  const header = riff("VP8 ");
  header.set([0x9d, 0x01, 0x2a], 23);
  // The two upper bits are a scale that a viewer applies.
  header.writeUInt16LE(width | 0x4000, 26);
  header.writeUInt16LE(height | 0x8000, 28);
  return header;
}

function lossless(width: number, height: number): Buffer {
  const header = riff("VP8L");
  header[20] = 0x2f;
  header.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 21);
  return header;
}

function extended(width: number, height: number): Buffer {
  const header = riff("VP8X");
  header.writeUIntLE(width - 1, 24, 3);
  header.writeUIntLE(height - 1, 27, 3);
  return header;
}

/** Segments, each a marker and its bytes, then the frame header. */
function jpeg(width: number, height: number, frame = 0xc0, before: readonly number[][] = []): Buffer {
  const segments = before.flatMap((
    [marker = 0, ...body],
  ) => [0xff, marker, (body.length + 2) >> 8, (body.length + 2) & 255, ...body]);
  const size = [height >> 8, height & 255, width >> 8, width & 255];
  return Buffer.from([0xff, 0xd8, ...segments, 0xff, frame, 0, 11, 8, ...size, 1, 1, 0x11, 0]);
}

Deno.test("type and size of every kind of image are read from its first bytes", () => {
  const table: [bytes: Buffer, mediaType: string][] = [
    [png(640, 480), "image/png"],
    [gif("GIF87a", 640, 480), "image/gif"],
    [gif("GIF89a", 640, 480), "image/gif"],
    [lossy(640, 480), "image/webp"],
    [lossless(640, 480), "image/webp"],
    [extended(640, 480), "image/webp"],
    [jpeg(640, 480), "image/jpeg"],
  ];
  for (const [bytes, mediaType] of table) {
    assert.deepEqual(inspectImage(bytes), { mediaType, width: 640, height: 480 });
  }
});

Deno.test("the largest sizes that a format can say are read", () => {
  assert.deepEqual(inspectImage(png(2 ** 32 - 1, 2 ** 31))?.width, 2 ** 32 - 1);
  assert.deepEqual(inspectImage(gif("GIF89a", 65_535, 65_535))?.height, 65_535);
  assert.deepEqual(inspectImage(lossy(16_383, 16_383)), { mediaType: "image/webp", width: 16_383, height: 16_383 });
  assert.deepEqual(inspectImage(lossless(16_384, 16_384)), { mediaType: "image/webp", width: 16_384, height: 16_384 });
  assert.deepEqual(inspectImage(extended(2 ** 24, 2 ** 24))?.width, 2 ** 24);
  assert.deepEqual(inspectImage(jpeg(65_535, 65_535))?.width, 65_535);
});

Deno.test("a JPEG's size is found behind its other segments, in any kind of frame", () => {
  const before = [[0xe0, ...new Array(14).fill(0)], [0xe1, 0xff, 0xd8, 0xff, 0xc0, 0, 1], [
    0xdb,
    ...new Array(65).fill(1),
  ]];
  const tables = [[0xc4, 1, 2, 3, 4, 5, 6, 7, 8], [0xc8, 1, 2, 3, 4, 5, 6, 7, 8], [0xcc, 1, 2, 3, 4, 5, 6, 7, 8]];
  for (const frame of [0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc9, 0xcf]) {
    const found = inspectImage(jpeg(321, 123, frame, [...before, ...tables]));
    assert.deepEqual(found, { mediaType: "image/jpeg", width: 321, height: 123 });
  }
  const filled = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xff, 0xff]), jpeg(321, 123).subarray(2)]);
  assert.equal(inspectImage(filled)?.width, 321);
});

Deno.test("bytes in the middle of a larger buffer are read from their own beginning", () => {
  const padded = Buffer.concat([Buffer.alloc(7, 0xff), png(5, 6), Buffer.alloc(3)]);
  assert.deepEqual(inspectImage(padded.subarray(7)), { mediaType: "image/png", width: 5, height: 6 });
});

Deno.test("what is no image, or says no size, is none", () => {
  const broken = jpeg(5, 6);
  broken[2] = 0;
  const noFrame = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xd9]);
  const lost = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0x00, 0xc0, 0, 11, 8, 0, 1, 0, 1]);
  const table: [string, Uint8Array][] = [
    ["nothing", new Uint8Array()],
    ["one byte", new Uint8Array(1)],
    ["text", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>")],
    ["a bitmap", Buffer.from("BM" + "\0".repeat(64), "latin1")],
    ["PNG of no width", png(0, 5)],
    ["PNG of no height", png(5, 0)],
    ["GIF of no size", gif("GIF89a", 0, 0)],
    ["a GIF of another version", gif("GIF88a", 1, 1)],
    [
      "PNG that begins otherwise",
      Buffer.concat([png(1, 1).subarray(0, 12), Buffer.from("IDAT"), png(1, 1).subarray(16)]),
    ],
    ["half of PNG's mark", Buffer.concat([png(1, 1).subarray(0, 4), Buffer.alloc(4), png(1, 1).subarray(8)])],
    ["WebP without RIFF", Buffer.concat([Buffer.from("RIFX"), lossless(1, 1).subarray(4)])],
    ["JPEG of another start", Buffer.concat([Buffer.from([0xff, 0xd7]), jpeg(1, 1).subarray(2)])],
    ["RIFF that is no WebP", Buffer.from("RIFF\0\0\0\0WAVEfmt " + "\0".repeat(32), "latin1")],
    ["WebP of an unknown chunk", riff("VP9 ")],
    ["lossy WebP of no size", lossy(0, 0)],
    ["JPEG without a marker", broken],
    ["JPEG without a frame", noFrame],
    ["JPEG that loses its way", lost],
    ["JPEG of no size", jpeg(0, 0)],
  ];
  for (const [name, bytes] of table) assert.equal(inspectImage(bytes), undefined, name);
});

Deno.test("half a header is no image, wherever it is cut", () => {
  const needed: [Buffer, number][] = [
    [png(5, 6), 24],
    [gif("GIF89a", 5, 6), 10],
    [lossy(5, 6), 30],
    [lossless(5, 6), 25],
    [extended(5, 6), 30],
    [jpeg(5, 6), 11],
  ];
  for (const [whole, enough] of needed) {
    for (let length = 0; length < enough; length++) assert.equal(inspectImage(whole.subarray(0, length)), undefined);
  }
});

Deno.test("any bytes are an image or none, never thrown over", () => {
  const starts = [
    png(1, 1),
    gif("GIF89a", 1, 1),
    riff("VP8 "),
    riff("VP8L"),
    riff("VP8X"),
    Buffer.from([0xff, 0xd8, 0xff]),
  ];
  const start = fc.constantFrom(...starts.flatMap((whole) => [whole, whole.subarray(0, 12)]));
  fc.assert(fc.property(start, fc.uint8Array({ maxLength: 64 }), (head, tail) => {
    const found = inspectImage(Buffer.concat([head, tail]));
    assert.ok(!found || (found.width > 0 && found.height > 0));
  }));
});
