/** docs/protocol.md, "Pipelines": envelopes, steps and candidates, repeats and what was missed. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/json.ts";
import { stepName } from "../../src/mapping/pipeline.ts";
import {
  account,
  asks,
  BEGUN,
  candidate,
  ENDED,
  envelope,
  permission,
  pipeline,
  status,
} from "../support/kernel_frames.ts";
import { mappedRun } from "../support/mapped_run.ts";
import { strictThread } from "../support/strict_stream.ts";

const step = (id: string): JsonObject => ({ step: { id, runId: `step-${id}-1` } });
const text = (at: number, words: string, more?: JsonObject): JsonObject =>
  envelope(at, "text_delta", { text: words }, more);
const whole = { scope: "pipeline", step: null };
const PLAN = "pipeline:task-1:pipeline-1:step::step-plan-1";

const TABLE: ReadonlyArray<{ title: string; events: readonly JsonObject[]; lines: readonly string[] }> = [
  {
    title: "a step is a span around what happens in it",
    events: [envelope(1, "step_started"), text(2, "Plan"), text(3, "ning."), envelope(4, "step_completed")],
    lines: ["step plan", `text ${PLAN}: Plan|ning.`, "step over plan"],
  },
  {
    title: "a step that fails tells why before it is over",
    events: [envelope(1, "step_started"), text(2, "Hm."), envelope(3, "step_failed", { error: "no" })],
    lines: ["step plan", `text opens ${PLAN}: Hm.`, "pipeline 3 step_failed", `text closes ${PLAN}`, "step over plan"],
  },
  {
    title: "a step that ends without having begun is a span of no length",
    events: [envelope(1, "step_completed")],
    lines: ["step plan", "step over plan"],
  },
  {
    title: "a step that begins twice is open once; one that is left open is closed at the end",
    events: [envelope(1, "step_started"), envelope(2, "step_started"), envelope(3, "step_started", {}, step("more"))],
    lines: ["step plan", "step more", "step over more", "step over plan"],
  },
  {
    title: "an answer opens its step again",
    events: [envelope(1, "step_completed"), envelope(2, "input_received"), envelope(3, "step_completed")],
    lines: ["step plan", "step over plan", "step plan", "step over plan"],
  },
  {
    title: "parallel candidates have texts, thoughts and steps of their own",
    events: [
      envelope(1, "candidate_started", {}, { scope: "candidate", candidate: { id: "a" } }),
      envelope(2, "candidate_step_started", {}, candidate("a", "draw")),
      envelope(3, "candidate_step_started", {}, candidate("b", "draw")),
      text(4, "A1 ", candidate("a", "draw")),
      text(5, "B1 ", candidate("b", "draw")),
      text(6, "A2", candidate("a", "draw")),
      envelope(7, "thinking_delta", { type: "raw_thinking", text: "Hm." }, candidate("b", "draw")),
      envelope(8, "candidate_step_completed", {}, candidate("a", "draw")),
      envelope(9, "candidate_step_failed", {}, candidate("b", "draw")),
      envelope(10, "candidate_completed", {}, { scope: "candidate", candidate: { id: "a" } }),
    ],
    lines: [
      "pipeline 1 candidate_started",
      "step candidate:a:draw",
      "step candidate:b:draw",
      "text opens pipeline:task-1:pipeline-1:candidate_step:a-run:a-draw-run: A1 ",
      "text opens pipeline:task-1:pipeline-1:candidate_step:b-run:b-draw-run: B1 ",
      "text goes on pipeline:task-1:pipeline-1:candidate_step:a-run:a-draw-run: A2",
      "text closes pipeline:task-1:pipeline-1:candidate_step:b-run:b-draw-run",
      "thought opens pipeline-reasoning:task-1:pipeline-1:candidate_step:b-run:b-draw-run: Hm.",
      "text closes pipeline:task-1:pipeline-1:candidate_step:a-run:a-draw-run",
      "step over candidate:a:draw",
      "pipeline 9 candidate_step_failed",
      "thought closes pipeline-reasoning:task-1:pipeline-1:candidate_step:b-run:b-draw-run",
      "step over candidate:b:draw",
      "pipeline 10 candidate_completed",
    ],
  },
  {
    title: "a tool closes the text of its own step only, and has its input and result",
    events: [
      text(1, "A.", candidate("a", "draw")),
      text(2, "B.", candidate("b", "draw")),
      envelope(3, "tool_started", { toolUseId: "k1", toolName: "write_file", input: { a: 1 } }, candidate("a", "draw")),
      text(4, "More B.", candidate("b", "draw")),
      envelope(5, "tool_result", { toolUseId: "k1", toolName: "write_file", result: "ok" }, candidate("a", "draw")),
      envelope(6, "tool_started", { toolUseId: "k2" }, candidate("b", "draw")),
      envelope(7, "tool_started", { toolName: "no id" }),
    ],
    lines: [
      "text opens pipeline:task-1:pipeline-1:candidate_step:a-run:a-draw-run: A.",
      "text opens pipeline:task-1:pipeline-1:candidate_step:b-run:b-draw-run: B.",
      "text closes pipeline:task-1:pipeline-1:candidate_step:a-run:a-draw-run",
      'call k1 write_file of pipeline:task-1:pipeline-1:candidate_step:a-run:a-draw-run: {"a":1}',
      "text goes on pipeline:task-1:pipeline-1:candidate_step:b-run:b-draw-run: More B.",
      "result k1: ok",
      "text closes pipeline:task-1:pipeline-1:candidate_step:b-run:b-draw-run",
      "call k2 tool of pipeline:task-1:pipeline-1:candidate_step:b-run:b-draw-run",
    ],
  },
  {
    title: "an event that was told before is not told again, by its id or its number",
    events: [
      text(5, "five"),
      text(5, "five"),
      text(4, "four"),
      { ...text(6, "six"), eventId: "event-5" },
      text(7, " seven"),
    ],
    lines: [`text ${PLAN}: five| seven`],
  },
  {
    title: "text that is none is passed over",
    events: [
      envelope(1, "text_delta", { text: 5 }),
      envelope(2, "text_delta"),
      envelope(3, "text_delta", null),
      text(4, ""),
    ],
    lines: [],
  },
  {
    title: "what the reference does not list is not passed on",
    events: [
      envelope(1, "context_usage", { totalTokens: 5 }),
      envelope(2, "message_started", { messageId: "m" }),
      envelope(3, "backup_committed", {}, whole),
      envelope(4, "input_required", {}),
      envelope(5, "", {}),
    ],
    lines: [],
  },
];

for (const { title, events, lines } of TABLE) {
  Deno.test(`pipeline: ${title}`, () => {
    for (const frames of [events.map((event) => pipeline(event)), [pipeline(...events)]]) {
      const run = mappedRun();
      run.accept(...BEGUN, ...frames, ENDED);
      assert.deepEqual(run.lines(), [...lines, "success"], `in ${frames.length} frames`);
      strictThread({ timestamps: false }).check(run.events);
    }
  });
}

/** The reference, "iac-code.pipeline.v1". */
const LISTED = [
  "pipeline_started pipeline_resumed pipeline_completed pipeline_error pipeline_warning backup_blocked",
  "candidate_started candidate_completed candidate_failed candidate_interrupted candidate_restart_requested",
  "candidate_selected candidate_detail_shown candidate_step_failed",
  "sub_pipeline_started sub_pipeline_completed sub_step_failed step_failed",
  "stack_progress stack_instances_progress stack_current_changed",
  "cleanup_started cleanup_progress cleanup_completed cleanup_failed rollback_triggered rollback_completed",
  "context_compaction_started context_compacted context_compaction_failed fields_marked_stale",
  "diagram_shown mcp_status tool_progress",
].join(" ").split(" ");

Deno.test("pipeline: every event that the reference lists is passed on as it came", () => {
  const run = mappedRun();
  const events = LISTED.map((type, at) => envelope(at + 1, type, { at }, whole));
  run.accept(...BEGUN, ...events.map((event) => pipeline(event)), ENDED);
  const customs = run.events.filter(({ name }) => name === "iac-code.pipeline.v1");
  assert.deepEqual(customs.map(({ value }) => value), events);
  assert.equal(customs.length, 34);
});

Deno.test("pipeline: its usage is the run's", () => {
  const run = mappedRun();
  run.accept(...BEGUN, pipeline(envelope(1, "usage", { provider: "p", model: "m", inputTokens: 3.0 })), ENDED);
  assert.deepEqual((run.events.at(-1)?.usage as JsonObject[])[0]?.inputTokens, 3);
});

Deno.test("pipeline: its session is the run's when nothing else names one, alone or in a batch", () => {
  const event = envelope(1, "pipeline_started", {}, { ...whole, iacCodeSessionId: "session-9" });
  for (const told of [{ pipeline: event }, { pipelineBatch: { events: [event] } }]) {
    const run = mappedRun();
    run.accept(status("WORKING", { iacCodeSessionId: null, ...told }));
    const [session] = run.events.filter(({ name }) => name === "iac-code.session.v1");
    assert.equal((session?.value as JsonObject).sessionId, "session-9");
  }
});

/** A run that has come to a question in a step that is open. */
function atQuestion(): ReturnType<typeof mappedRun> {
  const run = mappedRun();
  run.accept(
    ...BEGUN,
    pipeline(envelope(1, "step_started")),
    pipeline(envelope(2, "candidate_step_started", {}, candidate("a", "draw"))),
    pipeline(text(3, "Asking.")),
    asks(permission("question-1")),
  );
  run.end({ cause: "interrupt", expiresAt: null });
  return run;
}

Deno.test("pipeline: open steps are kept, and opened again right after the next run's start", () => {
  const before = atQuestion();
  const { pipelineSequence, openSteps } = before.thread.execution;
  assert.deepEqual([pipelineSequence, openSteps], [3, ["step:plan", "candidate:a:draw"]]);
  assert.deepEqual(before.lines().slice(-3), ["step over candidate:a:draw", "step over plan", "asks question-1"]);
  const run = mappedRun({ runId: "run-2", resumes: before.thread });
  assert.deepEqual(run.lines(), ["step plan", "step candidate:a:draw"]);
  run.recover({ snapshot: undefined, events: [] });
  run.answered("question-1", "digest");
  run.accept(pipeline(envelope(4, "step_completed")), status("COMPLETED"));
  assert.deepEqual(run.lines().slice(-3), ["step over plan", "step over candidate:a:draw", "success"]);
});

Deno.test("pipeline: a step that is over is not kept, and not opened again", () => {
  const run = mappedRun();
  run.accept(
    ...BEGUN,
    pipeline(envelope(1, "step_started", {}, step("plan")), envelope(2, "step_started", {}, step("build"))),
    pipeline(envelope(3, "step_completed", {}, step("plan"))),
    asks(permission("question-1")),
  );
  run.end({ cause: "interrupt", expiresAt: null });
  assert.deepEqual(run.thread.execution.openSteps, ["step:build"]);
  assert.deepEqual(mappedRun({ runId: "run-2", resumes: run.thread }).lines(), ["step build"]);
});

Deno.test("pipeline: a snapshot comes first, then what was missed in its order, then only what is newer", () => {
  const run = mappedRun({ runId: "run-2", resumes: atQuestion().thread });
  const snapshot = { pipelineRunId: "pipeline-1", status: "running", nothing: null };
  run.recover({ snapshot, events: [text(3, "Asking."), text(4, "Missed "), text(5, "two. ")] });
  run.answered("question-1", "digest");
  run.accept(pipeline(text(5, "two. ")), pipeline(text(6, "New.")), status("COMPLETED"));
  assert.deepEqual(run.events.find(({ type }) => type === "ACTIVITY_SNAPSHOT"), {
    type: "ACTIVITY_SNAPSHOT",
    messageId: "pipeline:pipeline-1",
    activityType: "iac-code.pipeline.v1",
    content: { schemaVersion: 1, pipelineRunId: "pipeline-1", snapshot },
    replace: true,
  });
  const said = run.events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").map(({ delta }) => delta);
  assert.deepEqual(said, ["Missed ", "two. ", "New."]);
});

Deno.test("pipeline: a snapshot is shown once in a run, and not after the end", () => {
  const run = mappedRun();
  const snapshot = { pipelineRunId: "p" };
  const snapshots = () => run.events.filter(({ type }) => type === "ACTIVITY_SNAPSHOT").length;
  run.accept(...BEGUN);
  run.recover({ snapshot: undefined, events: [] });
  assert.equal(snapshots(), 0);
  run.recover({ snapshot, events: [] });
  run.recover({ snapshot, events: [] });
  assert.equal(snapshots(), 1);
  run.accept(ENDED);
  const { length } = run.events;
  run.recover({ snapshot, events: [text(1, "late")] });
  assert.equal(run.events.length, length);
});

Deno.test("pipeline: a snapshot that does not name its run is the context's", () => {
  const run = mappedRun({ runId: "run-2", resumes: atQuestion().thread });
  run.recover({ snapshot: {}, events: [] });
  assert.equal(run.events.at(-1)?.messageId, "pipeline:context-1");
});

Deno.test("pipeline: an account tells its last event when that is the next one, and no other", () => {
  const run = mappedRun();
  const told = (event: JsonObject): JsonObject => ({ pipeline: event });
  run.accept(...BEGUN, pipeline(text(1, "One. ")));
  run.accept(account("WORKING", [], told(text(1, "One. "))), account("WORKING", [], told(text(3, "Three. "))));
  run.accept(account("WORKING", [], told(text(2, "Two. "))), ENDED);
  assert.deepEqual(run.lines(), [`text ${PLAN}: One. |Two. `, "success"]);
});

Deno.test("pipeline: one that is over has no open steps", () => {
  for (const type of ["pipeline_completed", "pipeline_failed"]) {
    const run = mappedRun();
    run.accept(
      ...BEGUN,
      pipeline(envelope(1, "step_started")),
      pipeline(envelope(2, type, {}, whole)),
      status("COMPLETED"),
    );
    assert.deepEqual(run.thread.execution.openSteps, [], type);
  }
});

Deno.test("pipeline: a step's durable key gives its name", () => {
  assert.equal(stepName("step:plan"), "plan");
  assert.equal(stepName("step:step:plan"), "step:plan");
  assert.equal(stepName("candidate:a:draw"), "candidate:a:draw");
});

Deno.test("pipeline: the last of a run's reasons counts, the error's before its message", () => {
  const run = mappedRun();
  run.accept(
    ...BEGUN,
    pipeline(envelope(1, "step_failed", { error: "first" })),
    pipeline(envelope(2, "pipeline_error", { message: "second", error: "the error" }, whole)),
    pipeline(envelope(3, "step_failed", {})),
    status("FAILED"),
  );
  assert.equal(run.lines().at(-1), "error A2A_EXECUTION_FAILED A2A_EXECUTION_FAILED: the error");
});
