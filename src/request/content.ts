/** The newest user message → parts (reference "Standard fields"; docs/protocol.md, "Images"). Pure. */
import { invalid, type Refusal } from "../errors.ts";
import { isObject } from "../json.ts";
import { ALL_IMAGES_BYTES, IMAGE_BYTES, IMAGE_PIXELS } from "../limits.ts";
import { inspectImage } from "./image_header.ts";
import type { ContentPart, ImageContent, UserMessage } from "./run_request.ts";

const FILENAME_BYTES = 255;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export type FoundMessage = { readonly message: UserMessage } | { readonly refusal: Refusal };

/** The newest message of the user, wherever it stands, with its content checked; INVALID_INPUT otherwise. */
export function userMessage(messages: readonly { id: string; role: string; content?: unknown }[]): FoundMessage {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const message = messages[at];
  if (!message) return { refusal: invalid("userMessageMissing", "messages") };
  const path = `messages[${at}].content`;
  const read = typeof message.content === "string" ? [textPart(message.content)] : readParts(message.content, path);
  if (!Array.isArray(read)) return { refusal: read };
  if (!read.some((part) => part.kind === "image" || part.text !== "")) {
    return { refusal: invalid("userMessageMissing", path) };
  }
  return { message: { id: message.id, parts: read } };
}

function readParts(content: unknown, path: string): ContentPart[] | Refusal {
  if (!Array.isArray(content)) return invalid("fieldType", path, { expected: "string | array" });
  const parts: ContentPart[] = [];
  let imageBytes = 0;
  for (const [at, raw] of content.entries()) {
    const part = readPart(raw, `${path}[${at}]`, at);
    if ("code" in part) return part;
    parts.push(part);
    if (part.kind !== "image") continue;
    imageBytes += part.image.bytes;
    if (imageBytes > ALL_IMAGES_BYTES) return invalid("imagesTooLarge", path, { limit: ALL_IMAGES_BYTES });
  }
  return parts;
}

function readPart(raw: unknown, path: string, at: number): ContentPart | Refusal {
  if (!isObject(raw)) return invalid("fieldType", path, { expected: "object" });
  if (raw.type === "text") {
    return typeof raw.text === "string"
      ? textPart(raw.text)
      : invalid("fieldType", `${path}.text`, { expected: "string" });
  }
  if (raw.type !== "image") return invalid("partNotSupported", path);
  const { source } = raw;
  if (!isObject(source) || source.type !== "data" || typeof source.value !== "string") {
    return invalid("imageNotInline", `${path}.source`);
  }
  const image = readImage(source.value, `${path}.source.value`, filenameOf(raw.metadata) ?? `agui-image-${at + 1}`);
  return "code" in image ? image : { kind: "image", image };
}

/** The kernel refuses half a surrogate pair, which a client's cut can leave of an emoji: it becomes U+FFFD. */
function textPart(text: string): ContentPart {
  return { kind: "text", text: text.toWellFormed() };
}

function readImage(base64: string, path: string, filename: string): ImageContent | Refusal {
  if (base64.length === 0 || base64.length % 4 !== 0) return invalid("imageNotBase64", path);
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  const bytes = base64.length / 4 * 3 - padding;
  if (bytes > IMAGE_BYTES) return invalid("imageTooLarge", path, { limit: IMAGE_BYTES });
  if (!BASE64.test(base64)) return invalid("imageNotBase64", path);
  const found = inspectImage(Uint8Array.fromBase64(base64));
  if (!found) return invalid("imageKind", path);
  if (found.width * found.height > IMAGE_PIXELS) return invalid("imagePixels", path, { limit: IMAGE_PIXELS });
  return { mediaType: found.mediaType, filename, base64, bytes };
}

/** A plain file name that the client gave; a path or anything doubtful is passed over. */
function filenameOf(metadata: unknown): string | undefined {
  const name = isObject(metadata) ? metadata.filename : undefined;
  if (typeof name !== "string" || name === "" || !name.isWellFormed()) return undefined;
  const plain = !/[\\/:*?"<>|\p{C}]/u.test(name) && !/^\.+$|^\s|[\s.]$/u.test(name);
  return plain && new TextEncoder().encode(name).length <= FILENAME_BYTES ? name : undefined;
}
