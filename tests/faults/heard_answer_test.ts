/**
 * The words that answer a pipeline's question were heard by the kernel, and the service died before it knew: what is missed
 * is told with the answer in its place (docs/protocol.md, "Resume").
 */
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/json.ts";
import { threadFiles } from "../../src/store/thread_files.ts";
import { envelope } from "../support/kernel_frames.ts";
import { hastyClock } from "../support/hasty_clock.ts";
import { startServer } from "../support/server.ts";
import { startStandIn } from "../support/stand_in_kernel.ts";
import { pendingOf, question, TASK, threadOf } from "../support/threads.ts";

const ASKED = question("question-1", { toolUseId: "call-1", toolName: "ask_user_question" });
const CHOSEN: JsonObject[] = [{ interruptId: "question-1", status: "resolved", payload: { selectedId: "hz" } }];
const text = (at: number, words: string): JsonObject => envelope(at, "text_delta", { text: words });

for (
  const [how, answered] of [
    ["names it", { kind: "ask_user_question", inputId: "question-1" }],
    ["does not name it", { kind: "ask_user_question" }],
  ] as const
) {
  for (const [when, state] of [["is over", "COMPLETED"], ["works on", "WORKING"]] as const) {
    Deno.test(`an answer whose event ${how} stands between what came before it and after it, when the task ${when}`, async () => {
      await using kernel = startStandIn();
      await using server = await startServer(kernel.url, { edges: { clock: hastyClock() } });
      const execution = {
        pending: pendingOf([ASKED]),
        pipelineSequence: 3,
        shownCalls: { open: [], answered: [] },
      };
      const thread = threadOf({ threadId: "thread", cwd: server.cwd, execution });
      await threadFiles({ folder: server.threads, fallbackExpiry: () => null }).save(thread);
      const events = [text(4, "Before. "), envelope(5, "input_received", answered), text(6, "Since. ")];
      const task = { id: TASK, contextId: thread.contextId };
      kernel.on("GetTask", (call) => call.reply({ ...task, status: { state: `TASK_STATE_${state}` } }));
      kernel.on("pipeline-state", ({ params, answer }) => {
        const left = events.filter(({ sequence }) => Number(sequence) > Number(params.afterSequence));
        return answer(200, "application/json", JSON.stringify({ snapshot: {}, events: left }));
      });
      kernel.on("SubscribeToTask", async ({ send }) => {
        await send({ task: { ...task, status: { state: "TASK_STATE_WORKING" } } });
        await send({
          statusUpdate: { taskId: TASK, contextId: task.contextId, status: { state: "TASK_STATE_COMPLETED" } },
        });
      });
      const iac = { runMode: "pipeline" };
      const run = await server.run("thread", "run-2", { resume: CHOSEN, iac });
      assert.deepEqual((await run.last()).outcome, { type: "success" });
      const told = run.events.flatMap(({ type, delta, content }) =>
        type === "TEXT_MESSAGE_CONTENT" || type === "TOOL_CALL_RESULT" ? [delta ?? content] : []
      );
      assert.deepEqual(told, ["Before. ", "Hangzhou", "Since. "]);
      assert.equal(kernel.got("SendStreamingMessage").length, 0, "words are not given twice");
    });
  }
}
