/**
 * The questions of a run: which were asked just now, which wait since before, which are answered (docs/protocol.md,
 * "Interrupts"). Pure.
 */
import type { JsonObject } from "../json.ts";
import { requiredInputs } from "../kernel/wire.ts";
import { RESUME_ENTRIES } from "../limits.ts";
import { project } from "../thread/projection.ts";
import type { PendingInput } from "../thread/thread.ts";

/** What metadata asks: something, only what is answered already, nothing, or something that nobody can answer. */
export type Asks = "asks" | "answered" | "none" | "broken";

export interface Questions {
  /** Takes note of what a frame's metadata asks. */
  note(iac: JsonObject): Asks;
  /** All questions that wait; those that were asked just now may be answered until `expiresAt` (null: always). */
  announced(expiresAt: number | null): ReadonlyMap<string, PendingInput>;
  /** Answers are at hand: the kernel may name these questions without asking again. */
  expect(ids: Iterable<string>): void;
  /** The kernel has taken an answer. */
  settle(id: string): void;
  isSettled(id: string): boolean;
  readonly pending: ReadonlyMap<string, PendingInput>;
}

/** The questions of a run that begins with some that wait, and some that were answered before; `asker` marks what it asks. */
export function createQuestions(
  waiting: ReadonlyMap<string, PendingInput>,
  settled: ReadonlySet<string>,
  asker: string,
): Questions {
  const pending = new Map(waiting);
  const answered = new Set(settled);
  const expected = new Set<string>();
  const asked = new Map<string, PendingInput>();
  return {
    note(iac) {
      const inputs = requiredInputs(iac);
      if (inputs.length === 0) return "none";
      let result: Asks = "answered";
      for (const { inputId, value, sideband } of inputs) {
        if (inputId === undefined) return "broken";
        if (answered.has(inputId) || expected.has(inputId)) continue;
        const known = pending.get(inputId) ?? asked.get(inputId);
        const beside = sideband || known?.sideband === true;
        asked.set(inputId, { value: known?.value ?? project(value), sideband: beside, expiresAt: null });
        result = "asks";
      }
      // More than one request can answer.
      if (asked.size + pending.size > RESUME_ENTRIES) return "broken";
      return result;
    },
    announced(expiresAt) {
      for (const [id, input] of asked) {
        const known = pending.get(id);
        const askedBy = known ? known.askedBy : asker;
        pending.set(id, { ...input, expiresAt, ...(askedBy !== undefined && { askedBy }) });
      }
      return new Map(pending);
    },
    expect(ids) {
      expected.clear();
      for (const id of ids) expected.add(id);
    },
    settle(id) {
      pending.delete(id);
      answered.add(id);
    },
    isSettled: (id) => answered.has(id),
    pending,
  };
}
