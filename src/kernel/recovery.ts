/** What a task's own account means for a run whose stream was cut (docs/protocol.md, "A cut stream"). Pure. */
import { integer, isObject, type JsonObject, text } from "../json.ts";
import { type Frame, isFinal, requiredInputs } from "./wire.ts";

export type NextStep =
  /** The account is the end, or a question: map it. */
  | "map"
  /** The task works: follow it again. */
  | "subscribe"
  /** It still shows a question that was answered: look again, it lags behind. */
  | "lags"
  /** There is no such task any more. */
  | "lost";

/** What to do with a GetTask answer, when the interrupts in `applied` were answered already. */
export function nextStep(frame: Frame, applied: (inputId: string) => boolean): NextStep {
  if (frame.kind !== "task") return "lost";
  const { state, iac } = frame.status;
  if (isFinal(state) || state === "AUTH_REQUIRED") return "map";
  const inputs = requiredInputs(iac);
  if (inputs.some(({ inputId }) => inputId === undefined || !applied(inputId))) return "map";
  if (state !== "INPUT_REQUIRED") return "subscribe";
  return inputs.length > 0 ? "lags" : "map";
}

/** Whether frames begin later than with the pipeline event that follows on `sequence`, so that some are missing. */
export function isGapBefore(frames: readonly Frame[], sequence: number): boolean {
  const [first] = frames.flatMap(envelopes);
  const at = integer(first?.sequence);
  return at !== undefined && at > sequence + 1;
}

/** Events that the kernel keeps out of its journal until one of another kind comes, or 512 of them have come. */
const DEFERRED = new Set(["text_delta", "thinking_delta"]);
const DEFERRED_EVENTS = 512;

/** Whether the kernel's journal holds by now all that came before these frames. */
export function isJournaled(frames: readonly Frame[]): boolean {
  const events = frames.flatMap(envelopes);
  return events.length > DEFERRED_EVENTS || events.some(({ eventType }) => !DEFERRED.has(text(eventType) ?? ""));
}

function envelopes(frame: Frame): JsonObject[] {
  if (frame.kind !== "status" && frame.kind !== "task") return [];
  const { pipeline, pipelineBatch } = frame.status.iac;
  const batch = isObject(pipelineBatch) && Array.isArray(pipelineBatch.events) ? pipelineBatch.events : [];
  return [pipeline, ...batch].filter(isObject);
}

/** A pipeline's events before the first that shows a pending question as answered, and from that one on. */
export function splitAtAnswer(
  events: readonly JsonObject[],
  pending: ReadonlyMap<string, { readonly value: JsonObject }>,
): readonly [JsonObject[], JsonObject[]] {
  const found = events.findIndex((event) => answeredIn([event], pending).size > 0);
  const at = found === -1 ? events.length : found;
  return [events.slice(0, at), events.slice(at)];
}

/** Which of the pending questions a pipeline's events show as answered. */
export function answeredIn(
  events: readonly JsonObject[],
  pending: ReadonlyMap<string, { readonly value: JsonObject }>,
): Set<string> {
  const answered = new Set<string>();
  for (const { eventType, data } of events) {
    if (!isObject(data)) continue;
    const inputId = text(data.inputId);
    const isResolved = eventType === "permission_resolved" || eventType === "input_received";
    if (isResolved && inputId !== undefined && pending.has(inputId)) answered.add(inputId);
    // A selection's answer does not name its question; a pipeline asks one at a time.
    if (eventType !== "input_received" || inputId !== undefined) continue;
    for (const [id, { value }] of pending) if (value.kind === data.kind) answered.add(id);
  }
  return answered;
}
