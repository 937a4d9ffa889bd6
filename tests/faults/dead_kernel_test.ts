/** A kernel that dies after each frame of a turn, and comes back with its tasks, without them, or not at all. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/json.ts";
import { hastyClock } from "../support/hasty_clock.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { say, type Script, type StandInKernel, startStandIn } from "../support/stand_in_kernel.ts";
import type { StandInTask } from "../support/stand_in_task.ts";

const WORDS = ["one ", "two ", "three "];

/** A turn with text and a tool in it, frame by frame. */
function frames(task: StandInTask): JsonObject[] {
  const [first = "", second = "", third = ""] = WORDS;
  const call = { toolUseId: "call-1", name: "list_files" };
  return [
    ...task.begin(),
    task.working({ thinking: { type: "raw_thinking", text: "hm" } }),
    task.text(first),
    task.text(second),
    task.working({ tool: { ...call, status: "started" } }),
    task.working({ tool: { ...call, status: "input_complete", toolInput: { path: "." } } }),
    task.working({ tool: { ...call, status: "completed", result: "a.txt" } }),
    task.text(third),
    ...task.finish(third),
  ];
}

const COUNT = 12;

async function afterEachFrame(
  story: (at: number, kernel: StandInKernel, server: TestServer) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < COUNT; at++) {
    await using kernel = startStandIn();
    await using server = await startServer(kernel.url, { edges: { clock: hastyClock() } });
    try {
      await story(at, kernel, server);
    } catch (error) {
      throw new Error(`after frame ${at}`, { cause: error });
    }
    kernel.up();
    assert.equal(
      (await (await server.run("thread", "run-2")).last()).type,
      "RUN_FINISHED",
      `the turn after frame ${at}`,
    );
  }
}

/** Sends the first frames of the turn, breaks, and does what comes then. */
function breaksAt(at: number, then: (task: StandInTask) => void = () => {}): Script {
  return async (call) => {
    await call.send(...frames(call.task).slice(0, at));
    await call.cut();
    then(call.task);
  };
}

Deno.test("the turn of these stories has the frames that are counted", () => {
  const task = { begin: () => [{}, {}, {}], finish: () => [{}, {}, {}], text: () => ({}), working: () => ({}) };
  assert.equal(frames(task as unknown as StandInTask).length, COUNT + 1);
});

Deno.test("a kernel that dies after any frame ends the run with A2A_UNAVAILABLE, its spans closed", () =>
  afterEachFrame(async (at, kernel, server) => {
    let down = Promise.resolve();
    kernel.turn(breaksAt(at, () => void (down = kernel.down())));
    const { type, code } = await (await server.run("thread", "run-1")).last();
    assert.deepEqual([type, code], ["RUN_ERROR", "A2A_UNAVAILABLE"]);
    await down;
  }));

Deno.test("a task that works on behind a cut is followed to its end, without a word lost or doubled", () =>
  afterEachFrame(async (at, kernel, server) => {
    kernel.turn(breaksAt(at));
    // What was said while nobody listened is in the task's history; what comes then is streamed.
    kernel.on("SubscribeToTask", async (call) => {
      const { task } = call;
      const rest = frames(task).slice(at);
      const missed = rest.slice(0, 2);
      for (const each of missed) task.remember(each);
      await call.send({ task: task.snapshot() }, ...rest.slice(2));
    });
    const run = await server.run("thread", "run-1");
    const { type, code } = await run.last();
    // Without a task there is nothing to follow, and sending again could do the work twice.
    if (at === 0) return assert.deepEqual([type, code], ["RUN_ERROR", "A2A_UNAVAILABLE"]);
    assert.equal(type, "RUN_FINISHED");
    assert.equal(run.text(), WORDS.join(""));
    assert.equal(kernel.got("SendStreamingMessage").length, 1);
    assert.equal(kernel.got("CancelTask").length, 0);
  }));

Deno.test("a task that ended behind a cut is told from the kernel's own account", () =>
  afterEachFrame(async (at, kernel, server) => {
    if (at === 0) return;
    kernel.turn(async (call) => {
      const all = frames(call.task);
      await call.send(...all.slice(0, at));
      for (const each of all.slice(at)) call.task.remember(each);
      await call.cut();
    });
    const run = await server.run("thread", "run-1");
    assert.equal((await run.last()).type, "RUN_FINISHED");
    assert.equal(run.text(), WORDS.join(""));
    assert.equal(kernel.got("SubscribeToTask").length, 0);
  }));

Deno.test("a kernel that comes back without its tasks ends the run with A2A_UNAVAILABLE, at once", () =>
  afterEachFrame(async (at, kernel, server) => {
    let back = Promise.resolve();
    kernel.turn(breaksAt(at, () => void (back = kernel.down({ forget: true }).then(() => kernel.up()))));
    const { type, code } = await (await server.run("thread", "run-1")).last();
    assert.deepEqual([type, code], ["RUN_ERROR", "A2A_UNAVAILABLE"]);
    await back;
  }));

Deno.test("a kernel that is down is waited for, for a moment: nothing was sent yet", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  await kernel.down();
  const run = await server.run("thread", "run-1");
  await run.until("RUN_STARTED");
  kernel.turn(say("Back."));
  kernel.up();
  assert.equal((await run.last()).type, "RUN_FINISHED");
  assert.equal(run.text(), "Back.");
});

Deno.test("a kernel that stays down ends the run with A2A_UNAVAILABLE", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url, { edges: { clock: hastyClock() } });
  await kernel.down();
  const { type, code } = await (await server.run("thread", "run-1")).last();
  assert.deepEqual([type, code], ["RUN_ERROR", "A2A_UNAVAILABLE"]);
});

Deno.test("a kernel whose streams break again and again is given up in the end", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url, { edges: { clock: hastyClock() } });
  kernel.turn(breaksAt(5));
  kernel.on("SubscribeToTask", async (call) => {
    await call.send({ task: call.task.snapshot() });
    await call.cut();
  });
  const { type, code } = await (await server.run("thread", "run-1")).last();
  assert.deepEqual([type, code], ["RUN_ERROR", "A2A_UNAVAILABLE"]);
  await kernel.called("CancelTask");
});
