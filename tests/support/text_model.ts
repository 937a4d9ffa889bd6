/**
 * What of a kernel's frames has to be shown as text, by the plain rules of docs/protocol.md ("Text and tools", "Pipelines")
 * and with nothing but strings: the measure for a mapper that knows texts by their digests.
 */
import { integer, isObject } from "../../src/json.ts";
import type { Frame } from "../../src/kernel/wire.ts";
import { isFinal } from "../../src/kernel/wire.ts";

export interface TextModel {
  /** Takes note of a frame. */
  frame(frame: Frame): void;
  /** A run that resumes begins. */
  resume(): void;
  /** All text that has to be shown, in its order. */
  readonly told: string;
  /** All text of the agent so far. */
  readonly agent: string;
}

export function createTextModel(): TextModel {
  let told = "";
  let agent = "";
  let before = "";
  let since = "";
  let lastAnswer: string | undefined;
  let sequence = 0;

  function say(text: string): void {
    told += text;
    agent += text;
    since += text;
    if (text !== "") lastAnswer = undefined;
  }

  /** The text without all earlier runs' text, which the first one after a resume may repeat. */
  function withoutRepeat(text: string): string {
    const news = before !== "" && text.startsWith(before) ? text.slice(before.length) : text;
    before = "";
    return news;
  }

  function answer(text: string): void {
    if (text === lastAnswer) return;
    const news = withoutRepeat(text) || text;
    if (news.startsWith(since)) say(news.slice(since.length));
    since = "";
    lastAnswer = text;
  }

  return {
    frame(frame) {
      if (frame.kind !== "status") return;
      const { iac, message, state } = frame.status;
      const { pipeline, tool, assistantFinal } = iac;
      if (isObject(pipeline)) {
        const at = integer(pipeline.sequence) ?? 0;
        if (at > sequence && pipeline.eventType === "text_delta" && isObject(pipeline.data)) told += pipeline.data.text;
        sequence = Math.max(sequence, at);
      }
      if (isObject(tool) && tool.status === "started") [since, lastAnswer] = ["", undefined];
      const isReason = isFinal(state) && state !== "COMPLETED";
      if (message?.role !== "ROLE_AGENT" || message.text === "" || isReason) return;
      if (isObject(assistantFinal)) answer(message.text);
      else say(withoutRepeat(message.text));
    },
    resume() {
      before = agent;
      since = "";
      lastAnswer = undefined;
    },
    get told() {
      return told;
    },
    get agent() {
      return agent;
    },
  };
}
