/** A kernel that opens things without an end: a run holds so much of it, then the kernel counts as broken. */
import assert from "node:assert/strict";
import { OPEN_SPANS, PIPELINE_SPEAKERS, RESUME_ENTRIES } from "../../src/limits.ts";
import { announce, answerText } from "../../src/mapping/interrupt.ts";
import type { Frame } from "../../src/kernel/wire.ts";
import { asks, BEGUN, envelope, permission, pipeline, tool } from "../support/kernel_frames.ts";
import { mappedRun } from "../support/mapped_run.ts";
import { strictThread } from "../support/strict_stream.ts";

const TABLE: readonly [what: string, most: number, frame: (at: number) => Frame][] = [
  ["calls that are never ended", OPEN_SPANS, (at) => tool(`call-${at}`, "started")],
  [
    "steps that are never completed",
    OPEN_SPANS,
    (at) => pipeline(envelope(at, "step_started", {}, { step: { id: `step-${at}` } })),
  ],
  [
    "steps that speak",
    PIPELINE_SPEAKERS,
    (at) => pipeline(envelope(at, "text_delta", { text: "x" }, { step: { id: `step-${at}`, runId: `run-${at}` } })),
  ],
  ["questions", RESUME_ENTRIES, (at) => asks(permission(`input-${at}`))],
];

for (const [what, most, frame] of TABLE) {
  Deno.test(`more ${what} than any run has are a broken kernel, and every span is closed`, () => {
    const run = mappedRun();
    run.accept(...BEGUN);
    for (let at = 1; at <= most - 10; at++) run.accept(frame(at));
    assert.notEqual(run.events.at(-1)?.type, "RUN_ERROR", "as many as there may be");
    for (let at = most - 9; at <= most + 10; at++) run.accept(frame(at));
    const last = run.events.at(-1);
    assert.deepEqual([last?.type, last?.code], ["RUN_ERROR", "A2A_PROTOCOL_ERROR"]);
    strictThread({ timestamps: false }).check(run.events);
  });
}

Deno.test("a question with thousands of options of one id is announced at once, and each can be chosen", () => {
  const count = 50_000;
  const options = Array.from({ length: count }, (_, at) => ({ id: "same", label: `label ${at}` }));
  const value = { kind: "ask_user_question", required: true, inputId: "q", prompt: "Which?", options };
  const began = performance.now();
  const interrupt = announce("q", { value, sideband: false, expiresAt: null }, "en");
  // Counting the copies of each anew takes a minute.
  assert.ok(performance.now() - began < 5_000);
  const ids = (interrupt.metadata?.standardOptions as { id: string }[]).map(({ id }) => id);
  assert.equal(new Set(ids).size, count);
  assert.deepEqual([ids[0], ids[1], ids.at(-1)], ["same", "same-2", `same-${count}`]);
  assert.equal(answerText(value, { selectedId: "same-777" }), "label 776");
});
