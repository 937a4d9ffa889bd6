/** docs/observability.md, "Log lines": what a run and a request leave behind. */
import assert from "node:assert/strict";
import { isObject } from "../src/json.ts";
import { type Log, type LogFields, RUN_LINE } from "../src/log.ts";
import { startServer } from "./support/server.ts";
import { afterPermission, askPermission, say, sayAndHold, startStandIn } from "./support/stand_in_kernel.ts";

type Line = { readonly level: string; readonly message: string } & LogFields;

interface Recorder {
  readonly log: Log;
  readonly lines: Line[];
  /** The lines of runs. */
  runs(): Line[];
  /** As soon as there are so many lines of runs. */
  untilRuns(count: number): Promise<Line[]>;
}

function recorder(): Recorder {
  const lines: Line[] = [];
  let wake = (): void => undefined;
  const at = (level: string) => (message: string, fields: LogFields = {}) => {
    lines.push({ ...fields, level, message });
    wake();
  };
  const log = { debug: at("debug"), info: at("info"), warn: at("warning"), error: at("error") };
  const runs = (): Line[] => lines.filter(({ message }) => message === RUN_LINE);
  return {
    log,
    lines,
    runs,
    async untilRuns(count) {
      while (runs().length < count) await new Promise<void>((resolve) => wake = resolve);
      return runs();
    },
  };
}

Deno.test("each run leaves one line: ids, kind, end, times and counts", async () => {
  await using kernel = startStandIn();
  const { log, untilRuns } = recorder();
  await using server = await startServer(kernel.url, { log });
  kernel.turn(say("Hello."), askPermission(), afterPermission("Done."));
  const first = await server.run("thread", "run-1");
  await first.last();
  const asking = await server.run("thread", "run-2");
  await asking.last();
  const resume = [{ interruptId: "permission-1", status: "resolved", payload: { decision: "allow_once" } }];
  const answered = await server.run("thread", "run-3", { resume });
  await answered.until("RUN_FINISHED");
  await answered.leave();
  const all = await untilRuns(3);
  assert.deepEqual(all.map(({ run, kind, end, level }) => [run, kind, end, level]), [
    ["run-1", "new", "success", "info"],
    ["run-2", "new", "interrupt", "info"],
    ["run-3", "resume", "success", "info"],
  ]);
  assert.deepEqual(all.map(({ events }) => events), [first, asking, answered].map(({ events }) => events.length));
  for (const line of all) {
    assert.match(String(line.thread), /^agui-[0-9a-f]{40}$/);
    assert.match(String(line.execution), /^[0-9a-f-]{36}$/);
    assert.ok(kernel.tasks.has(String(line.task)));
    assert.ok(Number(line.firstMs) >= 0 && Number(line.ms) >= Number(line.firstMs));
    assert.equal(line.retries, 0);
  }
  assert.equal(all[1]?.execution, all[2]?.execution);
});

Deno.test("the line of a run that was cancelled says by whom", async () => {
  await using kernel = startStandIn();
  const { log, untilRuns } = recorder();
  await using server = await startServer(kernel.url, { log });
  kernel.turn(sayAndHold("one "), sayAndHold("two "));
  const asked = await server.run("asked", "run-1");
  const { value } = await asked.until("CUSTOM");
  assert.ok(isObject(value));
  await (await server.cancel(String(value.executionId), { threadId: "asked", rosInvocationId: "invocation-1" })).text();
  const left = await server.run("left", "run-2");
  await left.until("TEXT_MESSAGE_CONTENT");
  await left.leave();
  const runs = await untilRuns(2);
  assert.deepEqual(
    runs.map(({ run, end, by, level }) => [run, end, by, level]).sort(),
    [["run-1", "CANCELLED", "cancelled", "info"], ["run-2", "CANCELLED", "gone", "info"]],
  );
  await asked.last();
});

Deno.test("a kernel that winds down is waited for: the line counts it; one that is away makes the line a warning", async () => {
  await using kernel = startStandIn();
  const { log, lines, runs } = recorder();
  await using server = await startServer(kernel.url, { log });
  kernel.turn((call) => call.send(call.task.milestone("FAILED", "Task is already working.")));
  await (await server.run("thread", "run-1")).last();
  kernel.on("SendStreamingMessage", (call) => call.answer(500, "text/plain", "broken"));
  await (await server.run("thread", "run-2")).last();
  const [waited, away] = runs();
  assert.deepEqual([waited?.end, waited?.retries, waited?.level], ["success", 1, "info"]);
  assert.deepEqual([away?.end, away?.level, away?.firstMs], ["A2A_UNAVAILABLE", "warning", undefined]);
  const why = lines.find(({ message }) => message === "the kernel is unavailable");
  assert.equal(why?.failure, "status 500");
});

Deno.test("a thread file that cannot be used is told with the thread and what is wrong, and nothing of it", async () => {
  await using kernel = startStandIn();
  const { log, lines } = recorder();
  await using server = await startServer(kernel.url, { log });
  await (await server.run("thread", "run-1")).last();
  await Deno.writeTextFile(`${server.threads}/thread.json`, `{"secret words"`);
  const response = await server.post(JSON.stringify(server.input("thread", "run-2")));
  assert.equal(response.status, 503);
  await response.body?.cancel();
  const told = lines.find(({ level }) => level === "error");
  const thread = lines.find(({ message }) => message === RUN_LINE)?.thread;
  assert.deepEqual(told, {
    level: "error",
    message: "a thread's state is unavailable",
    thread,
    failure: "CorruptThread not JSON",
  });
});

Deno.test("a refused request is a debug line with its code", async () => {
  await using kernel = startStandIn();
  const { log, lines } = recorder();
  await using server = await startServer(kernel.url, { log });
  const response = await server.post("{");
  assert.equal(response.status, 400);
  await response.body?.cancel();
  assert.deepEqual(lines, [{ level: "debug", message: "request refused", code: "INVALID_JSON" }]);
});
