/** An artifact: what it is, a preview of it, and a download. Its content never becomes part of the page's own markup. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Artifact, Content } from "../state/artifact.ts";
import { Markdown } from "./markdown.tsx";
import { useWords } from "./words.tsx";

/** More than this of a text is left to the download. */
const PREVIEW_CHARS = 20_000;
const IMAGE = /^image\/(png|jpeg|gif|webp)$/;

/** The card of an artifact. */
export function ArtifactCard({ artifact }: { artifact: Artifact }): VNode {
  const { say } = useWords();
  const { name, mediaType, bytes, content, uri } = artifact;
  return (
    <>
      <div class="head">
        <span class="label">{say("artifact")}</span> <strong class="name">{name}</strong>
        <span class="meta">
          {mediaType}
          {bytes !== undefined && ` · ${say("bytes", { count: bytes })}`}
        </span>
        {content && <button type="button" onClick={() => download(artifact, content)}>{say("artifactDownload")}
        </button>}
      </div>
      {content
        ? <Preview artifact={artifact} content={content} />
        : <p class="meta">{say("artifactElsewhere")} {uri}</p>}
    </>
  );
}

function Preview({ artifact, content }: { artifact: Artifact; content: Content }): VNode | null {
  const { say } = useWords();
  if (content.as === "bytes") {
    return IMAGE.test(artifact.mediaType) ? <Picture artifact={artifact} content={content} /> : null;
  }
  const shown = content.text.slice(0, PREVIEW_CHARS);
  const isMarkdown = /\.md$|markdown/.test(`${artifact.name} ${artifact.mediaType}`);
  return (
    <details>
      <summary>{say("artifactPreview")}</summary>
      {isMarkdown ? <Markdown text={shown} /> : <pre tabIndex={0}>{shown}</pre>}
    </details>
  );
}

function Picture({ artifact, content }: { artifact: Artifact; content: Content }): VNode | null {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(blobOf(content, artifact.mediaType));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [content]);
  return url === undefined ? null : <img src={url} alt={artifact.name} />;
}

function download(artifact: Artifact, content: Content): void {
  // Whatever it says to be, the browser shall only save it.
  saveAs(artifact.name, blobOf(content, "application/octet-stream"));
}

function blobOf(content: Content, type: string): Blob {
  if (content.as === "text") return new Blob([content.text], { type });
  return new Blob([Uint8Array.from(atob(content.base64), (letter) => letter.charCodeAt(0))], { type });
}

/** Saves a blob under a name; directories in it are left out. */
export function saveAs(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replaceAll(/[/\\]/g, "_");
  link.click();
  // The download has begun by the time a later task runs.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
