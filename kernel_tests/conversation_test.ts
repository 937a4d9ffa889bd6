/** Ordinary turns on the real kernel, and what may befall them (docs/protocol.md, "The stream", "Cancel"). */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../src/json.ts";
import { eventually } from "./support/eventually.ts";
import { type Lab, openLab, threadFile } from "./support/lab.ts";
import { executionOf, type Person, scripted } from "./support/person.ts";

const SLOW = scripted("Count slowly.", [{ slow: 100, gap: 0.05 }]);
const HELLO = scripted("Hello?", [{ text: "Hello there." }]);

Deno.test("ordinary turns", async (t) => {
  await using lab = await openLab();
  await t.step("text, thinking and tools stand in the history in the order in which they came", () => allKinds(lab));
  await t.step("a turn goes on with the session of the turn before", () => twoTurns(lab));
  await t.step("a failing tool and an unknown one have their results", () => failingTools(lab));
  await t.step("a model's error is the run's error, and the next turn works", () => modelError(lab));
  await t.step("a picture reaches a model that sees", () => picture(lab));
  await t.step("a model that does not see refuses a picture, and the next turn works", () => unseenPicture(lab));
  await t.step("a run is cancelled while it runs", () => cancelRunning(lab));
  await t.step("a client leaves: its task is cancelled, and the next turn works at once", () => leaveRunning(lab));
  await t.step("a thread goes on after the service was killed mid-run", () => serviceKilled(lab));
  await t.step("a kernel that dies mid-run ends the run, and serves the next turn when it is back", () => killed(lab));
  await t.step("a kernel that is down is reported, and serves the next turn when it is there", () => down(lab));
});

async function allKinds(lab: Lab): Promise<void> {
  const person = await lab.person();
  const turn = await person.say(scripted(
    "Look around.",
    [
      { think: "First look." },
      { text: "I will look." },
      { tool: "list_files", args: { path: "." } },
      { tool: "glob", args: { pattern: "*.tf" } },
    ],
    [{ think: "Nothing there." }, { text: "It is empty." }],
  ));
  assert.equal(turn.end, "success", turn.message);
  const history = person.history();
  assert.deepEqual(history.filter((line) => !line.startsWith("result")), [
    "user Look around.",
    "thought First look.",
    "agent I will look.",
    'call list_files {"path":"."}',
    'call glob {"pattern":"*.tf"}',
    "thought Nothing there.",
    "agent It is empty.",
  ]);
  assert.equal(history[5], "result Directory ~ is empty.");
  assert.match(history[6] ?? "", /^result /);
}

async function twoTurns(lab: Lab): Promise<void> {
  const person = await lab.person();
  await person.say(HELLO);
  const before = await lab.kernel.modelCalls();
  const turn = await person.say(scripted("And now?", [{ text: "Now this." }]));
  assert.equal(turn.end, "success", turn.message);
  assert.deepEqual(person.history(), ["user Hello?", "agent Hello there.", "user And now?", "agent Now this."]);
  assert.equal((await lab.kernel.modelCalls()).length, before.length + 1);
  const ids = person.agent.messages.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
}

async function failingTools(lab: Lab): Promise<void> {
  const person = await lab.person();
  const turn = await person.say(scripted(
    "Try.",
    [{ text: "Trying." }, { tool: "read_file", args: { path: "missing.txt" } }],
    [{ tool: "no_such_tool", args: {} }],
    [{ text: "Neither works." }],
  ));
  assert.equal(turn.end, "success", turn.message);
  const history = person.history();
  assert.deepEqual(history.filter((line) => !line.startsWith("result")), [
    "user Try.",
    "agent Trying.",
    'call read_file {"path":"missing.txt"}',
    "call no_such_tool {}",
    "agent Neither works.",
  ]);
  assert.match(history[3] ?? "", /^result .*missing\.txt/);
  assert.match(history[5] ?? "", /^result .*no_such_tool/);
}

async function modelError(lab: Lab): Promise<void> {
  const person = await lab.person();
  const turn = await person.say(scripted("Fail.", [{ http: 400 }]));
  assert.equal(turn.end, "A2A_EXECUTION_FAILED");
  assert.match(turn.message, /scripted error/);
  await assertGoesOn(person, ["user Fail."]);
}

const RED_DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const PICTURE: readonly JsonObject[] = [
  { type: "image", source: { type: "data", value: RED_DOT, mimeType: "image/png" } },
];

async function picture(lab: Lab): Promise<void> {
  const person = await lab.person({ model: "qwen3.8-max" });
  const turn = await person.say(scripted("Look at it.", [{ text: "A dot." }]), { parts: PICTURE });
  assert.equal(turn.end, "success", turn.message);
  assert.deepEqual(person.history(), ["user (parts)", "agent A dot."]);
}

async function unseenPicture(lab: Lab): Promise<void> {
  const person = await lab.person({ model: "deepseek-v3" });
  const turn = await person.say("Look at it.", { parts: PICTURE });
  assert.equal(turn.end, "A2A_EXECUTION_FAILED");
  assert.match(turn.message, /does not support image/);
  await assertGoesOn(person, ["user (parts)"]);
}

async function cancelRunning(lab: Lab): Promise<void> {
  const person = await lab.person();
  let executionId: string | undefined;
  let cancelled: Promise<string> | undefined;
  const turn = await person.say(SLOW, {
    heard(event) {
      if (event.name === "iac-code.session.v1") executionId = executionOf({ events: [event] });
      if (event.type === "TEXT_MESSAGE_CONTENT" && executionId) cancelled ??= person.cancel(executionId);
    },
  });
  assert.equal(turn.end, "CANCELLED");
  assert.equal(await cancelled, "cancelled");
  assert.equal(await person.cancel(executionId ?? ""), "already_terminal");
  await assertTaskCancelled(lab, person);
  await assertGoesOn(person, ["user Count slowly.", /^agent s0/]);
}

async function leaveRunning(lab: Lab): Promise<void> {
  const person = await lab.person();
  const turn = await person.say(SLOW, {
    heard: (event, leave) => event.type === "TEXT_MESSAGE_CONTENT" && leave(),
  });
  assert.equal(turn.end, "left");
  const left = await taskOf(lab, person);
  await assertGoesOn(person, ["user Count slowly.", /^agent s0/]);
  await assertTaskCancelled(lab, person, left);
}

async function serviceKilled(lab: Lab): Promise<void> {
  const person = await lab.person();
  let killed: Promise<void> | undefined;
  const turn = await person.say(SLOW, {
    heard: (event) => event.type === "TEXT_MESSAGE_CONTENT" && (killed ??= lab.service.kill()),
  });
  assert.equal(turn.end, "broken");
  await killed;
  await lab.service.start();
  const left = await taskOf(lab, person);
  await assertGoesOn(person, ["user Count slowly.", /^agent s0/]);
  await assertTaskCancelled(lab, person, left);
}

async function killed(lab: Lab): Promise<void> {
  const person = await lab.person();
  let dying: Promise<void> | undefined;
  const turn = await person.say(SLOW, {
    heard: (event) => event.type === "TEXT_MESSAGE_CONTENT" && (dying ??= lab.kernel.kill()),
  });
  assert.equal(turn.end, "A2A_UNAVAILABLE");
  await dying;
  await lab.kernel.start();
  await assertGoesOn(person, ["user Count slowly.", /^agent s0/]);
}

async function down(lab: Lab): Promise<void> {
  await lab.kernel.kill();
  const person = await lab.person();
  const turn = await person.say(HELLO);
  assert.equal(turn.end, "A2A_UNAVAILABLE");
  assert.deepEqual(turn.events.map(({ type }) => type), ["RUN_STARTED", "RUN_ERROR"]);
  await lab.kernel.start();
  await assertGoesOn(person, ["user Hello?"]);
}

/** The next turn works, and the history is what was said: `before`, then that turn. */
async function assertGoesOn(person: Person, before: readonly (string | RegExp)[]): Promise<void> {
  const turn = await person.say(scripted("Go on.", [{ text: "Here I am." }]));
  assert.equal(turn.end, "success", turn.message);
  const history = person.history();
  const expected = [...before, "user Go on.", "agent Here I am."];
  assert.equal(history.length, expected.length, history.join("\n"));
  for (const [at, line] of expected.entries()) {
    if (typeof line === "string") assert.equal(history[at], line);
    else assert.match(history[at] ?? "", line);
  }
}

async function taskOf(lab: Lab, person: Person): Promise<string> {
  const { execution } = await threadFile(lab.service, person.agent.threadId);
  assert.ok(isObject(execution));
  return String(execution.taskId);
}

/** The kernel itself says that a task, the thread's newest by default, was cancelled. */
async function assertTaskCancelled(lab: Lab, person: Person, task?: string): Promise<void> {
  const id = task ?? await taskOf(lab, person);
  await eventually("the task is cancelled", async () => {
    const { status } = await lab.kernel.call("GetTask", { id, historyLength: 0 });
    return isObject(status) && status.state === "TASK_STATE_CANCELED";
  });
}
