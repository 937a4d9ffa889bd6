/** A kernel, or what stands in its place, that answers with refusals and pages: an error that says so, and the next run works. */
import assert from "node:assert/strict";
import { hastyClock } from "../support/hasty_clock.ts";
import { startServer } from "../support/server.ts";
import { askPermission, type CallName, type Script, startStandIn } from "../support/stand_in_kernel.ts";

const ANSWERS: readonly [what: string, status: number, type: string, body: string][] = [
  ["401", 401, "application/json", `{"error":"Unauthorized"}`],
  ["404", 404, "application/json", `{"error":"Not found"}`],
  ["409", 409, "application/json", `{"error":"Conflict"}`],
  ["500", 500, "text/plain", "Internal Server Error"],
  ["503 with a page", 503, "text/html", "<html><h1>Service Unavailable</h1></html>"],
  ["a page that says all is well", 200, "text/html", "<html>It works!</html>"],
  ["JSON that is none", 200, "application/json", "{"],
  ["an empty body", 200, "application/json", ""],
];

const CODES = ["A2A_UNAVAILABLE", "A2A_PROTOCOL_ERROR", "A2A_EXECUTION_FAILED", "EXECUTION_LOST"];

for (const [what, ...answer] of ANSWERS) {
  Deno.test(`${what} instead of a stream ends the run with an error, and the next run works`, async () => {
    await using kernel = startStandIn();
    await using server = await startServer(kernel.url, { edges: { clock: hastyClock() } });
    kernel.turn((call) => call.answer(...answer));
    const last = await (await server.run("thread", "run-1")).last();
    assert.equal(last.type, "RUN_ERROR");
    assert.ok(CODES.includes(String(last.code)), String(last.code));
    assert.equal((await (await server.run("thread", "run-2")).last()).type, "RUN_FINISHED");
  });

  for (const name of ["ensure-restored", "GetTask", "pipeline-state"] satisfies CallName[]) {
    Deno.test(`${what} from ${name} keeps the interrupt, and the answer counts once the kernel is well`, async () => {
      await using kernel = startStandIn();
      await using server = await startServer(kernel.url, { edges: { clock: hastyClock() } });
      kernel.turn(askPermission());
      await (await server.run("thread", "run-1")).last();
      let isWell = false;
      const odd: Script = (call) => call.answer(...answer);
      if (name === "pipeline-state") {
        kernel.on(name, (call) => isWell ? call.answer(404, "application/json", "{}") : odd(call));
      } else if (name === "GetTask") kernel.on(name, (call) => isWell ? call.reply(call.task.snapshot()) : odd(call));
      else kernel.on(name, (call) => isWell ? call.answer(200, "application/json", `{"status":"current"}`) : odd(call));
      const resume = [{ interruptId: "permission-1", status: "resolved", payload: { decision: "allow_once" } }];
      const first = await (await server.run("thread", "run-2", { resume })).last();
      if (first.type === "RUN_FINISHED") return;
      assert.ok(CODES.includes(String(first.code)), String(first.code));
      isWell = true;
      const second = await (await server.run("thread", "run-3", { resume })).last();
      assert.equal(second.type, "RUN_FINISHED", `${first.code}, then ${second.code}`);
      assert.equal(kernel.got("SendStreamingMessage").length, 2, "the question and one answer");
    });
  }
}
