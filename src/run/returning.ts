/** A client that leaves and comes back at once may be faster than the news of its leaving (docs/protocol.md, "Disconnect"). */
import type { Refusal } from "../errors.ts";
import { LEAVING_NOTICED_MS, LEAVING_OVER_MS } from "../limits.ts";
import { linkedAbort } from "../linked_abort.ts";
import type { Services } from "./context.ts";

/**
 * Whether a refused request is worth deciding on again: its thread was busy with a run that has been stopped, or is within
 * a moment, and is over now.
 */
export async function isFreeSoon(
  { registry, runs, clock }: Services,
  threadId: string,
  { code }: Refusal,
): Promise<boolean> {
  if (code !== "THREAD_BUSY") return false;
  const active = await registry.hold(threadId, (held) => Promise.resolve(held.active));
  const run = [...runs].find((control) => control === active);
  // It ended while this looked.
  if (!run) return true;
  const over = new AbortController();
  void run.finished.then(() => over.abort());
  using news = linkedAbort(over.signal, run.signal);
  await clock.sleep(LEAVING_NOTICED_MS, news.signal);
  if (run.cause === undefined) return over.signal.aborted;
  await clock.sleep(LEAVING_OVER_MS, over.signal);
  return over.signal.aborted;
}
