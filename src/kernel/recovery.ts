/** What a task's own account means for a run whose stream was cut (docs/protocol.md, "A cut stream"). Pure. */
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
