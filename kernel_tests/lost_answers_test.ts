/**
 * The service dies after the kernel has taken an answer and before it has heard so: its file still has the question, and the
 * kernel tells nobody how the turn goes on (docs/protocol.md, "Resume", "A cut stream").
 */
import assert from "node:assert/strict";
import { eventually } from "./support/eventually.ts";
import { holdBack } from "./support/held_kernel.ts";
import { type Lab, newcomer, openLab } from "./support/lab.ts";
import { ALLOW, type Person, scripted } from "./support/person.ts";
import { type Service, startService } from "./support/service.ts";
import { append, assertHistory, forget, goOn, traces, untilAsked } from "./support/stories.ts";

/** Leaves its trace and goes on for a while. */
const LONG = "echo once >> ran.txt; sleep 3";
const DO_IT = scripted("Do it.", [{ text: "May I?" }, { tool: "bash", args: { command: LONG } }], [{
  text: "Went on.",
}]);
const CALL = `call bash ${JSON.stringify({ command: LONG })}`;
const DO_BOTH = scripted("Do both.", [{ text: "May I?" }, append("once")], [{ text: "More." }, append("more")]);

Deno.test("an answer that the kernel took from a service that died then", async (t) => {
  await using lab = await openLab();
  await t.step(
    "given again while its tool runs, is one answer, and the turn is told to its end",
    () => stillRunning(lab),
  );
  await t.step("whose turn has come to its next question meanwhile, is told to be lost", () => askedAgain(lab));
  await t.step("runs no tool again in a kernel that died over it", () => kernelDied(lab));
});

async function stillRunning(lab: Lab): Promise<void> {
  await using story = await dying(lab, "running", DO_IT);
  const { person, service } = story;
  await service.start();
  const turn = await person.answer(ALLOW);
  assert.equal(turn.end, "success", turn.message);
  assertHistory(person, ["user Do it.", "agent May I?", CALL, "result Exit code: 0", "agent Went on."]);
  await goOn(person);
  assert.deepEqual(await traces(person), ["once"]);
}

async function askedAgain(lab: Lab): Promise<void> {
  await using story = await dying(lab, "asked", DO_BOTH);
  const { person, service } = story;
  await service.start();
  const turn = await person.answer(ALLOW);
  assert.equal(turn.end, "EXECUTION_LOST", turn.message);
  await forget(person);
  await goOn(person);
  assert.deepEqual(await traces(person), ["once"]);
}

async function kernelDied(lab: Lab): Promise<void> {
  await using story = await dying(lab, "both", DO_IT);
  const { person, service } = story;
  await lab.kernel.kill();
  await lab.kernel.start();
  await service.start();
  for (let tries = 0; tries < 2; tries++) {
    const turn = await person.answer(ALLOW);
    assert.equal(turn.end, "EXECUTION_LOST", turn.message);
  }
  await forget(person);
  await goOn(person);
  assert.deepEqual(await traces(person), ["once"]);
}

interface Story extends AsyncDisposable {
  readonly person: Person;
  readonly service: Service;
}

/** Until the allowed tool has begun, and the service that has sent the answer is dead. */
async function dying(lab: Lab, state: string, words: string): Promise<Story> {
  const held = holdBack(lab.kernel.url, "answers");
  const service = await startService({ folder: lab.folder, kernelUrl: held.url, state });
  const person = await newcomer(lab.folder, service);
  await untilAsked(person, words);
  const resumed = person.answer(ALLOW);
  await eventually("the tool has begun", async () => (await traces(person)).length > 0);
  await service.kill();
  held.letGo();
  assert.equal((await resumed).end, "broken");
  return {
    person,
    service,
    async [Symbol.asyncDispose]() {
      await service.kill();
      await held.close();
    },
  };
}
