/** What a story can do in a turn: speak, think, use tools, ask. Each verb writes the frames that the kernel writes. */
import type { JsonObject } from "../src/json.ts";
import {
  artifactUpdate,
  assistantFinal,
  milestone,
  permissionDisplay,
  permissionInput,
  session,
  statusUpdate,
  textArtifact,
  textPiece,
  thinkingPiece,
  type ToolCall,
  toolFrame,
  toolInput,
  toolInputDelta,
  usage,
  working,
} from "./frames.ts";
import { type Pace, Stopped } from "./pace.ts";
import { type DemoTask, endStreams, publish } from "./tasks.ts";

export const WORD_MS = 25;
export const TOOL_MS = 200;
/** What a tool answers that the user did not allow. */
export const DENIED = "The user explicitly denied this tool operation. Do not retry it unless the user asks again.";

export interface Turn {
  readonly task: DemoTask;
  pause(ms: number): Promise<void>;
  breathe(): Promise<void>;
  /** Speaks word by word. */
  say(text: string, gapMs?: number): Promise<void>;
  /** One piece of text, at once. */
  saySoon(piece: string): void;
  think(text: string): Promise<void>;
  /** Announces calls of tools, side by side. */
  call(...calls: ToolCall[]): Promise<void>;
  /** What a tool answered; a text artifact is published before it. */
  result(call: ToolCall, result: string, more?: { failed?: boolean; artifact?: JsonObject }): Promise<void>;
  /** Publishes an artifact and returns its summary for the tool's result. */
  artifact(name: string, content: string): Promise<JsonObject>;
  /** Asks whether a call may run; `words` replace what the user is told. */
  permission(call: ToolCall, target: string, words?: JsonObject): Promise<boolean>;
  /** Puts a question that stops the task until it is answered. */
  ask(frame: JsonObject, input: JsonObject): Promise<string>;
  /** Puts a question beside the work. */
  askBeside(frame: JsonObject, input: JsonObject): Promise<string>;
  /** Ends the turn as the kernel does: usage, the whole answer once more, INPUT_REQUIRED. */
  finish(): void;
  /** Ends the task in FAILED. */
  fail(reason: string): void;
  /** Ends the task as the death of its process does. */
  die(): void;
}

/** The verbs for one task; `die` is what its death takes. */
export function takeTurn(task: DemoTask, pace: Pace, die: () => void): Turn {
  const { signal } = task.stopped;
  const pause = (ms: number): Promise<void> => pace.pause(ms, signal);
  const { say, saySoon, think, spend, answer } = speak(task, pause);
  return {
    task,
    pause,
    breathe: () => pace.breathe(signal),
    say,
    saySoon,
    think,
    async call(...calls) {
      for (const call of calls) {
        await pause(WORD_MS);
        publish(task, toolFrame(task, call, { status: "started" }));
        publish(task, toolInputDelta(task, call));
      }
      for (const call of calls) publish(task, toolInput(task, call));
      spend();
      answer.length = 0;
    },
    ...toolEnds(task, pause),
    ask: (frame, input) => ask(task, frame, input),
    askBeside: (frame, input) => askBeside(task, frame, input),
    finish() {
      spend();
      if (answer.length > 0) publish(task, assistantFinal(task, answer.join("")));
      publish(task, milestone(task, "INPUT_REQUIRED"));
      endStreams(task);
    },
    fail(reason) {
      publish(task, milestone(task, "FAILED", reason));
      endStreams(task);
    },
    die,
  };
}

interface Speech extends Pick<Turn, "say" | "saySoon" | "think"> {
  /** Publishes what the words since the last time have cost. */
  spend(): void;
  /** The pieces spoken since the last tool. */
  readonly answer: string[];
}

function speak(task: DemoTask, pause: Turn["pause"]): Speech {
  const answer: string[] = [];
  let words = 0;
  function saySoon(piece: string): void {
    answer.push(piece);
    words++;
    publish(task, textPiece(task, piece));
  }
  return {
    answer,
    saySoon,
    async say(text, gapMs = WORD_MS) {
      for (const word of wordsOf(text)) {
        await pause(gapMs);
        saySoon(word);
      }
    },
    async think(text) {
      for (const word of wordsOf(text)) {
        await pause(WORD_MS);
        words++;
        publish(task, thinkingPiece(task, word));
      }
    },
    spend() {
      publish(task, usage(task, Math.max(words, 1)));
      words = 0;
    },
  };
}

/** What comes of a call: a question whether it may run, its artifact, its result. */
function toolEnds(task: DemoTask, pause: Turn["pause"]): Pick<Turn, "permission" | "artifact" | "result"> {
  return {
    async permission(call, target, words = {}) {
      const input = permissionInput(task, { ...permissionDisplay(call, target), ...words });
      const permission = { pending: true, autoApproved: false, toolName: call.name, toolUseId: call.id };
      const frame = statusUpdate(task, "INPUT_REQUIRED", { ...session(task), input, permission });
      const decision = await ask(task, frame, input);
      const { inputId = "" } = input;
      publish(task, working(task, { inputReceived: { kind: "permission", inputId, toolUseId: call.id } }));
      return decision === "allow_once";
    },
    async artifact(name, content) {
      const { artifact, summary } = await textArtifact(name, content);
      publish(task, artifactUpdate(task, artifact));
      return summary;
    },
    async result(call, result, { failed = false, artifact } = {}) {
      await pause(TOOL_MS);
      const status = failed ? "failed" : "completed";
      publish(task, toolFrame(task, call, { status, result, ...(artifact && { artifact }) }));
    },
  };
}

/** A text's words, each with the white space behind it. */
export function wordsOf(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}

/** The streams end where the task stops to wait, as the recorded ones do. */
async function ask(task: DemoTask, frame: JsonObject, input: JsonObject): Promise<string> {
  const answer = awaitAnswer(task, input, false);
  publish(task, frame);
  endStreams(task);
  return await answer;
}

async function askBeside(task: DemoTask, frame: JsonObject, input: JsonObject): Promise<string> {
  const answer = awaitAnswer(task, input, true);
  publish(task, frame);
  return await answer;
}

function awaitAnswer(task: DemoTask, input: JsonObject, sideband: boolean): Promise<string> {
  const { signal } = task.stopped;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Stopped());
    const stop = (): void => reject(new Stopped());
    signal.addEventListener("abort", stop, { once: true });
    const id = String(input.inputId);
    task.questions.set(id, {
      input,
      sideband,
      answer(value) {
        task.questions.delete(id);
        signal.removeEventListener("abort", stop);
        resolve(value);
      },
    });
  });
}
