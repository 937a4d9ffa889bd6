/** The time until the first of some interrupts expires, second by second. */
import type { Interrupt } from "@ag-ui/core";
import { useEffect, useState } from "preact/hooks";

/** Whole seconds left; 0 when the time is over; undefined when none of them expires. */
export function useTimeLeft(interrupts: readonly Interrupt[]): number | undefined {
  const times = interrupts.flatMap(({ expiresAt }) => expiresAt === undefined ? [] : [Date.parse(expiresAt)]);
  const until = times.length === 0 ? undefined : Math.min(...times);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (until === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [until]);
  return until === undefined ? undefined : Math.max(0, Math.ceil((until - now) / 1_000));
}
