/** Resume entries × pending interrupts → answers to send, or why not (docs/protocol.md, "Resume"). */
import { Validator } from "@cfworker/json-schema";
import { answerDigest } from "../digest.ts";
import type { RunErrorCode } from "../errors.ts";
import { answerText, isPermission, responseSchema } from "../mapping/interrupt.ts";
import type { ResumeEntry } from "../request/run_request.ts";
import { appliedDigest, type PendingInput, type Thread } from "../thread/thread.ts";

export type Answer =
  & { readonly interruptId: string; readonly digest: string; readonly pending: PendingInput }
  & (
    | { readonly kind: "permission"; readonly decision: string }
    | { readonly kind: "text"; readonly text: string }
    /** A question that the user does not want to answer: the execution is cancelled. */
    | { readonly kind: "cancel" }
  );

export type Checked = { readonly answers: readonly Answer[] } | { readonly code: RunErrorCode };

/**
 * Checks a resume: every pending interrupt answered exactly once, no other, each payload as its schema says. `pending` are
 * the interrupts as they are now. An answer that was accepted before, beside others that were not, is no mistake: the
 * client repeats it because it never heard how its last resume ended.
 */
export function checkAnswers(
  entries: readonly ResumeEntry[],
  pending: ReadonlyMap<string, PendingInput>,
  thread: Thread,
): Checked {
  const ids = new Set(entries.map(({ interruptId }) => interruptId));
  if (ids.size < entries.length) return { code: "INCOMPLETE_RESUME" };
  const foreign = entries.filter(({ interruptId }) => !pending.has(interruptId));
  const open = entries.flatMap((entry) => {
    const input = pending.get(entry.interruptId);
    return input ? [{ entry, input }] : [];
  });
  if (foreign.some(({ interruptId }) => appliedDigest(thread, interruptId) === undefined)) {
    return { code: "UNKNOWN_INTERRUPT" };
  }
  const isRepeat = foreign.every(({ interruptId, status, payload }) =>
    appliedDigest(thread, interruptId) === answerDigest(status, payload)
  );
  if (open.length === 0 || !isRepeat) return { code: "RESUME_ALREADY_APPLIED" };
  if (open.length < pending.size) return { code: "INCOMPLETE_RESUME" };
  const answers = open.map(({ entry, input }) => readAnswer(entry, input));
  const valid = answers.filter((answer) => answer !== undefined);
  return valid.length === answers.length ? { answers: valid } : { code: "RESUME_PAYLOAD_INVALID" };
}

/**
 * Whether a client answers only what was asked by runs before the one that asked all the rest: it has not heard of that, since
 * each interrupt names all that waits. A crash came between its being written down and its being told, so another process
 * than this `instance` has asked it.
 */
export function missesLater(
  entries: readonly ResumeEntry[],
  pending: ReadonlyMap<string, PendingInput>,
  instance: string,
): boolean {
  const ids = new Set(entries.map(({ interruptId }) => interruptId));
  const known = new Set([...pending].filter(([id]) => ids.has(id)).map(([, { askedBy }]) => askedBy));
  const rest = [...pending].filter(([id]) => !ids.has(id));
  return known.size > 0 && rest.length > 0 &&
    rest.every(([, { askedBy }]) =>
      askedBy !== undefined && !known.has(askedBy) && !askedBy.startsWith(`${instance}.`)
    );
}

function readAnswer({ interruptId, status, payload }: ResumeEntry, pending: PendingInput): Answer | undefined {
  const { value } = pending;
  const base = { interruptId, pending, digest: answerDigest(status, payload) };
  if (status === "cancelled") {
    return isPermission(value) ? { ...base, kind: "permission", decision: "deny" } : { ...base, kind: "cancel" };
  }
  if (payload === undefined || !new Validator(responseSchema(value)).validate(payload).valid) return undefined;
  // The kernel refuses half a surrogate pair, which a client's cut can leave of an emoji.
  if (!isPermission(value)) return { ...base, kind: "text", text: answerText(value, payload).toWellFormed() };
  const decision = (payload as { decision?: unknown }).decision;
  return { ...base, kind: "permission", decision: String(decision) };
}
