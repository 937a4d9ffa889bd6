/** A clock for stories with long waits in them, on real sockets. */
import { type Clock, systemClock } from "../../src/clock.ts";

/** Shorter waits are about who is faster, and stay; longer ones are time limits, which must not be used up. */
const SKIPPED_MS = { from: 151, to: 10_000 };

/** The real clock, which moves on at once when somebody waits for a retry. */
export function hastyClock(): Clock {
  let skipped = 0;
  return {
    now: () => Date.now() + skipped,
    elapsed: () => performance.now() + skipped,
    newId: () => crypto.randomUUID(),
    async sleep(ms, signal) {
      if (ms < SKIPPED_MS.from || ms > SKIPPED_MS.to) return await systemClock.sleep(ms, signal);
      if (!signal?.aborted) skipped += ms;
      await systemClock.sleep(0, signal);
    },
  };
}
