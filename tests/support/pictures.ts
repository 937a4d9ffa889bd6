/**
 * Real pictures for tests: four quadrants (red, green; blue, white) under noise that no encoder can squeeze out, and the
 * means to look at a result. PNGs are written here byte by byte; the codec writes the other formats.
 */
import { crc32, deflateSync } from "node:zlib";
import {
  ColorSpace,
  ImageMagick,
  type IMagickImage,
  initializeImageMagick,
  MagickFormat,
  MagickReadSettings,
} from "@imagemagick/magick-wasm";

export type Rgba = readonly [number, number, number, number];

const RED: Rgba = [255, 0, 0, 255];
const GREEN: Rgba = [0, 255, 0, 255];
const BLUE: Rgba = [0, 0, 255, 255];
const WHITE: Rgba = [255, 255, 255, 255];
/** Noise takes 0 up to this many steps off a channel's extreme, so a quadrant's mean lies 64 away from it. */
const NOISE_MASK = 127;

/** The colour of a point before noise; x and y from 0 to 1. */
export type Painter = (x: number, y: number) => Rgba;

export function quadrants(x: number, y: number): Rgba {
  return y < 0.5 ? (x < 0.5 ? RED : GREEN) : (x < 0.5 ? BLUE : WHITE);
}

/** The quadrants with their right half see-through. */
export function halfClear(x: number, y: number): Rgba {
  const [red, green, blue] = quadrants(x, y);
  return [red, green, blue, x < 0.5 ? 255 : 0];
}

export interface PngOptions {
  readonly width: number;
  readonly height: number;
  readonly painter?: Painter;
  readonly alpha?: boolean;
  readonly depth?: 8 | 16;
  readonly seed?: number;
}

/** A PNG of noisy colours, 3 or 4 channels of 8 or 16 bits. */
export function noisyPng(
  { width, height, painter = quadrants, alpha = false, depth = 8, seed = 1 }: PngOptions,
): Bytes {
  const channels = alpha ? 4 : 3;
  const step = depth / 8;
  const row = 1 + width * channels * step;
  const raw = new Uint8Array(row * height);
  const random = randomBytes(seed);
  for (let y = 0; y < height; y++) {
    let at = y * row + 1;
    for (let x = 0; x < width; x++) {
      const colour = painter(x / width, y / height);
      for (let channel = 0; channel < channels; channel++) {
        const pure = colour[channel] ?? 0;
        const noise = channel === 3 ? 0 : random() & NOISE_MASK;
        raw[at++] = pure > 127 ? pure - noise : pure + noise;
        if (step === 2) raw[at++] = channel === 3 ? pure : random();
      }
    }
  }
  return png(width, height, depth, alpha ? 6 : 2, deflateSync(raw, { level: 1 }));
}

/** A grey ramp from black (left) to white (right), which takes few bytes whatever its size. */
export function rampPng(width: number, height: number): Bytes {
  const line = new Uint8Array(1 + width);
  for (let x = 0; x < width; x++) line[1 + x] = Math.round(255 * x / (width - 1));
  const raw = new Uint8Array(line.length * height);
  for (let y = 0; y < height; y++) raw.set(line, y * line.length);
  return png(width, height, 8, 0, deflateSync(raw, { level: 1 }));
}

/** The PNG with a private, ancillary chunk of this many bytes ahead of its pixels. */
export function paddedPng(picture: Bytes, bytes: number): Bytes {
  const header = 8 + 25;
  return joined(picture.subarray(0, header), chunk("paDd", new Uint8Array(bytes)), picture.subarray(header));
}

/** The JPEG with an EXIF segment that says how it is to be turned (1 to 8) right behind its start. */
export function withOrientation(jpeg: Bytes, orientation: number): Bytes {
  const exif = [
    ...ascii("Exif\0\0MM\0*"),
    0,
    0,
    0,
    8,
    0,
    1,
    0x01,
    0x12,
    0,
    3,
    0,
    0,
    0,
    1,
    0,
    orientation,
    0,
    0,
    0,
    0,
    0,
    0,
  ];
  return joined(jpeg.subarray(0, 2), Uint8Array.of(0xff, 0xe1, 0, exif.length + 2, ...exif), jpeg.subarray(2));
}

/** The PNG as JPEG of this quality (1–100), in RGB or CMYK. */
export function jpegOf(picture: Bytes, quality: number, colorSpace: ColorSpace = ColorSpace.sRGB): Promise<Bytes> {
  return converted(picture, (image) => {
    image.colorSpace = colorSpace;
    image.quality = quality;
    return image.write(MagickFormat.Jpeg, (data) => data.slice());
  });
}

/** The PNG as WebP without loss. */
export function webpOf(picture: Bytes): Promise<Bytes> {
  return converted(picture, (image) => {
    image.settings.setDefine(MagickFormat.WebP, "lossless", true);
    image.settings.setDefine(MagickFormat.WebP, "method", 0);
    image.quality = 1;
    return image.write(MagickFormat.WebP, (data) => data.slice());
  });
}

async function converted(picture: Bytes, write: (image: IMagickImage) => Bytes): Promise<Bytes> {
  await codec();
  return ImageMagick.read(picture, MagickFormat.Png, write);
}

/**
 * An animated GIF: the first frame shows the noisy quadrants, in each later one they have moved on by one place. Pixels are
 * stored as they are (9 bits each), the table of the compression being cleared before it grows.
 */
export function animatedGif(width: number, height: number, frames: number): Bytes {
  const screen = [...ascii("GIF89a"), ...littleEndian(width), ...littleEndian(height), 0xf7, 0, 0, ...gifPalette()];
  const pictures = Array.from({ length: frames }, (_, frame) => gifFrame(width, height, frame));
  return joined(Uint8Array.from(screen), ...pictures, Uint8Array.of(0x3b));
}

/** 64 steps of noise for each quadrant's colour. */
function gifPalette(): number[] {
  return [RED, GREEN, BLUE, WHITE].flatMap((colour) =>
    Array.from({ length: 64 }, (_, noise) => colour.slice(0, 3).map((pure) => Math.abs(pure - 2 * noise))).flat()
  );
}

function gifFrame(width: number, height: number, frame: number): Bytes {
  const delay = Uint8Array.of(0x21, 0xf9, 4, 0, 10, 0, 0, 0);
  const place = Uint8Array.of(0x2c, 0, 0, 0, 0, ...littleEndian(width), ...littleEndian(height), 0, 8);
  const random = randomBytes(1 + frame);
  const codes = new Uint16Array(Math.ceil(width * height * 255 / 254) + 2);
  let at = 0;
  for (let pixel = 0; pixel < width * height; pixel++) {
    if (pixel % 254 === 0) codes[at++] = 256;
    const quadrant = (pixel % width < width / 2 ? 0 : 1) + (pixel < width * height / 2 ? 0 : 2);
    codes[at++] = (quadrant + frame) % 4 * 64 + (random() & 63);
  }
  codes[at++] = 257;
  return joined(delay, place, subBlocks(nineBits(codes.subarray(0, at))));
}

function nineBits(codes: Uint16Array): Uint8Array {
  const packed = new Uint8Array(Math.ceil(codes.length * 9 / 8) + 1);
  for (const [index, code] of codes.entries()) {
    const at = index * 9;
    const shifted = code << at % 8;
    packed[at >> 3] = (packed[at >> 3] ?? 0) | shifted;
    packed[(at >> 3) + 1] = (packed[(at >> 3) + 1] ?? 0) | shifted >> 8;
  }
  return packed.subarray(0, Math.ceil(codes.length * 9 / 8));
}

function subBlocks(data: Uint8Array): Bytes {
  const whole = new Uint8Array(data.length + Math.ceil(data.length / 255) + 1);
  for (let index = 0; index * 255 < data.length; index++) {
    const block = data.subarray(index * 255, index * 255 + 255);
    whole[index * 256] = block.length;
    whole.set(block, index * 256 + 1);
  }
  return whole;
}

function littleEndian(value: number): [number, number] {
  return [value & 0xff, value >> 8];
}

/** What a picture shows. */
export interface Look {
  readonly width: number;
  readonly height: number;
  /** Orientation tag, 0 or 1 when there is nothing to turn. */
  readonly orientation: number;
  readonly colorSpace: ColorSpace;
  /** Mean colour of 20 by 20 pixels (fewer at an edge) around a point; x and y from 0 to 1. */
  readonly at: (x: number, y: number) => Rgba;
}

/** Decodes a picture of the given format completely. */
export async function look(picture: Bytes, format: "JPEG" | "PNG"): Promise<Look> {
  await codec();
  return ImageMagick.read(picture, new MagickReadSettings({ format }), (image) => {
    const { width, height, orientation, colorSpace } = image;
    const pixels = rgbaOf(image);
    return {
      width,
      height,
      orientation,
      colorSpace,
      at: (x, y) => meanAround(pixels, width, height, x * width, y * height),
    };
  });
}

export type Bytes = Uint8Array<ArrayBuffer>;

let ready: Promise<void> | undefined;
function codec(): Promise<void> {
  ready ??= Deno.readFile(new URL(import.meta.resolve("@imagemagick/magick-wasm/magick.wasm"))).then((wasm) =>
    initializeImageMagick(wasm)
  );
  return ready;
}

function rgbaOf(image: IMagickImage): Uint8Array {
  const data = image.getPixels((pixels) => pixels.toByteArray(0, 0, image.width, image.height, "RGBA"));
  if (!data) throw new Error("no pixels");
  return data;
}

function meanAround(pixels: Uint8Array, width: number, height: number, x: number, y: number): Rgba {
  const sum = [0, 0, 0, 0] as [number, number, number, number];
  let count = 0;
  for (let row = Math.max(0, Math.floor(y) - 10); row < Math.min(height, y + 10); row++) {
    for (let column = Math.max(0, Math.floor(x) - 10); column < Math.min(width, x + 10); column++) {
      count++;
      for (const channel of [0, 1, 2, 3] as const) sum[channel] += pixels[(row * width + column) * 4 + channel] ?? 0;
    }
  }
  const mean = (total: number) => Math.round(total / count);
  return [mean(sum[0]), mean(sum[1]), mean(sum[2]), mean(sum[3])];
}

function png(width: number, height: number, depth: number, colourType: number, pixels: Uint8Array): Bytes {
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, height);
  header.setUint8(8, depth);
  header.setUint8(9, colourType);
  return joined(
    Uint8Array.of(0x89, ...ascii("PNG\r\n"), 0x1a, 0x0a),
    chunk("IHDR", new Uint8Array(header.buffer)),
    chunk("IDAT", pixels),
    chunk("IEND", new Uint8Array()),
  );
}

function chunk(type: string, content: Uint8Array): Bytes {
  const body = joined(ascii(type), content);
  const frame = new DataView(new ArrayBuffer(8));
  frame.setUint32(0, content.length);
  frame.setUint32(4, crc32(body));
  return joined(new Uint8Array(frame.buffer, 0, 4), body, new Uint8Array(frame.buffer, 4, 4));
}

function ascii(text: string): Bytes {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

function joined(...pieces: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The same bytes for the same seed (xorshift). */
function randomBytes(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state & 0xff;
  };
}
