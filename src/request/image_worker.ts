/**
 * What the picture worker runs. The worker gets the text of `fitPicture`, not this module: a worker made from a file needs
 * --allow-read for that file under `deno run`, one made from text needs nothing. So the function stands on its own:
 * outside its braces there are types only. Its literal import() is what makes `deno compile` embed the codec.
 */
import type { IMagickImage, MagickReadSettings as ReadSettings } from "@imagemagick/magick-wasm";
import type { ImageType } from "./run_request.ts";

/** One picture to fit, and what it has to fit into. */
export interface PictureJob {
  readonly base64: string;
  /** The true type; no other decoder of the codec is tried. */
  readonly mediaType: ImageType;
  /** The result's size in bytes stays below this. */
  readonly bytes: number;
  /** The result has at most this many pixels, and no edge is longer than `edge` pixels. */
  readonly pixels: number;
  readonly edge: number;
  /** Decoded pixels (frames and working copies included) may take this many bytes; a picture that needs more is undecodable. */
  readonly memoryBytes: number;
  /** JPEG quality, 1–100. */
  readonly quality: number;
}

export interface FittedPicture {
  readonly mediaType: "image/jpeg" | "image/png";
  readonly base64: string;
  /** Decoded size in bytes. */
  readonly bytes: number;
}

/**
 * Decodes the (first) picture, turns it upright, drops its metadata and scales it down until it fits: as PNG when a part
 * of it is see-through, as JPEG otherwise. `wasm` is the codec's module. Undefined when it cannot be decoded.
 */
export async function fitPicture(job: PictureJob, wasm: WebAssembly.Module): Promise<FittedPicture | undefined> {
  const codec = await import("@imagemagick/magick-wasm");
  const { ColorSpace, FilterType, ImageMagick, MagickFormat, MagickImageInfo, MagickReadSettings, ResourceLimits } =
    codec;
  await codec.initializeImageMagick(wasm);
  ResourceLimits.memory = BigInt(job.memoryBytes);
  ResourceLimits.disk = 0n;
  try {
    return read(Uint8Array.fromBase64(job.base64));
  } catch {
    return undefined;
  }

  function read(bytes: Uint8Array): FittedPicture {
    const format = {
      "image/png": MagickFormat.Png,
      "image/jpeg": MagickFormat.Jpeg,
      "image/gif": MagickFormat.Gif,
      "image/webp": MagickFormat.WebP,
    }[job.mediaType];
    const settings = new MagickReadSettings({ format, frameIndex: 0, frameCount: 1 });
    if (format === MagickFormat.Jpeg) decodeSmall(bytes, settings);
    return ImageMagick.read(bytes, settings, fit);
  }

  /** A JPEG can be decoded straight to a smaller size; this asks for the smallest that is not below the square. */
  function decodeSmall(jpeg: Uint8Array, settings: ReadSettings): void {
    const { width, height } = MagickImageInfo.create(jpeg, settings);
    const side = Math.ceil(Math.sqrt(job.pixels));
    // It would enlarge a picture that is smaller than the square.
    if (width > side && height > side) settings.setDefine(MagickFormat.Jpeg, "size", `${side}x${side}`);
  }

  function fit(image: IMagickImage): FittedPicture {
    const { width, height } = image;
    scale(image, Math.min(Math.sqrt(job.pixels / (width * height)), job.edge / Math.max(width, height)));
    if (image.colorSpace !== ColorSpace.Gray) image.colorSpace = ColorSpace.sRGB;
    image.autoOrient();
    image.resetPage();
    image.strip();
    while (true) {
      const fitted = encode(image);
      if (fitted.bytes < job.bytes) return fitted;
      scale(image, Math.sqrt(0.9 * job.bytes / fitted.bytes));
    }
  }

  function scale(image: IMagickImage, factor: number): void {
    if (factor >= 1) return;
    const shorter = (edge: number) => Math.max(1, Math.floor(edge * factor));
    image.resize(shorter(image.width), shorter(image.height), FilterType.Triangle);
  }

  function encode(image: IMagickImage): FittedPicture {
    const jpeg = image.isOpaque;
    // For a PNG: zlib level 3 with adaptive filters, several times faster than the default and hardly larger.
    image.quality = jpeg ? job.quality : 35;
    const mediaType = jpeg ? "image/jpeg" : "image/png";
    return image.write(jpeg ? MagickFormat.Jpeg : MagickFormat.Png, (data) => {
      return { mediaType, base64: data.toBase64(), bytes: data.length };
    });
  }
}
