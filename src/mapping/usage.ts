/** Usage records, summed per provider and model (docs/protocol.md, "Ends of a run"). Pure. */
import { integer, isObject, text } from "../json.ts";
import { USAGE_RECORDS } from "../limits.ts";
import type { UsageRecord } from "./event.ts";

export interface Usage {
  add(record: unknown): void;
  /** The sums; undefined when nothing was used. */
  sums(): readonly UsageRecord[] | undefined;
}

/** Empty sums. */
export function createUsage(): Usage {
  const sums = new Map<string, UsageRecord>();
  return {
    add(record) {
      if (!isObject(record)) return;
      const [provider, model] = [text(record.provider), text(record.model)];
      const key = JSON.stringify([provider, model]);
      const before = sums.get(key);
      if (!before && sums.size >= USAGE_RECORDS) return;
      const sum = (field: "inputTokens" | "outputTokens" | "totalTokens" | "cachedInputTokens") =>
        (before?.[field] ?? 0) + Math.max(0, integer(record[field]) ?? 0);
      sums.set(key, {
        ...(provider !== undefined && { provider }),
        ...(model !== undefined && { model }),
        inputTokens: sum("inputTokens"),
        outputTokens: sum("outputTokens"),
        totalTokens: sum("totalTokens"),
        cachedInputTokens: sum("cachedInputTokens"),
      });
    },
    sums: () => sums.size === 0 ? undefined : [...sums.values()],
  };
}
