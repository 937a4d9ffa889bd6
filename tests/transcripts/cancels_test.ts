/** Cancelled runs, as they were recorded: by the extension, while running and at a question, and by a client that leaves. */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../src/json.ts";
import { eventLines, rename } from "../support/event_lines.ts";
import { namesOf } from "../support/wire_names.ts";
import { questionsOf, sentIn, type Story, type Talk, tell } from "../support/story.ts";
import { type Call, say } from "../support/stand_in_kernel.ts";

const saw = (delta: string) => (event: JsonObject): boolean => event.delta === delta;

function executionOf(talk: Talk, runId: string): string {
  const session = talk.events(runId).find(({ name }) => name === "iac-code.session.v1")?.value;
  return isObject(session) ? String(session.executionId) : assert.fail("no session");
}

async function cancel({ server }: Story, executionId: string, threadId: Json): Promise<[number, JsonObject]> {
  const response = await server.cancel(executionId, { threadId, rosInvocationId: "inv-1" });
  return [response.status, await response.json()];
}
type Json = JsonObject[string];

Deno.test("a run that is cancelled ends with CANCELLED; the extension answers once, then tells that it is over", async () => {
  await tell("cancel-running", {}, async (story) => {
    const { talk, replay, wire } = story;
    const threadId = wire.runs[0]?.request.threadId ?? null;
    const running = talk().run("r1");
    await talk().seen(saw("s7 "));
    const executionId = executionOf(talk(), "r1");
    assert.deepEqual(await cancel(story, executionId, threadId), [200, { executionId, status: "cancelled" }]);
    // docs/protocol.md, "Ends of a run": the kernel's "Task canceled." is a reason, not speech of the agent; and a run that
    // is stopped does not wait for it.
    assert.deepEqual(await running, [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      "text T1-message: s0 |s1 |s2 |s3 |s4 |s5 |s6 |s7 ",
      "error CANCELLED The execution was cancelled.",
    ]);
    assert.deepEqual(await cancel(story, executionId, threadId), [200, { executionId, status: "already_terminal" }]);
    const [status, refused] = await cancel(story, executionId, "another thread");
    assert.deepEqual([status, isObject(refused.error) && refused.error.code], [404, "EXECUTION_NOT_FOUND"]);
    assert.deepEqual(talk().history(), ["user msg-r1", "assistant: s0 s1 s2 s3 s4 s5 s6 s7 "]);
    assert.deepEqual(replay.unplayed(), []);
  });
});

Deno.test("a question whose execution is cancelled is over, and the next message works", async () => {
  await tell("cancel-at-interrupt", {}, async (story) => {
    const { talk, replay, wire } = story;
    const threadId = wire.runs[0]?.request.threadId ?? null;
    assert.deepEqual(await talk().run("r1"), [
      "run r1",
      "session r1 E1 T1 S1 inv-1",
      'call K1 write_file: {"content":"hi","path":"z.txt"}',
      "asks Q1 (openai/other 11+7=18)",
    ]);
    const executionId = executionOf(talk(), "r1");
    assert.deepEqual(await cancel(story, executionId, threadId), [200, { executionId, status: "cancelled" }]);
    assert.deepEqual(await cancel(story, executionId, threadId), [200, { executionId, status: "already_terminal" }]);
    // docs/protocol.md, "Resume": nothing pending and nothing applied is UNKNOWN_INTERRUPT; the Python adapter says
    // EXECUTION_LOST.
    assert.deepEqual(await talk().post("r2"), [
      "run r2",
      "error UNKNOWN_INTERRUPT The answer names an interrupt that is not pending.",
    ]);
    // The client holds the interrupt until a run finishes: docs/protocol.md, "Admission", lets it cancel what is over.
    const [interruptId = ""] = questionsOf(talk().events("r1"));
    assert.deepEqual(await talk().run("r2b", { resume: [{ interruptId, status: "cancelled" }] }), [
      "run r2b",
      "success",
    ]);
    assert.deepEqual(await talk().run("r3"), [
      "run r3",
      "session r3 E2 T2 S1 inv-1",
      "text T2-message: next |turn",
      "success (openai/other 11+7=18)",
    ]);
    assert.deepEqual(talk().history(), [
      "user msg-r1",
      "assistant:  [K1 write_file]",
      "user msg-r3",
      "assistant: next turn",
    ]);
    assert.deepEqual(replay.unplayed(), []);
  });
});

Deno.test("a client that leaves cancels its task, and its next message waits until the kernel takes it", async () => {
  const beyond = {
    // docs/protocol.md, "Disconnect": the Python adapter never cancels here.
    CancelTask: (call: Call) => call.reply(call.task.snapshot()),
    // docs/protocol.md, "The stream": the Python adapter fails when the kernel is still winding down; ours sends again.
    SendStreamingMessage: say("after ", "disconnect"),
  };
  await tell("disconnect-running", { beyond }, async ({ talk, kernel, replay, wire }) => {
    const running = talk().run("r1", { message: sentIn(wire, 1) }).catch(() => "left");
    await talk().seen(saw("s3 "));
    talk().leave();
    assert.equal(await running, "left");
    const [started, session, said = ""] = eventLines(talk().events("r1"), namesOf(wire));
    assert.deepEqual([started, session?.split(" ").slice(3, 5)], ["run r1", ["T1", "S1"]]);
    assert.match(said, /^text opens T1-message: s0 \|s1 \|s2 \|s3 /);
    const cancelled = await kernel.called("CancelTask");
    assert.equal(rename(String(cancelled.params.id), namesOf(wire)), "T1");
    const lines = await talk().run("r2");
    assert.deepEqual(lines.map((line) => line.replaceAll(/[0-9a-f-]{36}/g, "ID")), [
      "run r2",
      "session r2 E1 ID ID inv-1",
      "text ID-message: after |disconnect",
      "success (demo/no-model 11+7=18)",
    ]);
    assert.equal(kernel.got("SendStreamingMessage").length, 3, "r1, r2 refused, r2 again");
    assert.deepEqual(replay.unplayed(), []);
  });
});
