import assert from "node:assert/strict";
import { ColorSpace } from "@imagemagick/magick-wasm";
import { invalid } from "../../src/errors.ts";
import { IMAGE_BYTES, KERNEL_IMAGE_BYTES } from "../../src/limits.ts";
import { fitForKernel } from "../../src/request/image.ts";
import { inspectImage } from "../../src/request/image_header.ts";
import type { ImageContent, ImageType } from "../../src/request/run_request.ts";
import {
  animatedGif,
  type Bytes,
  halfClear,
  jpegOf,
  type Look,
  look,
  noisyPng,
  paddedPng,
  rampPng,
  type Rgba,
  webpOf,
  withOrientation,
} from "../support/pictures.ts";

const PATH = "messages[0].content[1].source.value";
const UNREADABLE = invalid("imageKind", PATH);
const MIB = 1024 * 1024;

// What noise leaves of the four colours on the average.
const RED: Rgba = [191, 64, 64, 255];
const GREEN: Rgba = [64, 191, 64, 255];
const BLUE: Rgba = [64, 64, 191, 255];
const WHITE: Rgba = [191, 191, 191, 255];

function content(picture: Bytes, mediaType: ImageType): ImageContent {
  return { mediaType, filename: "photo.original", base64: picture.toBase64(), bytes: picture.length };
}

/** A picture that a request may hold and the kernel refuses. */
function large(picture: Bytes, mediaType: ImageType): ImageContent {
  assert.equal(inspectImage(picture)?.mediaType, mediaType);
  assert.ok(picture.length > KERNEL_IMAGE_BYTES && picture.length <= IMAGE_BYTES, `${picture.length} bytes`);
  return content(picture, mediaType);
}

/** Fits it, checks that the result is what it says and that the kernel takes it, and decodes it. */
async function fitted(image: ImageContent, mediaType: "image/jpeg" | "image/png"): Promise<Look> {
  const result = await fitForKernel(image, PATH);
  assert.ok(!("code" in result), "refused");
  const picture = Uint8Array.fromBase64(result.base64);
  assert.equal(result.bytes, picture.length);
  assert.ok(result.bytes < KERNEL_IMAGE_BYTES, `${result.bytes} bytes`);
  assert.equal(result.mediaType, mediaType);
  assert.equal(inspectImage(picture)?.mediaType, mediaType);
  assert.equal(result.filename, image.filename);
  return await look(picture, mediaType === "image/png" ? "PNG" : "JPEG");
}

/** Corner by corner: top left, top right, bottom left, bottom right. */
function assertCorners(seen: Look, ...corners: readonly Rgba[]): void {
  const places = [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]] as const;
  for (const [index, [x, y]] of places.entries()) assertColour(seen.at(x, y), corners[index], `corner ${index}`);
}

function assertColour(actual: Rgba, expected: Rgba | undefined, what: string, tolerance = 24): void {
  const near = expected?.every((channel, index) => Math.abs(channel - (actual[index] ?? -1)) <= tolerance);
  assert.ok(near, `${what}: [${actual}] instead of [${expected}]`);
}

function assertShape({ width, height }: Look, ratio: number): void {
  assert.ok(Math.abs(width / height / ratio - 1) < 0.01, `${width}x${height} is not ${ratio}`);
}

Deno.test("a picture of exactly the kernel's limit is passed on as it is", async () => {
  const image = content(new Uint8Array(KERNEL_IMAGE_BYTES), "image/png");
  assert.equal(await fitForKernel(image, PATH), image);
});

Deno.test("a large opaque PNG becomes a JPEG of the same colours that the kernel takes", async () => {
  const seen = await fitted(large(noisyPng({ width: 1600, height: 1350 }), "image/png"), "image/jpeg");
  assertShape(seen, 1600 / 1350);
  assertCorners(seen, RED, GREEN, BLUE, WHITE);
});

Deno.test("a large transparent PNG is scaled down as PNG and keeps its alpha", async () => {
  const picture = noisyPng({ width: 1700, height: 1000, alpha: true, painter: halfClear });
  const seen = await fitted(large(picture, "image/png"), "image/png");
  assertShape(seen, 1700 / 1000);
  assert.ok(seen.width < 1700);
  assert.equal(seen.at(0.75, 0.25)[3], 0);
  assert.equal(seen.at(0.75, 0.75)[3], 0);
  assertColour(seen.at(0.25, 0.25), RED, "top left");
  assertColour(seen.at(0.25, 0.75), BLUE, "bottom left");
});

Deno.test("an alpha channel that hides nothing does not keep a picture from becoming a JPEG", async () => {
  const picture = paddedPng(noisyPng({ width: 400, height: 300, alpha: true }), 6 * MIB);
  const seen = await fitted(large(picture, "image/png"), "image/jpeg");
  assertCorners(seen, RED, GREEN, BLUE, WHITE);
});

Deno.test("a PNG of 16 bits a channel keeps its colours", async () => {
  const seen = await fitted(large(noisyPng({ width: 1100, height: 950, depth: 16 }), "image/png"), "image/jpeg");
  assertShape(seen, 1100 / 950);
  assertCorners(seen, RED, GREEN, BLUE, WHITE);
});

Deno.test("a photograph that lies on its side (EXIF orientation 6) is turned upright, and its tag is gone", async () => {
  const lying = withOrientation(await jpegOf(noisyPng({ width: 2000, height: 1200 }), 100), 6);
  const seen = await fitted(large(lying, "image/jpeg"), "image/jpeg");
  assert.deepEqual([seen.width, seen.height], [1200, 2000]);
  assert.ok(seen.orientation < 2, `orientation ${seen.orientation}`);
  assertCorners(seen, BLUE, RED, WHITE, GREEN);
});

Deno.test("a CMYK JPEG becomes an RGB one of the same colours", async () => {
  const cmyk = await jpegOf(noisyPng({ width: 1600, height: 1200 }), 98, ColorSpace.CMYK);
  assert.equal((await look(cmyk, "JPEG")).colorSpace, ColorSpace.CMYK);
  const seen = await fitted(large(cmyk, "image/jpeg"), "image/jpeg");
  assert.equal(seen.colorSpace, ColorSpace.sRGB);
  assert.deepEqual([seen.width, seen.height], [1600, 1200]);
  assertCorners(seen, RED, GREEN, BLUE, WHITE);
});

Deno.test("of an animated GIF the first frame is passed on", async () => {
  const gif = animatedGif(1300, 950, 4);
  const seen = await fitted(large(gif, "image/gif"), "image/jpeg");
  assert.deepEqual([seen.width, seen.height], [1300, 950]);
  assertCorners(seen, RED, GREEN, BLUE, WHITE);
});

Deno.test("a large WebP is passed on as JPEG", async () => {
  const webp = await webpOf(noisyPng({ width: 1600, height: 1300 }));
  const seen = await fitted(large(webp, "image/webp"), "image/jpeg");
  assertShape(seen, 1600 / 1300);
  assertCorners(seen, RED, GREEN, BLUE, WHITE);
});

Deno.test("a smooth picture of 48 megapixels comes down to 8", async () => {
  const ramp = paddedPng(rampPng(8_000, 6_000), 5.5 * MIB);
  const seen = await fitted(large(ramp, "image/png"), "image/jpeg");
  assertShape(seen, 8 / 6);
  assert.ok(seen.width * seen.height <= 8_000_000, `${seen.width}x${seen.height}`);
  for (const x of [0.1, 0.5, 0.9]) assertColour(seen.at(x, 0.5), [255 * x, 255 * x, 255 * x, 255], `at ${x}`, 6);
});

Deno.test("no edge of the result is longer than 8,000 pixels", async () => {
  const seen = await fitted(large(noisyPng({ width: 40_000, height: 50 }), "image/png"), "image/jpeg");
  assert.deepEqual([seen.width, seen.height], [8_000, 10]);
});

Deno.test("a small picture that only carries much metadata keeps its size in pixels and loses the metadata", async () => {
  const picture = paddedPng(noisyPng({ width: 300, height: 200 }), 6 * MIB);
  const seen = await fitted(large(picture, "image/png"), "image/jpeg");
  assert.deepEqual([seen.width, seen.height], [300, 200]);
});

Deno.test("what cannot be decoded is INVALID_INPUT that names the field", async () => {
  const whole = noisyPng({ width: 1600, height: 1350 });
  const broken: [string, Bytes, ImageType][] = [
    ["a header and nothing behind it", paddedPng(whole.slice(0, 40), 6 * MIB), "image/png"],
    ["a PNG that was cut", whole.slice(0, KERNEL_IMAGE_BYTES + 1), "image/png"],
    ["another format than it says", whole, "image/webp"],
    ["a GIF whose frame is far larger than its canvas", oversizedGif(), "image/gif"],
  ];
  for (const [what, picture, mediaType] of broken) {
    assert.ok(picture.length > KERNEL_IMAGE_BYTES, what);
    assert.deepEqual(await fitForKernel(content(picture, mediaType), PATH), UNREADABLE, what);
  }
});

/** 1 by 1 pixel says the canvas, 65,535 by 65,535 the frame: 17 GB when decoded. */
function oversizedGif(): Bytes {
  const size = (edge: number) => [edge & 0xff, edge >> 8];
  const canvas = [...new TextEncoder().encode("GIF89a"), ...size(1), ...size(1), 0x80, 0, 0, 0, 0, 0, 255, 255, 255];
  const frame = [0x2c, ...size(0), ...size(0), ...size(65_535), ...size(65_535), 0, 2, 2, 0x4c, 1, 0, 0x3b];
  const gif = new Uint8Array(KERNEL_IMAGE_BYTES + 1);
  gif.set([...canvas, ...frame]);
  return gif;
}

Deno.test("pictures wait for each other, and one that fails holds up none", async () => {
  const picture = large(paddedPng(noisyPng({ width: 300, height: 200 }), 6 * MIB), "image/png");
  const done: string[] = [];
  const run = (name: string, image: ImageContent) => fitForKernel(image, PATH).finally(() => done.push(name));
  const results = await Promise.all([
    run("first", { ...picture, mediaType: "image/gif" }),
    run("second", picture),
    run("third", picture),
    run("small", { ...picture, bytes: 1 }),
  ]);
  assert.deepEqual(done, ["small", "first", "second", "third"]);
  assert.deepEqual(results.map((result) => "code" in result), [true, false, false, false]);
});

Deno.test("the service goes on answering while a picture is scaled down", async () => {
  const picture = large(noisyPng({ width: 1600, height: 1350 }), "image/png");
  const start = performance.now();
  let last = start;
  let longest = 0;
  let ticks = 0;
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    ticks++;
  };
  const timer = setInterval(tick, 5);
  await fitForKernel(picture, PATH);
  tick();
  clearInterval(timer);
  assert.ok(ticks > 10, `${ticks} ticks`);
  assert.ok(longest < (last - start) / 2, `held up for ${longest} of ${last - start} ms`);
});
