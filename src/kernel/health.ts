/** Asks a kernel, or a service as ours, whether it is there: `GET /health`. */
import { isObject, type JsonObject, text } from "../json.ts";
import { linkedAbort } from "../linked_abort.ts";
import { httpClient } from "./client.ts";

export interface KernelHealth {
  /** HTTP status; only 200 is well. */
  readonly status: number;
  readonly version: string | undefined;
  /** By its own clock. */
  readonly date: Date | undefined;
  /** Whether it is no kernel but an AG-UI server. */
  readonly isOurs: boolean;
}

/** What is answered there; undefined when nothing is within `ms`, or before the signal aborts. */
export async function askHealth(
  url: URL,
  token: string | undefined,
  ms: number,
  signal?: AbortSignal,
): Promise<KernelHealth | undefined> {
  using client = httpClient(url);
  using late = linkedAbort(signal);
  const timer = setTimeout(() => late.abort(), ms);
  try {
    const response = await fetch(new URL("health", url.href.replace(/\/*$/, "/")), {
      client,
      redirect: "error",
      signal: late.signal,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    });
    const body = await jsonBody(response);
    const date = new Date(response.headers.get("date") ?? "");
    return {
      status: response.status,
      version: text(body.version) ?? text(body.serverVersion),
      date: Number.isNaN(date.getTime()) ? undefined : date,
      isOurs: body.protocol === "ag-ui",
    };
  } catch (error) {
    // Nobody there, or too slow: fetch rejects with a TypeError, or with the signal's reason.
    if (error instanceof TypeError || (error instanceof Error && error.name === "AbortError")) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function jsonBody(response: Response): Promise<JsonObject> {
  try {
    const body: unknown = await response.json();
    return isObject(body) ? body : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
