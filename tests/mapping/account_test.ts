/** docs/protocol.md, "A cut stream", "Resume": the task's own account, and text that the kernel repeats. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Frame } from "../../src/kernel/wire.ts";
import type { Thread } from "../../src/thread/thread.ts";
import {
  account,
  asks,
  BEGUN,
  ENDED,
  final,
  message,
  permission,
  piece,
  status,
  tool,
} from "../support/kernel_frames.ts";
import { mappedRun } from "../support/mapped_run.ts";

const said = (...pieces: string[]) => pieces.map((text) => message(text));
const answer = (text: string) => message(text, "task-1-2");

const CUT: ReadonlyArray<{ title: string; before: readonly Frame[]; account: Frame; lines: readonly string[] }> = [
  {
    title: "what was missed is told, and what was told is not told again",
    before: [piece("One "), piece("two ")],
    account: account("WORKING", said("One ", "two ", "three "), {}, message("four.")),
    lines: ["text task-1-message: One |two |three four."],
  },
  {
    title: "nothing was missed",
    before: [piece("One "), piece("two.")],
    account: account("WORKING", said("One "), {}, message("two.")),
    lines: ["text task-1-message: One |two."],
  },
  {
    title: "everything was missed",
    before: [],
    account: account("INPUT_REQUIRED", [...said("One ", "two."), answer("One two.")]),
    lines: ["text task-1-message: One two."],
  },
  {
    title: "an account that is behind takes nothing back",
    before: [piece("One "), piece("two.")],
    account: account("WORKING", said("One ")),
    lines: ["text task-1-message: One |two."],
  },
  {
    title: "what a whole answer added to its pieces is part of the account",
    before: [piece("One "), final("One two. ")],
    account: account("WORKING", [...said("One "), answer("One two. "), ...said("Three.")]),
    lines: ["text task-1-message: One |two. |Three."],
  },
  {
    title: "the current message is the answer when nothing was streamed",
    before: [],
    account: account("INPUT_REQUIRED", [], {}, answer("All at once.")),
    lines: ["text task-1-message: All at once."],
  },
  {
    title: "the prompt of a question is no answer",
    before: [],
    account: account("INPUT_REQUIRED", [], { input: { prompt: "Which?" } }, answer("Which?")),
    lines: [],
  },
  {
    title: "the user's messages and the tools of the gap are not in it",
    before: [piece("One.")],
    account: account("WORKING", [message("hi", "m-1", "ROLE_USER"), ...said("One.", "Two.")], {
      tool: { toolUseId: "call-1", status: "started", name: "x" },
      usage: { inputTokens: 5 },
    }),
    lines: ["text task-1-message: One.|Two."],
  },
  {
    title: "the user's words between the agent's are no part of it, though they begin as the agent's do",
    before: [piece("One ")],
    account: account("WORKING", [...said("One "), message("One more?", "m-2", "ROLE_USER"), answer("One two.")]),
    lines: ["text task-1-message: One |two."],
  },
];

for (const { title, before, account: told, lines } of CUT) {
  Deno.test(`account: ${title}`, () => {
    const run = mappedRun();
    run.accept(...BEGUN, ...before, told);
    if (run.mapper.phase === "open") run.accept(ENDED);
    assert.deepEqual(run.lines(), [...lines, "success"]);
    assert.deepEqual(run.notes, []);
  });
}

Deno.test("account: text before an error that the cut has swallowed is told, the reason is not", () => {
  const run = mappedRun();
  run.accept(...BEGUN, piece("One "), account("CANCELED", said("One ", "two."), {}, answer("Task canceled.")));
  assert.deepEqual(run.lines(), [
    "text task-1-message: One |two.",
    "error CANCELLED CANCELLED: Task canceled.",
  ]);
});

Deno.test("account: one that contradicts the stream is noted, and adds nothing", () => {
  const run = mappedRun();
  run.accept(...BEGUN, piece("One "), account("WORKING", said("Eins ", "zwei ")), ENDED);
  assert.deepEqual(run.lines(), ["text task-1-message: One ", "success"]);
  assert.deepEqual(run.notes, ["the task's history does not match its stream"]);
});

Deno.test("account: the id of the text that it tells stays the text's own, whatever id a later piece has", () => {
  const run = mappedRun();
  run.accept(...BEGUN, account("WORKING", said("One. ")), piece("Two. ", "m-7"));
  run.accept(account("WORKING", said("One. ", "Two. ", "Three.")), ENDED);
  assert.deepEqual(run.lines(), ["text task-1-message: One. |Two. |Three.", "success"]);
});

Deno.test("account: the first one of a new task names the user's message and says nothing", () => {
  const run = mappedRun();
  run.accept(account("WORKING", [message("hello", "m-1", "ROLE_USER")]), ENDED);
  assert.deepEqual(run.lines(), ["success"]);
});

/** A thread that waits at a question after the agent has said something. */
function askedAfter(...pieces: string[]): Thread {
  const run = mappedRun();
  run.accept(...BEGUN, ...pieces.map((text) => piece(text)), tool("call-1", "started"), asks(permission("question-1")));
  run.end({ cause: "interrupt", expiresAt: null });
  return run.thread;
}

const REPEATED: ReadonlyArray<{ title: string; frames: readonly Frame[]; lines: readonly string[] }> = [
  {
    title: "a piece with all earlier text and a new part gives the new part",
    frames: [piece("I will write. Written.")],
    lines: ["text task-1-message.ID: Written."],
  },
  {
    title: "new pieces are new",
    frames: [piece("Writ"), piece("ten.")],
    lines: ["text task-1-message.ID: Writ|ten."],
  },
  {
    title: "only the first piece may be a repeat",
    frames: [piece("So: "), piece("I will write. ")],
    lines: ["text task-1-message.ID: So: |I will write. "],
  },
  {
    title: "an answer with all earlier text gives the new part",
    frames: [final("I will write. Written.")],
    lines: ["text task-1-message.ID: Written."],
  },
  {
    title: "an answer that says the same again is said again",
    frames: [final("I will write. ")],
    lines: ["text task-1-message.ID: I will write. "],
  },
  {
    title: "an account with all earlier text gives what is new",
    frames: [account("WORKING", said("I will ", "write. ", "Written."))],
    lines: ["text task-1-message.ID: Written."],
  },
  {
    title: "the account of a kernel that was restarted holds new text only",
    frames: [piece("Writ"), account("WORKING", said("Writ", "ten."))],
    lines: ["text task-1-message.ID: Writ|ten."],
  },
  {
    title: "the message that an account ends with may be of the time before the question",
    frames: [account("WORKING", [], {}, answer("I will write. "))],
    lines: [],
  },
  {
    title: "a repeat and an account after it agree",
    frames: [piece("I will write. Writ"), account("WORKING", said("I will ", "write. ", "Writ", "ten."))],
    lines: ["text task-1-message.ID: Writ|ten."],
  },
];

for (const { title, frames, lines } of REPEATED) {
  Deno.test(`repeat: ${title}`, () => {
    const run = mappedRun({ runId: "run-2", resumes: askedAfter("I will ", "write. ") });
    run.answered("question-1", "digest");
    run.accept(...frames, ENDED);
    const id = createHash("sha256").update("run-2").digest("hex").slice(0, 12);
    assert.deepEqual(run.lines().map((line) => line.replace(id, "ID")), [...lines, "success"]);
    assert.deepEqual(run.notes, []);
  });
}

Deno.test("repeat: the Python adapter's digests are enough to cut a repeat off", () => {
  const digest = createHash("sha256").update("I will write. ").digest("hex");
  const waiting = askedAfter("I will write. ");
  const execution = { ...waiting.execution, shownText: [], textDigests: [digest] };
  const run = mappedRun({ runId: "run-2", resumes: { ...waiting, execution } });
  run.answered("question-1", "other");
  run.accept(piece("I will write. Written."), ENDED);
  assert.match(run.lines()[0] ?? "", /: Written\.$/);
});

Deno.test("repeat: text of three runs is known as one, in its order", () => {
  let thread = askedAfter("One. ");
  for (const [runId, next] of [["run-2", "Two. "], ["run-3", "Three. "]] as const) {
    const run = mappedRun({ runId, resumes: thread });
    run.answered([...thread.execution.pending.keys()][0] ?? "", "digest");
    run.accept(piece(next), asks(permission(`question-${runId}`, `call-${runId}`)));
    run.end({ cause: "interrupt", expiresAt: null });
    thread = run.thread;
  }
  const run = mappedRun({ runId: "run-4", resumes: thread });
  run.answered("question-run-3", "digest");
  run.accept(piece("One. Two. Three. Four."), status("COMPLETED"));
  assert.match(run.lines()[0] ?? "", /: Four\.$/);
});
