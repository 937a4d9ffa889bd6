/** An artifact as the page shows it: its content when there is one at hand, else where the agent keeps it. Pure. */
import { integer, isObject, type JsonObject, text } from "../../src/json.ts";

export type Content =
  | { readonly as: "text"; readonly text: string }
  /** Base64. */
  | { readonly as: "bytes"; readonly base64: string };

export interface Artifact {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number | undefined;
  /** Undefined when the event only names the artifact. */
  readonly content: Content | undefined;
  readonly uri: string | undefined;
}

/** The artifact of an `iac-code.artifact.v1` event; a chunk is added to what there is. */
export function readArtifact(value: JsonObject, before: Artifact | undefined): Artifact {
  const parts = Array.isArray(value.parts) ? value.parts.filter(isObject) : [];
  const metadata = isObject(value.metadata) ? value.metadata : {};
  const [first = {}] = parts;
  const found = parts.map(contentOf).filter((content) => content !== undefined);
  const earlier = value.append === true && before?.content ? [before.content] : [];
  return {
    id: text(value.artifactId) ?? "",
    name: text(value.name) ?? text(first.filename) ?? before?.name ?? "artifact",
    mediaType: text(first.mediaType) ?? text(metadata.mediaType) ?? before?.mediaType ?? "text/plain",
    bytes: integer(metadata.byteSize) ?? before?.bytes,
    content: join([...earlier, ...found]),
    uri: text(metadata.uri) ?? text(first.url) ?? before?.uri,
  };
}

function contentOf(part: JsonObject): Content | undefined {
  if (typeof part.text === "string") return { as: "text", text: part.text };
  if (typeof part.raw === "string") return { as: "bytes", base64: part.raw };
  if (part.data !== undefined) return { as: "text", text: JSON.stringify(part.data, null, 2) };
}

/** Texts one after the other; of binary parts only one can be shown. */
function join(contents: readonly Content[]): Content | undefined {
  const [first] = contents;
  if (first?.as !== "text") return first;
  const texts = contents.flatMap((content) => content.as === "text" ? [content.text] : []);
  return { as: "text", text: texts.join("") };
}

const PATHS = ["path", "file_path", "filename"];

/**
 * The artifact with the content that a tool call wrote to it, when its event only names it: the call has a path that ends
 * in the artifact's name, and a content of exactly its size.
 */
export function fillFromCall(artifact: Artifact, args: string): Artifact {
  if (artifact.content || artifact.bytes === undefined) return artifact;
  const input = parsed(args);
  const path = PATHS.map((name) => text(input[name])).find((value) => value !== undefined);
  const content = input.content;
  if (path === undefined || typeof content !== "string") return artifact;
  const isOfIt = path === artifact.name || path.endsWith(`/${artifact.name}`);
  if (!isOfIt || new TextEncoder().encode(content).length !== artifact.bytes) return artifact;
  return { ...artifact, content: { as: "text", text: content } };
}

function parsed(json: string): JsonObject {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
