/** The service died after it had written a further question down, and before the client heard of it. */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../src/json.ts";
import { threadFiles } from "../../src/store/thread_files.ts";
import { startServer } from "../support/server.ts";
import { startStandIn } from "../support/stand_in_kernel.ts";
import { permission, TASK, threadOf } from "../support/threads.ts";

const allow = (interruptId: string): JsonObject => ({
  interruptId,
  status: "resolved",
  payload: { decision: "allow_once" },
});

for (const [askedBy, end] of [["before.run-2", "interrupt"], ["before.run-1", "INCOMPLETE_RESUME"]] as const) {
  Deno.test(`a client that does not know of the second question, asked by ${askedBy}, is told: ${end}`, async () => {
    await using kernel = startStandIn();
    await using server = await startServer(kernel.url);
    const asked = [permission("first"), permission("second")];
    const pending = new Map([
      ["first", { value: permission("first"), sideband: true, expiresAt: null, askedBy: "before.run-1" }],
      ["second", { value: permission("second"), sideband: true, expiresAt: null, askedBy }],
    ]);
    const thread = threadOf({ threadId: "thread", cwd: server.cwd, execution: { pending } });
    await threadFiles({ folder: server.threads, fallbackExpiry: () => null }).save(thread);
    const status = { state: "TASK_STATE_WORKING" };
    const metadata = { "iac_code": { pendingPermissions: asked } };
    kernel.on("GetTask", (call) => call.reply({ id: TASK, contextId: thread.contextId, status, metadata }));
    const run = await server.run("thread", "run-3", { resume: [allow("first")] });
    const { outcome, code } = await run.last();
    assert.equal(isObject(outcome) ? outcome.type : code, end);
    const told = isObject(outcome) && Array.isArray(outcome.interrupts) ? outcome.interrupts.filter(isObject) : [];
    assert.deepEqual(told.map(({ id }) => id), end === "interrupt" ? ["first", "second"] : []);
    assert.equal(kernel.got("SendMessage").length, 0, "nothing is sent");
    const { execution } = await server.file("thread");
    assert.ok(isObject(execution) && isObject(execution.pending));
    assert.deepEqual(Object.keys(execution.pending), ["first", "second"], "both can be answered");
  });
}
