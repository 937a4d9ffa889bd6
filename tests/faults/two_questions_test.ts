/** Two questions of one turn that wait at once: the kernel's account names only the newer of them. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/json.ts";
import { startServer } from "../support/server.ts";
import { type Script, startStandIn } from "../support/stand_in_kernel.ts";

const asksTwice: Script = async ({ send, task, gone }) => {
  await send(...task.begin(), ...task.permission("permission-1"), ...task.permission("permission-2"));
  await gone;
};
const allow = (interruptId: string): JsonObject => ({
  interruptId,
  status: "resolved",
  payload: { decision: "allow_once" },
});

Deno.test("each of two questions gets its answer, whichever of them the account names", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  kernel.turn(
    asksTwice,
    async ({ send, task, gone }) => {
      await send(task.toolResult("permission-1", "one"), ...task.permission("permission-2").slice(-1));
      await gone;
    },
    ({ send, task }) => send(task.toolResult("permission-2", "two"), ...task.finish("")),
  );
  await (await server.run("thread", "run-1")).last();
  const run = await server.run("thread", "run-2", { resume: [allow("permission-1"), allow("permission-2")] });
  const { outcome } = await run.last();
  assert.deepEqual(outcome, { type: "success" });
  const ids = kernel.got("SendStreamingMessage").slice(1).map(({ message }) => message.messageId);
  assert.deepEqual(ids, ["agui-resume-run-2-permission-1", "agui-resume-run-2-permission-2"]);
  assert.equal(kernel.got("GetTask").length, 1, "an account that names the newer question is no older one");
  const results = run.events.filter(({ type }) => type === "TOOL_CALL_RESULT").map(({ content }) => content);
  assert.deepEqual(results, ["one", "two"]);
});
