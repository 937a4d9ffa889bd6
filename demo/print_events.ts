/** AG-UI events as lines that a person can read while they arrive. */
import type { Event } from "@ag-ui/core";

export interface EventPrinter {
  /** What the user does, between the events. */
  heading(text: string): void;
  event(event: Event): void;
  /** Ends a line that is still open. */
  close(): void;
}

const NAME_WIDTH = 22;
const MAX_CHARS = 160;
const COLOURS = {
  heading: "1;36",
  text: "0",
  reasoning: "2;3",
  tool: "33",
  good: "32",
  bad: "31",
  other: "2",
} as const;

type Colour = keyof typeof COLOURS | "text";

/** Whether to colour: on a terminal, unless NO_COLOR says otherwise. */
export function wantsColour(): boolean {
  const isGranted = Deno.permissions.querySync({ name: "env", variable: "NO_COLOR" }).state === "granted";
  const isRefused = isGranted && (Deno.env.get("NO_COLOR") ?? "") !== "";
  return !isRefused && Deno.stdout.isTerminal();
}

/** A printer; `write` gets pieces of text, not whole lines. */
export function createEventPrinter(write: (piece: string) => void, colour: boolean): EventPrinter {
  /** The kind of event whose line is still open, so that its next piece goes on in it. */
  let open: string | undefined;

  function paint(text: string, as: Colour): string {
    return colour && text !== "" && as !== "text" ? `\x1b[${COLOURS[as]}m${text}\x1b[0m` : text;
  }

  function closeLine(): void {
    if (open !== undefined) write("\n");
    open = undefined;
  }

  function line(name: string, text: string, as: Colour): void {
    closeLine();
    write(`  ${paint(name.padEnd(NAME_WIDTH), "other")} ${paint(clean(shorten(text)), as)}`.trimEnd() + "\n");
  }

  function piece(name: string, text: string, as: Colour): void {
    if (open !== name) {
      closeLine();
      write(`  ${paint(name.padEnd(NAME_WIDTH), "other")} `);
      open = name;
    }
    write(paint(clean(text).replaceAll("\n", `\n${" ".repeat(NAME_WIDTH + 3)}`), as));
  }

  return {
    close: closeLine,
    heading(text) {
      closeLine();
      write(`\n${paint(clean(text), "heading")}\n`);
    },
    event(event) {
      switch (event.type) {
        case "TEXT_MESSAGE_CONTENT":
          return piece(event.type, event.delta, "text");
        case "REASONING_MESSAGE_CONTENT":
          return piece(event.type, event.delta, "reasoning");
        case "TOOL_CALL_ARGS":
          return piece(event.type, event.delta, "tool");
        default: {
          const [text, as] = describe(event);
          return line(event.type, text, as);
        }
      }
    },
  };
}

/** What an event says, and its colour. */
function describe(event: Event): [text: string, as: Colour] {
  switch (event.type) {
    case "TOOL_CALL_START":
      return [event.toolCallName, "tool"];
    case "TOOL_CALL_RESULT":
      return [typeof event.content === "string" ? event.content : JSON.stringify(event.content), "tool"];
    case "STEP_STARTED":
    case "STEP_FINISHED":
      return [event.stepName, "other"];
    case "CUSTOM":
      return [`${event.name} ${JSON.stringify(event.value)}`, "other"];
    case "RUN_STARTED":
      return [`run ${event.runId} of thread ${event.threadId}`, "other"];
    case "RUN_FINISHED":
      return describeEnd(event);
    case "RUN_ERROR":
      return [`${event.code ?? ""} ${event.message}`.trim(), "bad"];
    default:
      return ["", "other"];
  }
}

function describeEnd({ outcome, usage }: Extract<Event, { type: "RUN_FINISHED" }>): [text: string, as: Colour] {
  const spent = (usage ?? []).map(({ inputTokens = 0, outputTokens = 0 }) =>
    ` · ${inputTokens} in, ${outputTokens} out`
  );
  if (outcome?.type !== "interrupt") return [`${outcome?.type ?? "success"}${spent.join("")}`, "good"];
  const questions = outcome.interrupts.map(({ reason, message }) => `${reason}: ${message ?? ""}`);
  return [`interrupt · ${questions.join(" · ")}`, "tool"];
}

function shorten(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ");
  return flat.length > MAX_CHARS ? `${flat.slice(0, MAX_CHARS)}…` : flat;
}

/** A text without the characters that would steer a terminal. */
function clean(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n]/gu, " ");
}
