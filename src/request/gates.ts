/**
 * The checks that need no body, in the order of docs/protocol.md, "Checks": host, origin, route, method, preflight, token,
 * media type. Pure: a request's head and the settings go in; the route, or the first refusal, comes out.
 */
import { type Refusal, refusal } from "../errors.ts";
import { isLoopback } from "../loopback.ts";
import { isSame } from "../sha256.ts";

/** Who may reach the server (docs/security.md). */
export interface Access {
  /** Whether the server listens on a loopback address, so that a page must not reach it by a name of its own. */
  readonly loopback: boolean;
  readonly token: string | undefined;
  /** Further host names that the server answers for, with or without a port. */
  readonly hosts: readonly string[];
  /** Origins whose pages may use the server; `*` for all. */
  readonly origins: readonly string[];
  /** Whether the page at /console is served. */
  readonly console: boolean;
}

export interface Head {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
}

export type Route =
  | { readonly to: "health" | "run" | "preflight" }
  | { readonly to: "console"; readonly file: string }
  | { readonly to: "cancel"; readonly executionId: string };

export type Passed = { readonly route: Route } | {
  readonly refusal: Refusal;
  readonly headers?: Record<string, string>;
};

const CANCEL = /^\/extensions\/iac-code\/v1\/executions\/([^/]+)\/cancel$/;
const CONSOLE = /^\/console(?:\/([\w.-]*))?$/;

/** The route of a request that may go on, or its refusal with the headers that belong to it. */
export function passGates(head: Head, access: Access): Passed {
  if (!hostAllowed(head, access)) return { refusal: refusal("FORBIDDEN_HOST") };
  if (!originAllowed(head, access)) return { refusal: refusal("FORBIDDEN_ORIGIN") };
  const found = findRoute(head.url.pathname, access);
  if (!found) return { refusal: refusal("NOT_FOUND") };
  if (isPreflight(head)) return { route: { to: "preflight" } };
  if (!found.methods.includes(head.method)) {
    const allowed = found.methods.join(", ");
    return { refusal: refusal("METHOD_NOT_ALLOWED", { params: { allowed } }), headers: { allow: allowed } };
  }
  const { route } = found;
  if (route.to !== "run" && route.to !== "cancel") return { route };
  if (!tokenFits(head.headers.get("authorization"), access.token)) {
    return { refusal: refusal("UNAUTHORIZED"), headers: { "www-authenticate": "Bearer" } };
  }
  if (!isJson(head.headers.get("content-type"))) return { refusal: refusal("UNSUPPORTED_MEDIA_TYPE") };
  return { route };
}

/** Headers that let a listed origin read an answer, errors included; none for everybody else. */
export function corsHeaders(head: Head, access: Access): Record<string, string> {
  const origin = head.headers.get("origin");
  if (origin === null || !listed(origin, access)) return {};
  const preflight = isPreflight(head) && {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "content-type, authorization, accept-language, x-thread-id",
    "access-control-max-age": "600",
    ...(head.headers.has("access-control-request-private-network") && {
      "access-control-allow-private-network": "true",
    }),
  };
  return { "access-control-allow-origin": origin, vary: "Origin", ...preflight };
}

function findRoute(path: string, access: Access): { route: Route; methods: readonly string[] } | undefined {
  if (path === "/") return { route: { to: "run" }, methods: ["POST"] };
  if (path === "/health") return { route: { to: "health" }, methods: ["GET", "HEAD"] };
  const file = access.console ? CONSOLE.exec(path) : null;
  if (file) return { route: { to: "console", file: file[1] ?? "" }, methods: ["GET", "HEAD"] };
  const encoded = CANCEL.exec(path)?.[1];
  const executionId = encoded === undefined ? undefined : decoded(encoded);
  return executionId === undefined ? undefined : { route: { to: "cancel", executionId }, methods: ["POST"] };
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function isPreflight({ method, headers }: Head): boolean {
  return method === "OPTIONS" && headers.has("origin") && headers.has("access-control-request-method");
}

function hostAllowed({ headers, url }: Head, access: Access): boolean {
  if (!access.loopback && access.hosts.length === 0) return true;
  const host = (headers.get("host") ?? url.host).trim().toLowerCase();
  const name = hostName(host);
  if (access.hosts.some((allowed) => [host, name].includes(allowed.toLowerCase()))) return true;
  return isLoopback(name);
}

/** A Host header's name without its port and brackets. */
function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(host);
  return bracketed?.[1] ?? host.replace(/:\d*$/, "");
}

function originAllowed(head: Head, access: Access): boolean {
  const origin = head.headers.get("origin");
  if (origin === null || listed(origin, access)) return true;
  const host = (head.headers.get("host") ?? head.url.host).trim().toLowerCase();
  // A proxy in front may speak TLS, so both schemes are the server's own.
  return [`http://${host}`, `https://${host}`].includes(origin.toLowerCase());
}

function listed(origin: string, { origins, token }: Access): boolean {
  if (origins.includes("*") && token !== undefined) return true;
  return origins.some((allowed) => allowed !== "*" && allowed.toLowerCase() === origin.toLowerCase());
}

function tokenFits(authorization: string | null, token: string | undefined): boolean {
  if (token === undefined) return true;
  const given = /^bearer +(.*)$/i.exec(authorization ?? "")?.[1] ?? "";
  return isSame(given, token);
}

function isJson(contentType: string | null): boolean {
  return /^application\/json\s*(;|$)/i.test(contentType?.trim() ?? "");
}
