/** A cancel that comes while a run is about to be interrupted: whoever is first, the execution is over afterwards. */
import assert from "node:assert/strict";
import { isObject } from "../../src/json.ts";
import { type FileSystem, systemFiles } from "../../src/store/atomic_file.ts";
import { startServer } from "../support/server.ts";
import { startStandIn } from "../support/stand_in_kernel.ts";

/** A disk whose next rename can be held up. */
function gatedFiles(): { fs: FileSystem; holdNext(): { reached: Promise<void>; open: () => void } } {
  let gate: { reached: () => void; opened: Promise<void> } | undefined;
  return {
    fs: {
      ...systemFiles,
      async rename(from, to) {
        const held = gate;
        gate = undefined;
        held?.reached();
        await held?.opened;
        await systemFiles.rename(from, to);
      },
    },
    holdNext() {
      const reached = Promise.withResolvers<void>();
      const opened = Promise.withResolvers<void>();
      gate = { reached: reached.resolve, opened: opened.promise };
      return { reached: reached.promise, open: opened.resolve };
    },
  };
}

Deno.test("a cancel that meets a run as its interrupt is written ends both", async () => {
  await using kernel = startStandIn();
  const { fs, holdNext } = gatedFiles();
  await using server = await startServer(kernel.url, { edges: { fs } });
  const known = Promise.withResolvers<void>();
  kernel.turn(async (call) => {
    await call.send(...call.task.begin(), call.task.text("May I? "));
    await known.promise;
    await call.send(...call.task.permission("permission-1"));
    await call.gone;
  });
  const run = await server.run("thread", "run-1");
  await run.until("TEXT_MESSAGE_CONTENT");
  const { execution } = await server.file("thread");
  assert.ok(isObject(execution));
  const { reached, open } = holdNext();
  known.resolve();
  await reached;
  const cancelling = server.cancel(String(execution.executionId), {
    threadId: "thread",
    rosInvocationId: "invocation-1",
  });
  // Long enough for the cancel to stand in the thread's queue, behind the interrupt that is written.
  await new Promise((resolve) => setTimeout(resolve, 50));
  open();
  assert.equal((await (await cancelling).json()).status, "cancelled");
  await run.last();
  const after = await server.file("thread");
  assert.ok(isObject(after.execution));
  assert.deepEqual(after.execution.pending, {}, "nothing waits for an answer any more");
  assert.deepEqual(after.terminalExecutionIds, [execution.executionId]);
  assert.equal((await kernel.called("CancelTask")).params.id, execution.taskId);
  assert.equal((await (await server.run("thread", "run-2")).last()).type, "RUN_FINISHED");
});
