/**
 * The stream of a permission's answer is lost after the kernel has taken the answer: the task's account stands still, a
 * subscription is silent, and what becomes of the turn is in the kernel's session only (docs/protocol.md, "A cut stream").
 */
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/json.ts";
import { hastyClock } from "../support/hasty_clock.ts";
import type { RunReader } from "../support/run_reader.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { askPermission, say, type StandInKernel, startStandIn } from "../support/stand_in_kernel.ts";

const ALLOW: JsonObject[] = [{ interruptId: "permission-1", status: "resolved", payload: { decision: "allow_once" } }];
const CALL = "call-permission-1";

/** How the execution stands each time it is asked for, the last one from then on; undefined: the kernel knows of none. */
type Stand = { readonly status: string; readonly alive: boolean } | undefined;
const WORKING: Stand = { status: "working", alive: true };
const ENDING: Stand = { status: "input-required", alive: true };
const OVER: Stand = { status: "input-required", alive: false };

const asked: JsonObject[] = [
  { role: "user", content: "An older question" },
  { role: "assistant", content: [{ type: "text", text: "An older answer" }] },
  { role: "user", content: "hello" },
  {
    role: "assistant",
    content: [{ type: "text", text: "May I? " }, { type: "tool_use", id: CALL, name: "write_file" }],
  },
];
const result = (id: string, content: string): JsonObject => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content, is_error: false }],
});
const answered: JsonObject[] = [...asked, result(CALL, "written"), { role: "assistant", content: "Done." }];

/** A kernel whose answer stream breaks after its first frame; how the turn stands then, and its session, look by look. */
function loseStream(kernel: StandInKernel, stands: readonly Stand[], ...sessions: readonly JsonObject[][]): void {
  kernel.turn(askPermission(), async (call) => {
    const question = call.task.snapshot();
    kernel.on("GetTask", (later) => later.reply(question));
    await call.send(call.task.working({ inputReceived: { kind: "permission", inputId: "permission-1" } }));
    await call.cut();
    const nextStand = oneByOne(stands);
    const nextSession = oneByOne(sessions);
    kernel.on("execution-state", async (later) => {
      const stand = nextStand();
      if (!stand) return await later.answer(404, "application/json", "{}");
      const { status, alive } = stand;
      const state = { executionId: "exec-1", taskId: call.task.id, executionStatus: status, streamAvailable: alive };
      await later.answer(200, "application/json", JSON.stringify(state));
    });
    kernel.on("session-recovery", (later) => {
      assert.equal(later.params.executionId, "exec-1");
      return later.answer(200, "application/json", JSON.stringify({ messages: nextSession() ?? [] }));
    });
  });
}

/** Each item in turn; the last one from then on. */
function oneByOne<T>(items: readonly T[]): () => T | undefined {
  const left = [...items];
  return () => left.length > 1 ? left.shift() : left[0];
}

async function resumed(server: TestServer): Promise<RunReader> {
  await (await server.run("thread", "run-1")).last();
  const run = await server.run("thread", "run-2", { resume: ALLOW });
  await run.last();
  return run;
}

/** What a run told beside its session. */
function told({ events }: RunReader): string[] {
  return events.filter(({ type }) => type !== "CUSTOM").map(({ type, toolCallId, delta, content, code }) =>
    [type, toolCallId, delta ?? content, code].filter((part) => part !== undefined).join(" ")
  );
}

for (
  const [how, stands] of [
    ["that works on for a while", [WORKING, WORKING, OVER]],
    ["whose last request is still being wound up", [WORKING, ENDING]],
    ["that is over already", [OVER]],
  ] as const
) {
  Deno.test(`a turn ${how} is told from the session: the tool's result, and the text once`, async () => {
    await using kernel = startStandIn();
    await using server = await startServer(kernel.url, { edges: { clock: hastyClock() } });
    loseStream(kernel, stands, answered);
    const run = await resumed(server);
    assert.deepEqual(told(run), [
      "RUN_STARTED",
      `TOOL_CALL_RESULT ${CALL} written`,
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT Done.",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    assert.equal(kernel.got("SendStreamingMessage").length, 2, "the answer was sent once");
    assert.equal(kernel.got("SubscribeToTask").length, 0);
  });
}

Deno.test("calls that nobody heard of stand between the texts where they were made", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url, { edges: { clock: hastyClock() } });
  const look = { type: "tool_use", id: "call-2", name: "list_files", input: { path: "." } };
  loseStream(kernel, [OVER], [
    ...asked,
    result(CALL, "written"),
    { role: "assistant", content: [{ type: "text", text: "Now look. " }, look] },
    result("call-2", "a.txt"),
    { role: "assistant", content: [{ type: "text", text: "Done." }] },
  ]);
  assert.deepEqual(told(await resumed(server)), [
    "RUN_STARTED",
    `TOOL_CALL_RESULT ${CALL} written`,
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT Now look. ",
    "TEXT_MESSAGE_END",
    "TOOL_CALL_START call-2",
    'TOOL_CALL_ARGS call-2 {"path":"."}',
    "TOOL_CALL_END call-2",
    "TOOL_CALL_RESULT call-2 a.txt",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT Done.",
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
  ]);
});

Deno.test("an answer that the kernel has not begun on is waited for, though its session ends with the question", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url, { edges: { clock: hastyClock() } });
  loseStream(kernel, [ENDING], asked, asked, answered);
  const run = await resumed(server);
  assert.equal(run.events.at(-1)?.type, "RUN_FINISHED");
  assert.equal(run.text(), "Done.");
});

const asksAgain = { role: "assistant", content: [{ type: "tool_use", id: "call-2", name: "bash" }] };
const BROKEN: readonly { what: string; messages: JsonObject[]; code: string }[] = [
  {
    what: "asks about its next tool, when nobody has heard how to answer, is given up",
    messages: [...asked, result(CALL, "written"), asksAgain],
    code: "EXECUTION_LOST",
  },
  {
    what: "has broken off at the model has failed",
    messages: [...asked, result(CALL, "written")],
    code: "A2A_EXECUTION_FAILED",
  },
];

for (const { what, messages, code } of BROKEN) {
  Deno.test(`a turn that ${what}, its task is cancelled, and the next message works`, async () => {
    await using kernel = startStandIn();
    await using server = await startServer(kernel.url, { edges: { clock: hastyClock() } });
    loseStream(kernel, [WORKING, OVER], messages);
    const run = await resumed(server);
    const { type, code: ended } = run.events.at(-1) ?? {};
    assert.deepEqual([type, ended], ["RUN_ERROR", code]);
    assert.ok(told(run).includes(`TOOL_CALL_RESULT ${CALL} written`));
    await kernel.called("CancelTask");
    kernel.turn(say("Here I am."));
    const next = await server.run("thread", "run-3");
    assert.equal((await next.last()).type, "RUN_FINISHED");
    assert.equal(next.text(), "Here I am.");
  });
}

/** A kernel whose task has an answer that nobody has heard of, so that the thread's file still has the question. */
function takenUnheard(kernel: StandInKernel, known: boolean, active: boolean): void {
  kernel.turn(askPermission());
  kernel.on("GetTask", (call) => call.reply(call.task.snapshot()));
  kernel.on("execution-state", async ({ answer }) => {
    const [taskId = ""] = kernel.tasks.keys();
    const state = { executionId: "exec-1", taskId, executionStatus: "working", streamAvailable: true };
    await answer(known ? 200 : 404, "application/json", JSON.stringify(known ? state : {}));
  });
  kernel.on("SubscribeToTask", async (call) => {
    if (!active) return await call.fail(-32001, "Task is not active");
    await call.send({ task: call.task.snapshot() });
  });
}

async function answerUnheard(kernel: StandInKernel, server: TestServer): Promise<RunReader> {
  await (await server.run("thread", "run-1")).last();
  const [asked] = kernel.got("SendStreamingMessage");
  assert.ok(asked);
  asked.task.remember(asked.task.working({}));
  const run = await server.run("thread", "run-2", { resume: ALLOW });
  await run.last();
  return run;
}

for (const [who, known, active] of [["is carrying it out", true, false], ["does not tell", false, true]] as const) {
  Deno.test(`a permission is given again to a kernel that has it and ${who}: it counts once`, async () => {
    await using kernel = startStandIn();
    await using server = await startServer(kernel.url, { edges: { clock: hastyClock() } });
    takenUnheard(kernel, known, active);
    const run = await answerUnheard(kernel, server);
    assert.equal(run.events.at(-1)?.type, "RUN_FINISHED");
    assert.equal(kernel.got("SendStreamingMessage").length, 2);
  });
}

Deno.test("a permission is not given again to a kernel that died over it, and the user can give it up", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url, { edges: { clock: hastyClock() } });
  takenUnheard(kernel, false, false);
  const { type, code } = (await answerUnheard(kernel, server)).events.at(-1) ?? {};
  assert.deepEqual([type, code], ["RUN_ERROR", "EXECUTION_LOST"]);
  assert.equal(kernel.got("SendStreamingMessage").length, 1, "the tool may have run");
  const givenUp = await server.run("thread", "run-3", {
    resume: [{ interruptId: "permission-1", status: "cancelled" }],
  });
  assert.deepEqual((await givenUp.last()).outcome, { type: "success" });
  assert.equal((await (await server.run("thread", "run-4")).last()).type, "RUN_FINISHED");
});
