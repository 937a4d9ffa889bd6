/**
 * The service is killed after the kernel has got its message and before it has named the task: the thread's file cannot
 * tell whose work it is (docs/protocol.md, "Admission").
 */
import assert from "node:assert/strict";
import { isObject } from "../src/json.ts";
import { eventually } from "./support/eventually.ts";
import { holdBack } from "./support/held_kernel.ts";
import { type Lab, newcomer, openLab, threadFile } from "./support/lab.ts";
import { scripted } from "./support/person.ts";
import { startService } from "./support/service.ts";
import { append, goOn, traces } from "./support/stories.ts";

const SLOW = scripted("Count slowly.", [{ slow: 100, gap: 0.1 }, append("orphan")]);
const ASKS = scripted("Do it.", [{ text: "May I?" }, append("orphan")]);

Deno.test("a task that a kill has left without a name", async (t) => {
  await using lab = await openLab();
  await t.step("is cancelled by the next message when it works on, and that works", () => orphan(lab, SLOW, "WORKING"));
  await t.step(
    "is cancelled by the next message when it asks, and that works",
    () => orphan(lab, ASKS, "INPUT_REQUIRED"),
  );
});

async function orphan(lab: Lab, words: string, state: string): Promise<void> {
  const held = holdBack(lab.kernel.url, "first messages");
  const service = await startService({ folder: lab.folder, kernelUrl: held.url, state: `orphan-${state}` });
  const person = await newcomer(lab.folder, service);
  const turn = person.say(words);
  await held.asked;
  await service.kill();
  held.letGo();
  assert.equal((await turn).end, "broken");
  const { execution, contextId } = await threadFile(service, person.agent.threadId);
  assert.ok(isObject(execution));
  assert.equal(execution.taskId, null);
  const statesOf = async (): Promise<string[]> => {
    const { tasks } = await lab.kernel.call("ListTasks", { contextId: contextId ?? "" });
    const listed = Array.isArray(tasks) ? tasks.filter(isObject) : [];
    return listed.flatMap(({ status }) => isObject(status) ? [String(status.state)] : []);
  };
  await eventually("the task goes on", async () => (await statesOf()).includes(`TASK_STATE_${state}`));
  await service.start();
  await goOn(person);
  assert.deepEqual(await traces(person), []);
  await eventually("the task is cancelled", async () => (await statesOf()).includes("TASK_STATE_CANCELED"));
  await service.kill();
  await held.close();
}
