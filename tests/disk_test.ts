/** A disk that fails at each moment at which something has to be durable, and works again without a restart. */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../src/json.ts";
import {
  canMount,
  type Disk,
  type DiskKind,
  fullByCalls,
  fullTmpfs,
  readOnlyTmpfs,
  refusedCalls,
} from "./support/disks.ts";
import { startServer, type TestServer } from "./support/server.ts";
import { afterPermission, askPermission, say, type StandInKernel, startStandIn } from "./support/stand_in_kernel.ts";

const KINDS: readonly DiskKind[] = [fullByCalls, refusedCalls, ...(canMount() ? [fullTmpfs, readOnlyTmpfs] : [])];
const allow: JsonObject[] = [{ interruptId: "permission-1", status: "resolved", payload: { decision: "allow_once" } }];
const giveUp: JsonObject[] = [{ interruptId: "permission-1", status: "cancelled" }];

interface Story {
  readonly disk: Disk;
  readonly kernel: StandInKernel;
  readonly server: TestServer;
}

function diskTest(title: string, test: (story: Story) => Promise<void>): void {
  for (const kind of KINDS) {
    Deno.test(`${kind.name}: ${title}`, async () => {
      await using disk = await kind.open();
      await using kernel = startStandIn();
      const { stateDir, fs } = disk;
      await using server = await startServer(kernel.url, { stateDir, ...(fs && { edges: { fs } }) });
      await test({ disk, kernel, server });
      const files = await Array.fromAsync(Deno.readDir(server.threads), ({ name }) => name);
      assert.deepEqual(files, ["thread.json"], "no temp file is left");
      assert.equal(server.services.registry.size, 0, "the thread is free");
    });
  }
}

/** The run ends with STATE_PERSISTENCE_FAILED, and its task is cancelled. */
async function endsUnsaved({ kernel, server }: Story, runId: string, resume?: JsonObject[]): Promise<JsonObject[]> {
  const run = await server.run("thread", runId, resume && { resume });
  const { type, code } = await run.last();
  assert.deepEqual([type, code], ["RUN_ERROR", "STATE_PERSISTENCE_FAILED"]);
  const task = kernel.got("SendStreamingMessage").at(-1)?.task;
  assert.equal((await kernel.called("CancelTask")).params.id, task?.id);
  return run.events;
}

async function succeeds({ server }: Story, runId: string): Promise<void> {
  assert.deepEqual((await (await server.run("thread", runId)).last()).outcome, { type: "success" }, runId);
}

const names = (events: readonly JsonObject[]): unknown[] => events.map(({ type, name }) => name ?? type);

diskTest("before admission it is 503, nothing has happened, and the same request works afterwards", async (story) => {
  const { disk, kernel, server } = story;
  await succeeds(story, "run-1");
  const before = await server.file("thread");
  await disk.fail();
  const response = await server.post(JSON.stringify(server.input("thread", "run-2")));
  assert.equal(response.status, 503);
  assert.equal((await response.json()).error.code, "STATE_UNAVAILABLE");
  const unknown = await server.post(JSON.stringify(server.input("new thread", "run-1")));
  assert.equal(unknown.status, 503);
  await unknown.body?.cancel();
  assert.equal(kernel.got("SendStreamingMessage").length, 1);
  assert.deepEqual(await server.file("thread"), before);
  await disk.heal();
  await succeeds(story, "run-2");
});

diskTest("before the session event nothing is announced", async (story) => {
  const { disk, kernel } = story;
  kernel.turn(async (call) => {
    await disk.fail();
    await call.send(...call.task.begin(), call.task.text("Working. "));
    await call.gone;
  });
  const events = await endsUnsaved(story, "run-1");
  assert.deepEqual(names(events), ["RUN_STARTED", "RUN_ERROR"]);
  await disk.heal();
  await succeeds(story, "run-2");
});

diskTest("before an interrupt it is not announced, and the next turn is not asked to answer it", async (story) => {
  const { disk, kernel, server } = story;
  kernel.turn(async (call) => {
    await call.send(...call.task.begin(), call.task.text("May I? "));
    while (!await isKnown(server, call.task.id)) await new Promise((resolve) => setTimeout(resolve, 5));
    await disk.fail();
    await call.send(...call.task.permission("permission-1"));
    await call.gone;
  });
  const events = await endsUnsaved(story, "run-1");
  assert.ok(names(events).includes("iac-code.session.v1"));
  await disk.heal();
  const { execution } = await server.file("thread");
  assert.ok(isObject(execution));
  assert.deepEqual(execution.pending, {});
  await succeeds(story, "run-2");
});

async function isKnown(server: TestServer, taskId: string): Promise<boolean> {
  const { execution } = await server.file("thread");
  return isObject(execution) && execution.taskId === taskId;
}

diskTest("after an accepted answer the run fails, and memory says what the disk says", async (story) => {
  const { disk, kernel, server } = story;
  kernel.turn(askPermission());
  await (await server.run("thread", "run-1")).last();
  kernel.on("SendStreamingMessage", async (call) => {
    await disk.fail();
    await afterPermission()(call);
  });
  const events = await endsUnsaved(story, "run-2", allow);
  assert.deepEqual(names(events), ["RUN_STARTED", "RUN_ERROR"], "nothing is told that is not durable");
  await disk.heal();
  kernel.on("SendStreamingMessage", say("Hello."));
  const refused = await server.post(JSON.stringify(server.input("thread", "run-3")));
  assert.equal(
    (await refused.json()).error.code,
    "RESUME_REQUIRED",
    "the interrupt is pending on disk, and so in memory",
  );
  const again = await server.run("thread", "run-4", { resume: allow });
  assert.equal((await again.last()).code, "CANCELLED", "its task was cancelled");
  assert.equal(kernel.got("SendStreamingMessage").length, 2, "the answer is not given twice");
  await succeeds(story, "run-5");
});

diskTest("at the end of a turn the turn still ends well: nothing hangs on it", async (story) => {
  const { disk, kernel } = story;
  kernel.turn(async (call) => {
    const { server } = story;
    await call.send(...call.task.begin(), call.task.text("Done."));
    while (!await isKnown(server, call.task.id)) await new Promise((resolve) => setTimeout(resolve, 5));
    await disk.fail();
    await call.send(...call.task.finish("Done."));
  });
  await succeeds(story, "run-1");
  await disk.heal();
  await succeeds(story, "run-2");
});

diskTest("while an interrupt is given up, the task is cancelled all the same", async (story) => {
  const { disk, kernel, server } = story;
  kernel.turn(askPermission());
  await (await server.run("thread", "run-1")).last();
  const { execution } = await server.file("thread");
  assert.ok(isObject(execution));
  await disk.fail();
  const answer = await server.cancel(String(execution.executionId), {
    threadId: "thread",
    rosInvocationId: "invocation-1",
  });
  assert.equal(answer.status, 503);
  await answer.body?.cancel();
  assert.equal((await kernel.called("CancelTask")).params.id, execution.taskId);
  await disk.heal();
  const run = await server.run("thread", "run-2", { resume: giveUp });
  assert.equal((await run.last()).code, "CANCELLED");
  await succeeds(story, "run-3");
});

/** The folder of the thread files is deleted at a moment, and everything goes on as if the thread had just been written. */
function deletedTest(
  title: string,
  test: (story: Omit<Story, "disk">, remove: () => Promise<void>) => Promise<void>,
): void {
  Deno.test(`a deleted directory ${title}`, async () => {
    await using kernel = startStandIn();
    await using server = await startServer(kernel.url);
    await test({ kernel, server }, () => Deno.remove(server.threads, { recursive: true }));
  });
}

deletedTest("before admission begins anew, for its owner only", async ({ server }, remove) => {
  await (await server.run("thread", "run-1")).last();
  await remove();
  assert.equal((await (await server.run("thread", "run-2")).last()).type, "RUN_FINISHED");
  assert.deepEqual(Object.keys((await server.file("thread")).runDigests ?? {}), ["run-2"]);
  assert.equal(((await Deno.stat(server.threads)).mode ?? 0) & 0o777, 0o700);
});

deletedTest(
  "before the session event and before an interrupt loses nothing of the run",
  async ({ kernel, server }, remove) => {
    kernel.turn(async (call) => {
      await remove();
      await call.send(...call.task.begin(), call.task.text("May I? "));
      while (!await isKnown(server, call.task.id).catch(() => false)) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await remove();
      await call.send(...call.task.permission("permission-1"));
      await call.gone;
    });
    await (await server.run("thread", "run-1")).last();
    const run = await server.run("thread", "run-2", { resume: allow });
    assert.equal((await run.last()).type, "RUN_FINISHED");
    assert.equal(run.text(), "Done.");
  },
);

deletedTest("after an accepted answer does not let it be given twice", async ({ kernel, server }, remove) => {
  kernel.turn(askPermission());
  await (await server.run("thread", "run-1")).last();
  kernel.on("SendStreamingMessage", async (call) => {
    await remove();
    await afterPermission()(call);
  });
  assert.equal((await (await server.run("thread", "run-2", { resume: allow })).last()).type, "RUN_FINISHED");
  const again = await server.run("thread", "run-3", { resume: allow });
  assert.equal((await again.last()).code, "RESUME_ALREADY_APPLIED");
});

deletedTest("while an interrupt waits forgets it: there is nothing to resume", async ({ kernel, server }, remove) => {
  kernel.turn(askPermission());
  await (await server.run("thread", "run-1")).last();
  await remove();
  const refused = await server.post(JSON.stringify(server.input("thread", "run-2", { resume: allow })));
  assert.equal((await refused.json()).error.code, "EXECUTION_LOST");
  assert.equal((await (await server.run("thread", "run-3")).last()).type, "RUN_FINISHED");
});
