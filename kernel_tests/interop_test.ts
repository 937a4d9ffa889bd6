/**
 * The Python adapter and this service take turns on one state directory and port, as when an operator switches from one to
 * the other: the threads, their clients and their kernel stay (docs/switching.md).
 */
import assert from "node:assert/strict";
import { filesIn, type Lab, newcomer, openLab } from "./support/lab.ts";
import { ALLOW, choose, type Person, scripted, type Status } from "./support/person.ts";
import { freePort } from "./support/program.ts";
import { type Service, startAdapter, startService } from "./support/service.ts";
import { CANDIDATES_FIELDS } from "./support/selling.ts";
import { append, DESIGN, SOLUTION_FIRST, traces, untilAsked } from "./support/stories.ts";

const PERMISSION = scripted("Do it.", [{ text: "May I?" }, append("once")], [{ text: "Went on." }]);
const HELLO = scripted("Hello?", [{ text: "Hello there." }]);

interface Side {
  readonly name: string;
  readonly start: (options: { lab: Lab; port: number }) => Promise<Service>;
}

const STATE = "switched";
const OURS: Side = {
  name: "this service",
  start: ({ lab, port }) => startService({ folder: lab.folder, kernelUrl: lab.kernel.url, state: STATE, port }),
};
const PYTHON: Side = {
  name: "the Python adapter",
  start: ({ lab, port }) => startAdapter({ folder: lab.folder, kernelUrl: lab.kernel.url, state: STATE, port }),
};

Deno.test("this service and the Python adapter go on with each other's threads", async (t) => {
  await using lab = await openLab();
  const port = freePort();
  let running: Service | undefined;
  /** Stops what runs and starts a side in its place. */
  async function switchTo(side: Side): Promise<Service> {
    await running?.stop();
    return running = await side.start({ lab, port });
  }
  try {
    for (const [first, second] of [[OURS, PYTHON], [PYTHON, OURS]] as const) {
      const people = await firstHalf(lab, await switchTo(first));
      const there = await switchTo(second);
      for (const [what, goesOn] of secondHalf(there, people)) {
        await t.step(`${what}: first ${first.name}, then ${second.name}`, goesOn);
      }
      await switchTo(first);
      await t.step(
        `a question of ${first.name} is answered by it after ${second.name} had its place`,
        () => assertAllowed(people.backAndForth),
      );
      await switchTo(second);
      await t.step(`a thread that both have had a hand in goes on with ${second.name}`, async () => {
        await assertHello(people.talking);
        await assertHello(people.backAndForth);
      });
    }
  } finally {
    await running?.kill();
  }
});

interface People {
  readonly talking: Person;
  readonly permission: Person;
  readonly question: Person;
  readonly candidates: Person;
  readonly backAndForth: Person;
  readonly repeating: string;
}

/** What happens before the switch: an ordinary turn, and questions that wait. */
async function firstHalf(lab: Lab, service: Service): Promise<People> {
  const someone = (fields = {}): Promise<Person> => newcomer(lab.folder, service, fields);
  const people = {
    talking: await someone(),
    permission: await someone(),
    question: await someone(SOLUTION_FIRST),
    candidates: await someone(CANDIDATES_FIELDS),
    backAndForth: await someone(),
    repeating: repeatable(await someone()),
  };
  await assertHello(people.talking);
  await untilAsked(people.permission, PERMISSION);
  await untilAsked(people.question, DESIGN);
  await untilAsked(people.backAndForth, PERMISSION);
  const asked = await people.candidates.say("Design a web site.");
  assert.equal(asked.end, "interrupt", asked.message);
  assert.equal(await codeOf(service, people.repeating), "started");
  return people;
}

function secondHalf(service: Service, people: People): [string, () => Promise<void>][] {
  const { talking, permission, question, candidates, backAndForth, repeating } = people;
  return [
    ["an ordinary turn", () => assertHello(talking)],
    ["a permission is answered", () => assertAllowed(permission)],
    ["a question is answered", () => assertAnswered(question, choose("hz"))],
    ["the permissions of both candidates are given", () => assertCandidates(candidates)],
    ["a request that came before is recognized", async () => {
      assert.equal(await codeOf(service, repeating), "DUPLICATE_RUN_ID");
      assert.equal(await codeOf(service, repeating.replace("Hello?", "Hello!")), "RUN_ID_CONFLICT");
    }],
    ["a question waits on", async () => {
      const turn = await backAndForth.elsewhere().say(HELLO);
      assert.equal(turn.end, "RESUME_REQUIRED");
    }],
  ];
}

async function assertHello(person: Person): Promise<void> {
  const turn = await person.say(HELLO);
  assert.equal(turn.end, "success", turn.message);
  assert.deepEqual(person.history().slice(-2), ["user Hello?", "agent Hello there."]);
}

async function assertAllowed(person: Person): Promise<void> {
  await assertAnswered(person, ALLOW);
  assert.deepEqual(await traces(person), ["once"]);
}

async function assertAnswered(person: Person, answer: Status): Promise<void> {
  const turn = await person.answer(answer);
  assert.equal(turn.end, "success", turn.message);
  assert.deepEqual(person.open, []);
}

/** The Python adapter asks for one candidate after the other; then the user is asked which one to take. */
async function assertCandidates(person: Person): Promise<void> {
  for (let rounds = 0; person.open.every(({ metadata }) => metadata?.kind === "permission"); rounds++) {
    assert.ok(rounds < 3, "each candidate asks once");
    const turn = await person.answer(ALLOW);
    assert.equal(turn.end, "interrupt", turn.message);
  }
  assert.deepEqual(person.open.map(({ metadata }) => metadata?.kind), ["candidate_selection"]);
  assert.equal((await filesIn(person.workspace)).length, 2);
}

/** The body of a run that can be sent twice, with numbers and letters whose digest is easily got wrong. */
function repeatable({ workspace, agent }: Person): string {
  return JSON.stringify({
    threadId: agent.threadId,
    runId: "Grüße 🌍",
    state: { price: 1.5, big: 1e21, zero: -0.0, tiny: 1e-7 },
    messages: [{ id: "m", role: "user", content: HELLO }],
    tools: [],
    context: [],
    forwardedProps: { iacCode: { schemaVersion: 1, rosInvocationId: "invocation", cwd: workspace, runMode: "normal" } },
  });
}

/** `started`, once the run is over, or the code of a refusal. */
async function codeOf({ url }: Service, body: string): Promise<string> {
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  const text = await response.text();
  return response.ok ? "started" : String(JSON.parse(text).error.code);
}
