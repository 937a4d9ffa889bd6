/**
 * What the agent says, out of pieces, repeats of the whole answer, and the task's own account: each piece once and in its
 * order, whichever of them brings it first (docs/protocol.md, "Text and tools", "A cut stream"). Pure.
 */
import type { WireMessage } from "../kernel/wire.ts";
import type { ShownText } from "../thread/thread.ts";
import type { RunEvent } from "./event.ts";
import type { Spans } from "./spans.ts";
import { createTally, repeatedLength } from "./tally.ts";
import { createSpeaker, type Speaker } from "./text.ts";

export interface Speech {
  /** A piece of text, as the stream brings it. */
  piece(message: WireMessage): void;
  /** The whole answer, which pieces may have told: its rest, or all of it. */
  answer(whole: string): void;
  think(delta: string): void;
  /** A tool has started: the next answer does not begin with what was said before it. */
  breakOff(): void;
  /** The task's own account: the messages of its history, and its current one. What of it was never shown is said. */
  account(history: readonly WireMessage[], current: WireMessage | undefined): void;
  /** Who speaks, for the tools of the agent. */
  readonly speaker: Speaker;
  /** What this run has shown. */
  shown(): ShownText | undefined;
}

export interface SpeechStart {
  /** Known as soon as anything is said. */
  readonly taskId: () => string;
  /** Set in a resume run: what runs before it have shown. */
  readonly before: { readonly shown: readonly ShownText[]; readonly digests: readonly string[] } | undefined;
  /** As in SpeakerIds. */
  readonly run: string | undefined;
}

interface Outputs {
  readonly spans: Spans;
  readonly emit: (event: RunEvent) => void;
  readonly note: (note: string) => void;
}

/** The agent's speech in one run. */
export function createSpeech({ taskId, before, run }: SpeechStart, { spans, emit, note }: Outputs): Speech {
  /** The kernel's id of what is streamed. */
  let messageId: string | undefined;
  const shown = createTally();
  /** What came since the last tool or answer: before the first of them, all that was shown. */
  let current = shown;
  let lastAnswer: string | undefined;
  let maybeRepeat = before !== undefined;
  const base = (): string => messageId ?? `${taskId()}-message`;
  const speaker = createSpeaker({ text: base, reasoning: () => `${taskId()}-reasoning`, run }, spans, emit);

  function say(delta: string): void {
    if (delta === "") return;
    shown.add(delta);
    if (current !== shown) current.add(delta);
    lastAnswer = undefined;
    speaker.say(delta);
  }

  /** The length of what runs before this one have shown, when a text repeats it. */
  function repeated(text: string): number {
    return before ? repeatedLength(text, before.shown, before.digests) : 0;
  }

  function answer(whole: string): void {
    if (whole === lastAnswer) return;
    const again = maybeRepeat ? repeated(whole) : 0;
    // An answer that adds nothing to what was shown before is no repeat: somebody said the same again.
    const news = whole.length > again ? whole.slice(again) : whole;
    maybeRepeat = false;
    if (current.startsOff(news)) say(news.slice(current.length));
    current = createTally();
    lastAnswer = whole;
  }

  /** The kernel's message id, made unique to the task when it is not already. */
  function idWithin(id: string | undefined): string | undefined {
    return id === undefined || id.includes(taskId()) ? id : `${taskId()}:${id}`;
  }

  /** All that an account says was streamed, with what whole answers added to it. */
  function toldBy(pieces: readonly WireMessage[]): string {
    const streamed = base();
    let all = "";
    let since = "";
    for (const { role, text, messageId: id } of pieces) {
      if (role !== "ROLE_AGENT") continue;
      if (idWithin(id) === streamed) {
        all += text;
        since += text;
      } else {
        if (since !== "" && text.startsWith(since)) all += text.slice(since.length);
        since = "";
      }
    }
    return all;
  }

  return {
    piece(message) {
      if (message.text === "") return;
      messageId ??= idWithin(message.messageId);
      const again = maybeRepeat ? repeated(message.text) : 0;
      maybeRepeat = false;
      say(message.text.slice(again));
    },
    answer,
    think: (delta) => speaker.think(delta),
    breakOff() {
      current = createTally();
      lastAnswer = undefined;
    },
    account(history, latest) {
      const all = toldBy(latest ? [...history, latest] : history);
      if (all === "") {
        const isNews = !before && shown.length === 0 && latest?.role === "ROLE_AGENT" && latest.text !== "";
        return isNews ? answer(latest.text) : undefined;
      }
      messageId ??= base();
      const again = repeated(all);
      const news = all.slice(again);
      maybeRepeat = false;
      // An account may lag behind the stream.
      if (news.length < shown.length) return;
      if (shown.startsOff(news)) return say(news.slice(shown.length));
      if (!before || again > 0) note("the task's history does not match its stream");
    },
    speaker,
    shown: () => shown.shown(),
  };
}
