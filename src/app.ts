/** Request → Response, from the edges that it is given: the stations in their order (docs/architecture.md). */
import { pythonDigest } from "./digest.ts";
import { ERRORS, type Refusal, refusal } from "./errors.ts";
import type { Language } from "./language/messages.ts";
import { sentence } from "./language/messages.ts";
import { negotiate } from "./language/negotiate.ts";
import {
  BODIES_BYTES,
  CANCEL_BODY_BYTES,
  JSON_DEPTH,
  JSON_VALUES,
  KERNEL_IMAGE_BYTES,
  RUN_BODY_BYTES,
} from "./limits.ts";
import { errorKind, errorPlace } from "./log.ts";
import { type BodyRoom, readBody } from "./request/body.ts";
import { type Access, corsHeaders, type Head, passGates, type Route } from "./request/gates.ts";
import { isObject, type Json } from "./json.ts";
import { parseJson } from "./request/json.ts";
import { invalid } from "./errors.ts";
import type { RunRequest } from "./request/run_request.ts";
import { createWorkspace, resolveWorkspace } from "./request/workspace.ts";
import { cancelExecution } from "./run/cancel.ts";
import type { Services } from "./run/context.ts";

export interface AppSettings {
  readonly access: Access;
  /** Gives the allowed workspace roots, resolved. */
  readonly roots: () => Promise<readonly string[]>;
  /** How long a body may take to arrive, in ms. */
  readonly bodyMs: number;
  readonly version: string;
  readonly protocolVersion: string;
}

export type App = (request: Request) => Promise<Response>;

/** The routes' names in traces and metrics. */
const ROUTES: Readonly<Record<Route["to"], string>> = {
  run: "/",
  health: "/health",
  cancel: "/extensions/iac-code/v1/executions/{executionId}/cancel",
  console: "/console",
  preflight: "*",
};

/** What a handler answers: a response, or a refusal in the client's language. */
type Answer = Response | { readonly refusal: Refusal; readonly language: Language };

/** The application over its services. It never throws. */
export function createApp(settings: AppSettings, services: Services): App {
  const room: BodyRoom = { left: BODIES_BYTES };
  return async (request) => {
    // A Host that makes no URL is nobody's.
    const url = URL.canParse(request.url) ? new URL(request.url) : undefined;
    if (!url) return refuse(refusal("FORBIDDEN_HOST"), "en", {});
    const head: Head = { method: request.method, url, headers: request.headers };
    const cors = corsHeaders(head, settings.access);
    const fallback = negotiate(undefined, request.headers.get("accept-language"));
    try {
      const passed = passGates(head, settings.access);
      if ("refusal" in passed) return refuse(passed.refusal, fallback, { ...cors, ...passed.headers });
      services.telemetry?.routed(request.method, ROUTES[passed.route.to]);
      const answer = await handle(passed.route, request, fallback);
      if (!(answer instanceof Response)) return refuse(answer.refusal, answer.language, cors);
      for (const [name, value] of Object.entries(cors)) answer.headers.set(name, value);
      return answer;
    } catch (error) {
      services.log.error("a request failed", { failure: errorKind(error), at: errorPlace(error) });
      return refuse(refusal("INTERNAL_ERROR"), fallback, cors);
    }
  };

  function refuse(given: Refusal, language: Language, headers: Record<string, string>): Response {
    services.log.debug("request refused", { code: given.code });
    services.telemetry?.refused(given.code);
    return errorResponse(given, language, headers);
  }

  async function handle(route: Route, request: Request, fallback: Language): Promise<Answer> {
    switch (route.to) {
      case "health":
        return health(settings);
      case "preflight":
        return new Response(null, { status: 204 });
      case "cancel":
        return await cancel(route.executionId, request, fallback);
      case "console":
        return await page(route.file, request) ?? { refusal: refusal("NOT_FOUND"), language: fallback };
      case "run":
        return await run(request, fallback);
    }
  }

  async function page(file: string, request: Request): Promise<Response | undefined> {
    const { servePage } = await import("./console/page.ts");
    const wantsToken = settings.access.token !== undefined;
    // Whoever has no token is not told where the workspaces are.
    const [workspace = ""] = wantsToken ? [] : await settings.roots();
    return await servePage(file, request, { workspace, wantsToken });
  }

  /** A body breaks off when its client leaves, which then hears nothing of this, or when the server stops. */
  function cutShort(): Refusal {
    return refusal(services.stopping ? "SERVER_BUSY" : "INVALID_JSON");
  }

  async function run(request: Request, fallback: Language): Promise<Answer> {
    const body = await readJson(request, RUN_BODY_BYTES, settings.bodyMs, room, cutShort);
    if ("code" in body) return { refusal: body, language: fallback };
    const language = negotiate(preferredLanguage(body.value), request.headers.get("accept-language"));
    const [{ validateRun }, { startRun }] = await loadWay();
    const valid = validateRun(body.value);
    if ("refusal" in valid) return { ...valid, language };
    if (!fitsThreadHeader(request.headers, valid.request.threadId)) {
      return { refusal: invalid("threadHeaderMismatch", "threadId"), language };
    }
    const fitted = await withFittingImages(valid.request);
    if ("code" in fitted) return { refusal: fitted, language };
    const cwd = await resolveWorkspace(fitted.iacCode.cwd, await settings.roots());
    if (typeof cwd !== "string") return { refusal: cwd, language };
    const digest = pythonDigest(body.text);
    const accepted = { request: fitted, cwd, digest, language, makeWorkspace: () => createWorkspace(cwd) };
    const started = await startRun(services, accepted);
    return "code" in started ? { refusal: started, language } : streamResponse(started);
  }

  async function cancel(executionId: string, request: Request, language: Language): Promise<Answer> {
    const body = await readJson(request, CANCEL_BODY_BYTES, settings.bodyMs, room, cutShort);
    if ("code" in body) return { refusal: body, language };
    const [{ validateCancel }] = await loadWay();
    const valid = validateCancel(body.value);
    if ("refusal" in valid) return { ...valid, language };
    if (!fitsThreadHeader(request.headers, valid.request.threadId)) {
      return { refusal: invalid("threadHeaderMismatch", "threadId"), language };
    }
    const answer = await cancelExecution(services, executionId, valid.request);
    return "code" in answer ? { refusal: answer, language } : Response.json(answer);
  }
}

let way: Promise<[typeof import("./request/schema.ts"), typeof import("./run/start.ts")]> | undefined;

/** What a run needs, loaded with the first one so that a start is quick. Kept: to import again takes a turn of the event loop. */
function loadWay(): NonNullable<typeof way> {
  return way ??= Promise.all([import("./request/schema.ts"), import("./run/start.ts")]);
}

/** A balancer spreads threads by this header (docs/operators.md): when it is there, it names the thread of the body. */
function fitsThreadHeader(headers: Headers, threadId: string): boolean {
  const named = headers.get("x-thread-id");
  return named === null || named === threadId;
}

/** The request with images that the kernel takes; the codec is loaded only for those that are too large. */
async function withFittingImages(request: RunRequest): Promise<RunRequest | Refusal> {
  const { message } = request;
  const isTooLarge = message?.parts.some((part) => part.kind === "image" && part.image.bytes > KERNEL_IMAGE_BYTES);
  if (!message || !isTooLarge) return request;
  const { fitImages } = await import("./request/image.ts");
  const fitted = await fitImages(message);
  return "code" in fitted ? fitted : { ...request, message: fitted };
}

async function readJson(
  request: Request,
  limit: number,
  ms: number,
  room: BodyRoom,
  cutShort: () => Refusal,
): Promise<{ value: Json; text: string } | Refusal> {
  const bytes = await readBody(request, limit, ms, room).catch(cutShort);
  if ("code" in bytes) return bytes;
  const parsed = parseJson(bytes);
  if (parsed.ok) return parsed;
  if (parsed.why === "json") return refusal("INVALID_JSON");
  return parsed.why === "depth"
    ? invalid("nestedTooDeeply", "$", { limit: JSON_DEPTH })
    : invalid("fieldTooMany", "$", { limit: JSON_VALUES });
}

/** The language that a body asks for, also when the rest of it is wrong. */
function preferredLanguage(body: Json): string | undefined {
  const props = isObject(body) ? body.forwardedProps : undefined;
  const iacCode = isObject(props) ? props.iacCode : undefined;
  const preferred = isObject(iacCode) ? iacCode.preferredLanguage : undefined;
  return typeof preferred === "string" ? preferred : undefined;
}

function health({ version, protocolVersion }: AppSettings): Response {
  return Response.json({
    status: "ok",
    protocol: "ag-ui",
    protocolPackageVersion: protocolVersion,
    executionKernel: "a2a-1.0",
    serverVersion: version,
  });
}

function streamResponse(body: ReadableStream<Uint8Array>): Response {
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    },
  });
}

/** The envelope of every error before a stream. */
function errorResponse(given: Refusal, language: Language, headers: Record<string, string>): Response {
  const row = ERRORS[given.code];
  const message = sentence(language, given.message ?? row.message, given.params);
  const error = { code: given.code, message, ...(given.details !== undefined && { details: given.details }) };
  return Response.json({ error }, { status: row.status, headers });
}
