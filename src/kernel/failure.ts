/** A kernel that gave no answer that could be used. */

/**
 * Why there is no answer: `refused` (no connection, so nothing was sent), `broken` (the connection was lost or timed out,
 * so the request may have arrived), or `status` (an HTTP error).
 */
export class KernelFailure extends Error {
  constructor(readonly kind: "refused" | "broken" | "status", readonly status?: number, options?: ErrorOptions) {
    super(status === undefined ? kind : `${kind} ${status}`, options);
    this.name = "KernelFailure";
  }
}

/** An error of fetch as a KernelFailure; an abort that a caller asked for stays what it is. */
export function toFailure(error: unknown): unknown {
  if (error instanceof KernelFailure) return error;
  if (!(error instanceof Error)) return error;
  if (error.name === "AbortError") return error;
  const cause = error.cause instanceof Error ? error.cause.message : "";
  return new KernelFailure(cause.includes("client error (Connect)") ? "refused" : "broken", undefined, {
    cause: error,
  });
}
