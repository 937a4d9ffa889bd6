/**
 * Text and reasoning of one speaker (the agent, or a step of a pipeline), cut into segments: a tool or a thought closes
 * the open text, and what follows is a new message with a new id (docs/protocol.md, "Text and tools"). Pure.
 */
import type { RunEvent } from "./event.ts";
import type { Spans } from "./spans.ts";
import { isHighSurrogate } from "./tally.ts";

export interface Speaker {
  /** A piece of text; an empty one is none. */
  say(delta: string): void;
  /** A piece of raw thinking. */
  think(delta: string): void;
  /** Closes text and thought for a tool call, and names the text segment that the call belongs to. */
  beforeTool(): string | undefined;
  /** A tool has answered: the next call belongs to no earlier segment. */
  afterTool(): void;
  close(): void;
}

/** What a speaker's ids are made of: the first segment's, asked for when it begins; the others are numbered. */
export interface SpeakerIds {
  readonly text: () => string;
  readonly reasoning: () => string;
  /** Keeps the ids of a resume run apart from those of the runs before it. */
  readonly run: string | undefined;
}

/** A speaker whose spans are kept in `spans` and whose pieces go to `emit`. */
export function createSpeaker(ids: SpeakerIds, spans: Spans, emit: (event: RunEvent) => void): Speaker {
  const text = createSegments(ids.text, ids.run);
  const reasoning = createSegments(ids.reasoning, ids.run);
  let parent: string | undefined;

  function closeText(): void {
    const rest = text.rest();
    if (rest !== "" && text.open !== undefined) {
      emit({ type: "TEXT_MESSAGE_CONTENT", messageId: text.open, delta: rest });
    }
    if (text.open !== undefined) spans.closeText(text.open);
    text.open = undefined;
  }

  function closeReasoning(): void {
    const rest = reasoning.rest();
    if (rest !== "" && reasoning.open !== undefined) {
      emit({ type: "REASONING_MESSAGE_CONTENT", messageId: reasoning.open, delta: rest });
    }
    if (reasoning.open !== undefined) spans.closeReasoning(reasoning.open);
    reasoning.open = undefined;
  }

  return {
    say(delta) {
      if (delta === "") return;
      if (reasoning.open !== undefined) closeReasoning();
      if (text.open === undefined) {
        text.open = parent = text.next();
        spans.openText(text.open);
      }
      const whole = text.join(delta);
      if (whole !== "") emit({ type: "TEXT_MESSAGE_CONTENT", messageId: text.open, delta: whole });
    },
    think(delta) {
      if (delta === "") return;
      if (text.open !== undefined) closeText();
      if (reasoning.open === undefined) {
        reasoning.open = reasoning.next();
        spans.openReasoning(reasoning.open);
      }
      const whole = reasoning.join(delta);
      if (whole !== "") emit({ type: "REASONING_MESSAGE_CONTENT", messageId: reasoning.open, delta: whole });
    },
    beforeTool() {
      closeReasoning();
      closeText();
      return parent;
    },
    afterTool() {
      if (text.open === undefined) parent = undefined;
    },
    close() {
      closeReasoning();
      closeText();
    },
  };
}

interface Segments {
  open: string | undefined;
  next(): string;
  /** The delta with a surrogate pair that was cut in two joined, and lone halves replaced. */
  join(delta: string): string;
  /** What is left of a pair whose other half never came. */
  rest(): string;
}

function createSegments(base: () => string, run: string | undefined): Segments {
  let first: string | undefined;
  let count = 0;
  let half = "";
  return {
    open: undefined,
    next() {
      first ??= run === undefined ? base() : `${base()}.${run}`;
      return ++count === 1 ? first : `${first}.${count}`;
    },
    join(delta) {
      const joined = half + delta;
      const cut = isHighSurrogate(joined, joined.length - 1);
      half = cut ? joined.slice(-1) : "";
      return (cut ? joined.slice(0, -1) : joined).toWellFormed();
    },
    rest() {
      const rest = half.toWellFormed();
      half = "";
      return rest;
    },
  };
}
