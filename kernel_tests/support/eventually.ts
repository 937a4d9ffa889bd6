/** Waits for what another process does in its own time. */

const POLL_MS = 50;

/** Resolves when `holds` does; rejects with `what` when it has not within `ms`. */
export async function eventually(what: string, holds: () => Promise<boolean>, ms = 20_000): Promise<void> {
  const until = Date.now() + ms;
  while (!await holds()) {
    if (Date.now() >= until) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
