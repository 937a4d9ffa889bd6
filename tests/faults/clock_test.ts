/** The time of day jumps; interrupts expire by it, and nothing else depends on it. */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../src/json.ts";
import { type ShiftedClock, shiftedClock } from "../support/fake_clock.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { askPermission, say, type Script, type StandInKernel, startStandIn } from "../support/stand_in_kernel.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const allow: JsonObject[] = [{ interruptId: "permission-1", status: "resolved", payload: { decision: "allow_once" } }];
const giveUp: JsonObject[] = [{ interruptId: "permission-1", status: "cancelled" }];

interface Story {
  readonly clock: ShiftedClock;
  readonly kernel: StandInKernel;
  readonly server: TestServer;
  /** The interrupt as it was announced. */
  readonly interrupt: JsonObject;
}

/** A thread that waits for an answer, and a clock that can be set. */
function expiryTest(title: string, interruptTtlMs: number, test: (story: Story) => Promise<void>): void {
  Deno.test(title, async () => {
    await using kernel = startStandIn();
    const clock = shiftedClock();
    await using server = await startServer(kernel.url, { interruptTtlMs, edges: { clock } });
    kernel.turn(askPermission());
    const { outcome } = await (await server.run("thread", "run-1")).last();
    assert.ok(isObject(outcome) && Array.isArray(outcome.interrupts));
    const [interrupt] = outcome.interrupts;
    assert.ok(isObject(interrupt));
    await test({ clock, kernel, server, interrupt });
  });
}

async function answered({ server }: Story, runId = "run-2"): Promise<void> {
  const run = await server.run("thread", runId, { resume: allow });
  assert.equal((await run.last()).type, "RUN_FINISHED");
  assert.equal(run.text(), "Done.");
}

async function refused({ server }: Story, code: string): Promise<void> {
  const response = await server.post(JSON.stringify(server.input("thread", "run-late", { resume: allow })));
  assert.equal(response.status, 409);
  assert.equal((await response.json()).error.code, code);
}

async function pendingOnDisk({ server }: Story): Promise<string[]> {
  const { execution } = await server.file("thread");
  assert.ok(isObject(execution) && isObject(execution.pending));
  return Object.keys(execution.pending);
}

const TTL_MS = 540_000;

expiryTest(
  "a clock that jumps an hour ahead past the expiry expires the interrupt, and its task is cancelled",
  TTL_MS,
  async (story) => {
    story.clock.shift(HOUR_MS);
    assert.deepEqual(await pendingOnDisk(story), ["permission-1"], "nothing happens by itself");
    await refused(story, "EXECUTION_EXPIRED");
    assert.deepEqual(await pendingOnDisk(story), []);
    await story.kernel.called("CancelTask");
    assert.equal((await (await story.server.run("thread", "run-3")).last()).type, "RUN_FINISHED");
  },
);

expiryTest("what has expired once does not come back when the clock jumps back", TTL_MS, async (story) => {
  story.clock.shift(HOUR_MS);
  await refused(story, "EXECUTION_EXPIRED");
  story.clock.shift(-HOUR_MS);
  const run = await story.server.run("thread", "run-4", { resume: giveUp });
  assert.deepEqual((await run.last()).outcome, { type: "success" });
  assert.equal((await (await story.server.run("thread", "run-5")).last()).type, "RUN_FINISHED");
});

expiryTest("a jump ahead and back again before the answer changes nothing", TTL_MS, async (story) => {
  story.clock.shift(HOUR_MS);
  story.clock.shift(0);
  await answered(story);
});

expiryTest("a clock that jumps an hour back leaves the interrupt answerable", TTL_MS, async (story) => {
  story.clock.shift(-HOUR_MS);
  await answered(story);
});

expiryTest("an expired interrupt gives way to a new message", TTL_MS, async (story) => {
  story.clock.shift(TTL_MS + 1_000);
  const run = await story.server.run("thread", "run-2");
  assert.equal((await run.last()).type, "RUN_FINISHED");
  await story.kernel.called("CancelTask");
});

expiryTest("an interrupt with a TTL of 0 says no expiry, and is answerable after ten years", 0, async (story) => {
  assert.ok(!("expiresAt" in story.interrupt));
  story.clock.shift(3_650 * DAY_MS);
  await answered(story);
});

expiryTest("an interrupt with a TTL of 30 days is answerable on the last of them", 30 * DAY_MS, async (story) => {
  const left = Date.parse(String(story.interrupt.expiresAt)) - Date.now();
  assert.ok(Math.abs(left - 30 * DAY_MS) < 60_000, `${story.interrupt.expiresAt}`);
  story.clock.shift(30 * DAY_MS - 60_000);
  await answered(story);
});

expiryTest("and no longer after that", 30 * DAY_MS, async (story) => {
  story.clock.shift(30 * DAY_MS + 60_000);
  await refused(story, "EXECUTION_EXPIRED");
});

for (const [where, shift] of [["ahead", HOUR_MS], ["back", -HOUR_MS]] as const) {
  Deno.test(`waits are not measured by the time of day: a refused run goes on when the clock jumps an hour ${where}`, async () => {
    await using kernel = startStandIn();
    const clock = shiftedClock();
    await using server = await startServer(kernel.url, { edges: { clock } });
    const refuse: Script = async ({ send, task }) => {
      clock.shift(shift);
      await send(task.milestone("FAILED", "Task is already working."));
    };
    kernel.turn(({ send, task }) => send(task.milestone("FAILED", "Task is already working.")), refuse, say("Here."));
    const run = await server.run("thread", "run-1");
    assert.equal((await run.last()).type, "RUN_FINISHED");
    assert.equal(run.text(), "Here.");
  });

  Deno.test(`a question whose clock jumps an hour ${where} while it is gathered is announced`, async () => {
    await using kernel = startStandIn();
    const clock = shiftedClock();
    await using server = await startServer(kernel.url, { edges: { clock } });
    kernel.turn(async (call) => {
      const { task } = call;
      await call.send(...task.begin(), ...task.permission("permission-1"));
      clock.shift(shift);
      await call.gone;
    });
    const { outcome } = await (await server.run("thread", "run-1")).last();
    assert.ok(isObject(outcome));
    assert.equal(outcome.type, "interrupt");
  });
}
