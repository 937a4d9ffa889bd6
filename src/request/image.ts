/**
 * Pictures that are too large for the kernel are scaled down (docs/protocol.md, "Images"), in a worker of their own: decoding
 * takes seconds, and the end of the worker gives the codec's memory back. Needs no permission.
 */
import { invalid, type Refusal, refusal } from "../errors.ts";
import { FITTINGS_WAITING, KERNEL_IMAGE_BYTES } from "../limits.ts";
import { fitPicture, type FittedPicture, type PictureJob } from "./image_worker.ts";
import type { ContentPart, ImageContent, UserMessage } from "./run_request.ts";

const MIB = 1024 * 1024;
/** More than vision models look at. */
const FITTED_PIXELS = 8_000_000;
/** Some models refuse longer edges. */
const FITTED_EDGE = 8_000;
/** Twice what the largest picture that a request may hold takes (64 megapixels, 5 bytes each at worst). */
const DECODED_BYTES = 640 * MIB;
const JPEG_QUALITY = 85;
/** The slowest (64 megapixels with alpha) takes about 20 s on one core of 2025. */
const FITTING_MS = 60_000;

/** The worker's program. deno.json's imports hold within it, in an executable too. */
const PROGRAM = `
import source wasm from "@imagemagick/magick-wasm/magick.wasm";
${fitPicture}
self.onmessage = ({ data }) => {
  fitPicture(data, wasm).then((picture) => ({ picture }), (error) => ({ failure: String(error) })).then(self.postMessage);
};
`;

type Answer = { readonly picture: FittedPicture | undefined } | { readonly failure: string };

/** Settled when the last picture that was asked for is done. One at a time: each may take a GiB. */
let busy: Promise<unknown> = Promise.resolve();
let waiting = 0;

/**
 * The message with every image fit for the kernel. INVALID_INPUT for one that cannot be decoded; SERVER_BUSY when too many
 * pictures wait already, each with a request of up to 12 MiB.
 */
export async function fitImages(message: UserMessage): Promise<UserMessage | Refusal> {
  const parts: ContentPart[] = [];
  for (const [at, part] of message.parts.entries()) {
    const fitted = part.kind === "image" ? await fitForKernel(part.image, `messages.content[${at}]`) : undefined;
    if (fitted && "code" in fitted) return fitted;
    parts.push(fitted ? { kind: "image", image: fitted } : part);
  }
  return { ...message, parts };
}

/**
 * The image unchanged when the kernel takes it as it is, else one below KERNEL_IMAGE_BYTES: upright, without metadata,
 * JPEG, or PNG when a part of it is see-through; of an animation the first frame. The file name stays. Waits its turn.
 * INVALID_INPUT, with `path` as the field, when it cannot be decoded. Throws when the codec does not start.
 */
export async function fitForKernel(image: ImageContent, path: string): Promise<ImageContent | Refusal> {
  if (image.bytes <= KERNEL_IMAGE_BYTES) return image;
  if (waiting >= FITTINGS_WAITING) return refusal("SERVER_BUSY");
  waiting++;
  const mine = busy.then(() => inWorker(jobFor(image))).finally(() => waiting--);
  busy = mine.then(() => {}, () => {});
  const picture = await mine;
  return picture ? { ...picture, filename: image.filename } : invalid("imageKind", path);
}

function jobFor({ base64, mediaType }: ImageContent): PictureJob {
  return {
    base64,
    mediaType,
    bytes: KERNEL_IMAGE_BYTES,
    pixels: FITTED_PIXELS,
    edge: FITTED_EDGE,
    memoryBytes: DECODED_BYTES,
    quality: JPEG_QUALITY,
  };
}

/** Runs fitPicture in a worker that lives for this one job; undefined too when it takes longer than FITTING_MS. */
async function inWorker(job: PictureJob): Promise<FittedPicture | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<FittedPicture | undefined>();
  const worker = new Worker(`data:text/javascript,${encodeURIComponent(PROGRAM)}`, { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Answer>) => {
    if ("failure" in data) reject(new Error(`the picture codec did not start: ${data.failure}`));
    else resolve(data.picture);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    reject(new Error(`the picture worker failed: ${event.message}`));
  };
  const late = setTimeout(() => resolve(undefined), FITTING_MS);
  try {
    worker.postMessage(job);
    return await promise;
  } finally {
    clearTimeout(late);
    worker.terminate();
  }
}
