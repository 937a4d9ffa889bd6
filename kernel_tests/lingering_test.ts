/**
 * The next turn at once on a kernel that winds down for up to 10 s after each turn, as it does for users whose telemetry
 * cannot be delivered (docs/protocol.md, "Winding down").
 */
import assert from "node:assert/strict";
import { type Lab, openLab } from "./support/lab.ts";
import { executionOf, scripted, type Turn } from "./support/person.ts";
import { ALLOWED, assertHistory, goOn, SOLUTION_FIRST, untilAsked } from "./support/stories.ts";

const SLOW = scripted("Count slowly.", [{ slow: 100, gap: 0.05 }]);
const REJECTED = { conclusion: { status: "rejected", "rejection_reason": "none" } };
const DESIGN = scripted("Design it.", [{ text: "No." }, { tool: "complete_step", args: REJECTED }]);
const WENT_ON = ["user Go on.", "agent Here I am."];

// They wait for one kernel at the same time, each in a context of its own.
Deno.test("a kernel that winds down takes the next turn after a turn, a cancel, a disconnect, a pipeline and an answer", async () => {
  await using lab = await openLab({ linger: true });
  const stories = [afterTurn, afterCancel, afterDisconnect, afterPipeline, afterAnswer];
  const told = await Promise.allSettled(stories.map((story) => story(lab)));
  const failed = told.flatMap((end, at) => end.status === "rejected" ? [`${stories[at]?.name}: ${end.reason}`] : []);
  assert.deepEqual(failed, []);
});

async function afterTurn(lab: Lab): Promise<void> {
  const person = await lab.person();
  const turn = await person.say(scripted("Hello?", [{ text: "Hello there." }]));
  assert.equal(turn.end, "success", turn.message);
  await goOn(person);
  assertHistory(person, ["user Hello?", "agent Hello there.", ...WENT_ON]);
}

async function afterCancel(lab: Lab): Promise<void> {
  const person = await lab.person();
  let cancelled: Promise<string> | undefined;
  let session: Turn["events"] = [];
  const turn = await person.say(SLOW, {
    heard(event) {
      if (event.name === "iac-code.session.v1") session = [event];
      if (event.type === "TEXT_MESSAGE_CONTENT") cancelled ??= person.cancel(executionOf({ events: session }));
    },
  });
  assert.equal(turn.end, "CANCELLED");
  assert.equal(await cancelled, "cancelled");
  await goOn(person);
  assertHistory(person, ["user Count slowly.", /^agent s0/, ...WENT_ON]);
}

async function afterDisconnect(lab: Lab): Promise<void> {
  const person = await lab.person();
  const turn = await person.say(SLOW, { heard: (event, leave) => event.type === "TEXT_MESSAGE_CONTENT" && leave() });
  assert.equal(turn.end, "left");
  await goOn(person);
  assertHistory(person, ["user Count slowly.", /^agent s0/, ...WENT_ON]);
}

async function afterPipeline(lab: Lab): Promise<void> {
  const person = await lab.person(SOLUTION_FIRST);
  const turn = await person.say(DESIGN);
  assert.equal(turn.end, "success", turn.message);
  await goOn(person);
  const call = 'call complete_step {"conclusion":{"rejection_reason":"none","status":"rejected"}}';
  assertHistory(person, ["user Design it.", "agent No.", call, /^result Step .* completed/, ...WENT_ON]);
}

async function afterAnswer(lab: Lab): Promise<void> {
  const person = await lab.person();
  await ALLOWED.finish(person, await ALLOWED.begin(person));
  await untilAsked(person, scripted("Once more.", [{ tool: "bash", args: { command: "echo again >> ran.txt" } }]));
}
