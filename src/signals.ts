/** Signals that ask a program to end (docs/operators.md, "Signals"). */

/** Windows knows no SIGTERM. */
const ENDING = Deno.build.os === "windows" ? ["SIGINT", "SIGBREAK"] as const : ["SIGINT", "SIGTERM"] as const;

/** Aborts with the first signal that asks the program to end; each further one calls `insist`. */
export function endSignal(insist: () => void): AbortSignal {
  const asked = new AbortController();
  const hear = (): void => asked.signal.aborted ? insist() : asked.abort();
  for (const signal of ENDING) Deno.addSignalListener(signal, hear);
  return asked.signal;
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
