/**
 * The ledger of open spans: only here are STARTs and ENDs made, so that nothing can end that was not started, and closing
 * everything is one call. Pure: events go to the `emit` that it is given.
 */
import { OPEN_SPANS } from "../limits.ts";
import type { RunEvent } from "./event.ts";

export interface Spans {
  openText(id: string): void;
  closeText(id: string): void;
  openReasoning(id: string): void;
  closeReasoning(id: string): void;
  startTool(id: string, name: string, parentMessageId: string | undefined): void;
  isToolOpen(id: string): boolean;
  endTool(id: string): void;
  /** Starts a step that is not open. */
  startStep(name: string): void;
  /** Finishes a step; one that is not open gets a span of no length. */
  finishStep(name: string): void;
  isStepOpen(name: string): boolean;
  /** Whether more is open than any run has: the kernel is broken. */
  readonly isCrowded: boolean;
  closeAll(): void;
}

/** A ledger whose events go to `emit`. */
export function createSpans(emit: (event: RunEvent) => void): Spans {
  const texts = new Set<string>();
  const reasonings = new Set<string>();
  const tools = new Set<string>();
  const steps = new Set<string>();

  const spans: Spans = {
    openText(id) {
      texts.add(id);
      emit({ type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" });
    },
    closeText(id) {
      if (texts.delete(id)) emit({ type: "TEXT_MESSAGE_END", messageId: id });
    },
    openReasoning(id) {
      reasonings.add(id);
      emit({ type: "REASONING_START", messageId: id });
      emit({ type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" });
    },
    closeReasoning(id) {
      if (!reasonings.delete(id)) return;
      emit({ type: "REASONING_MESSAGE_END", messageId: id });
      emit({ type: "REASONING_END", messageId: id });
    },
    startTool(id, name, parentMessageId) {
      tools.add(id);
      const parent = parentMessageId !== undefined && { parentMessageId };
      emit({ type: "TOOL_CALL_START", toolCallId: id, toolCallName: name, ...parent });
    },
    isToolOpen: (id) => tools.has(id),
    endTool(id) {
      if (tools.delete(id)) emit({ type: "TOOL_CALL_END", toolCallId: id });
    },
    startStep(name) {
      if (steps.has(name)) return;
      steps.add(name);
      emit({ type: "STEP_STARTED", stepName: name });
    },
    finishStep(name) {
      spans.startStep(name);
      steps.delete(name);
      emit({ type: "STEP_FINISHED", stepName: name });
    },
    isStepOpen: (name) => steps.has(name),
    get isCrowded() {
      return texts.size + reasonings.size + tools.size + steps.size > OPEN_SPANS;
    },
    closeAll() {
      reasonings.forEach((id) => spans.closeReasoning(id));
      texts.forEach((id) => spans.closeText(id));
      tools.forEach((id) => spans.endTool(id));
      [...steps].reverse().forEach((name) => spans.finishStep(name));
    },
  };
  return spans;
}
