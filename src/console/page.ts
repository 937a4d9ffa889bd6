/**
 * Serves the console: files that were bundled into the program, under a policy that lets the page run only its own script
 * and speak only to this service (docs/console.md, docs/security.md).
 */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import assets from "./assets.json" with { type: "json" };

export interface PageSettings {
  /** The workspace that the page suggests. */
  readonly workspace: string;
  /** Whether clients have to bring a token. */
  readonly wantsToken: boolean;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // Nothing on the page turns text into markup; the browser refuses it if something tried.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

const FILES: ReadonlyMap<string, string> = new Map(Object.entries(assets));
const compressed = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();

/** The answer to a request for `file` of the page, the page itself when that is empty; undefined when there is none. */
export async function servePage(
  file: string,
  request: Request,
  settings: PageSettings,
): Promise<Response | undefined> {
  const content = FILES.get(file);
  if (content === undefined) return undefined;
  // "/console/" would look for its files one folder too deep.
  if (file === "" && new URL(request.url).pathname.endsWith("/")) {
    return new Response(null, { status: 308, headers: { ...HEADERS, location: "../console" } });
  }
  const isPage = file === "";
  const headers: Record<string, string> = {
    ...HEADERS,
    "content-type": isPage ? "text/html; charset=utf-8" : TYPES[file.split(".").at(-1) ?? ""] ?? "text/plain",
    // The other files' names change with their content.
    "cache-control": isPage ? "no-store" : "public, max-age=31536000, immutable",
    vary: "Accept-Encoding",
  };
  const takesGzip = /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
  const body = isPage ? fill(content, settings) : takesGzip ? await compress(file, content) : content;
  if (typeof body !== "string") headers["content-encoding"] = "gzip";
  return new Response(request.method === "HEAD" ? null : body, { headers });
}

/** Compresses a file once in the life of the program. */
function compress(file: string, content: string): Promise<Uint8Array<ArrayBuffer>> {
  const known = compressed.get(file);
  if (known) return known;
  const bytes = promisify(gzip)(content, { level: 9 }).then((buffer) => new Uint8Array(buffer));
  compressed.set(file, bytes);
  return bytes;
}

function fill(html: string, { workspace, wantsToken }: PageSettings): string {
  return html
    .replace("{workspace}", () => attribute(workspace))
    .replace("{token}", wantsToken ? "required" : "none");
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;" };

function attribute(value: string): string {
  return value.replaceAll(/[&"<>]/g, (letter) => ENTITIES[letter] ?? letter);
}
