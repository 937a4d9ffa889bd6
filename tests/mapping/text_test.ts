/** docs/protocol.md, "Text and tools": segments of text and thought, repeats of the whole answer, pairs that were cut in two. */
import assert from "node:assert/strict";
import type { Frame } from "../../src/kernel/wire.ts";
import { BEGUN, ENDED, final, message, piece, status, thought, tool } from "../support/kernel_frames.ts";
import { mappedRun } from "../support/mapped_run.ts";
import { strictThread } from "../support/strict_stream.ts";

const started = (id: string): Frame => tool(id, "started");
const completed = (id: string): Frame => tool(id, "completed", { result: "ok" });

const TABLE: ReadonlyArray<{ title: string; frames: readonly Frame[]; lines: readonly string[] }> = [
  {
    title: "pieces are one message under the kernel's id",
    frames: [piece("Hello "), piece("there.")],
    lines: ["text task-1-message: Hello |there."],
  },
  {
    title: "a message id that does not name the task is made unique by it",
    frames: [piece("Hello", "m-7")],
    lines: ["text task-1:m-7: Hello"],
  },
  {
    title: "the first segment keeps the kernel's id when a thought came before it",
    frames: [thought("Hm."), piece("Hello", "task-1-words")],
    lines: ["thought task-1-reasoning: Hm.", "text task-1-words: Hello"],
  },
  {
    title: "an empty piece is nothing",
    frames: [piece(""), piece("Hello"), piece("")],
    lines: ["text task-1-message: Hello"],
  },
  {
    title: "the user's own message is not speech of the agent",
    frames: [status("WORKING", {}, message("my words", "m-1", "ROLE_USER"))],
    lines: [],
  },
  {
    title: "the prompt of a question is not speech of the agent",
    frames: [status("INPUT_REQUIRED", { input: { prompt: "Which one?" } }, message("Which one?"))],
    lines: [],
  },
  {
    title: "a tool closes the text, and what follows is a new message",
    frames: [piece("One."), started("call-1"), completed("call-1"), piece("Two."), started("call-2"), piece("Three.")],
    lines: [
      "text task-1-message: One.",
      "call call-1 list_files of task-1-message",
      "result call-1: ok",
      "text task-1-message.2: Two.",
      "call opens call-2 list_files of task-1-message.2",
      "text task-1-message.3: Three.",
      "call closes call-2",
    ],
  },
  {
    title: "calls one after the other belong to the same text, and to none after a result",
    frames: [piece("One."), started("call-1"), started("call-2"), completed("call-1"), started("call-3")],
    lines: [
      "text task-1-message: One.",
      "call opens call-1 list_files of task-1-message",
      "call opens call-2 list_files of task-1-message",
      "call closes call-1",
      "result call-1: ok",
      "call opens call-3 list_files",
      "call closes call-2",
      "call closes call-3",
    ],
  },
  {
    title: "a thought ends where text begins, and the other way round; later ones are new",
    frames: [thought("Hm. "), thought("So."), piece("One."), thought("But."), piece("Two.")],
    lines: [
      "thought task-1-reasoning: Hm. |So.",
      "text task-1-message: One.",
      "thought task-1-reasoning.2: But.",
      "text task-1-message.2: Two.",
    ],
  },
  {
    title: "a thought ends where a tool starts",
    frames: [thought("Hm."), started("call-1"), thought("Then.")],
    lines: [
      "thought task-1-reasoning: Hm.",
      "call opens call-1 list_files",
      "thought task-1-reasoning.2: Then.",
      "call closes call-1",
    ],
  },
  {
    title: "a thought that is not raw is not meant to be shown",
    frames: [status("WORKING", { thinking: { type: "summary", text: "Hm." } }), thought("")],
    lines: [],
  },
  {
    title: "the whole answer after its pieces is no second copy",
    frames: [piece("Hello "), piece("there."), final("Hello there.")],
    lines: ["text task-1-message: Hello |there."],
  },
  {
    title: "the whole answer without pieces is the text",
    frames: [final("Hello there.")],
    lines: ["text task-1-message: Hello there."],
  },
  {
    title: "the whole answer after a part of it gives the rest",
    frames: [piece("Hello "), final("Hello there.")],
    lines: ["text task-1-message: Hello |there."],
  },
  {
    title: "an answer that differs from what was streamed is not told beside it",
    frames: [piece("Hello "), final("Good bye.")],
    lines: ["text task-1-message: Hello "],
  },
  {
    title: "only what came since the last tool is part of the answer",
    frames: [piece("One."), started("call-1"), completed("call-1"), piece("Tw"), final("Two.")],
    lines: [
      "text task-1-message: One.",
      "call call-1 list_files of task-1-message",
      "result call-1: ok",
      "text task-1-message.2: Tw|o.",
    ],
  },
  {
    title: "the same answer told again is no second copy",
    frames: [final("Done."), final("Done.")],
    lines: ["text task-1-message: Done."],
  },
  {
    title: "the same answer after another tool is said again",
    frames: [final("Done."), started("call-1"), completed("call-1"), final("Done.")],
    lines: [
      "text task-1-message: Done.",
      "call call-1 list_files of task-1-message",
      "result call-1: ok",
      "text task-1-message.2: Done.",
    ],
  },
  {
    title: "a pair that was cut in two is joined",
    frames: [piece("a\ud83d"), piece("\ude00b"), thought("\ud83d"), thought("\ude00")],
    lines: ["text task-1-message: a|\ud83d\ude00b", "thought task-1-reasoning: \ud83d\ude00"],
  },
  {
    title: "half a pair whose other half never comes is replaced, wherever its text ends",
    frames: [piece("a\ud83d"), started("call-1"), piece("\ude00b"), thought("\ud83d"), piece("c\ud83d"), piece("d")],
    lines: [
      "text task-1-message: a|\ufffd",
      "call opens call-1 list_files of task-1-message",
      "text task-1-message.2: \ufffdb",
      "thought task-1-reasoning: \ufffd",
      "text task-1-message.3: c|\ufffdd",
      "call closes call-1",
    ],
  },
];

for (const { title, frames, lines } of TABLE) {
  Deno.test(`text: ${title}`, () => {
    const run = mappedRun();
    run.accept(...BEGUN, ...frames, ENDED);
    assert.deepEqual(run.lines(), [...lines, "success"]);
    strictThread({ timestamps: false }).check(run.events);
  });
}

Deno.test("text: an answer that is told while a question waits for it is not lost", () => {
  const run = mappedRun();
  run.accept(
    ...BEGUN,
    piece("Before. "),
    status("INPUT_REQUIRED", { assistantFinal: { complete: true } }, message("Before. After.")),
  );
  assert.deepEqual(run.lines(), ["text task-1-message: Before. |After.", "success"]);
});
