/**
 * Stories in which the agent stops to ask, in two halves: until it asks, and from the answer on. Whoever tells one may let
 * anything happen in between.
 */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../src/json.ts";
import {
  ALLOW,
  CANCELLED,
  choose,
  DENY,
  executionOf,
  type Person,
  scripted,
  type Status,
  type Turn,
  write,
} from "./person.ts";

export interface Story {
  readonly title: string;
  /** Fields of iacCode for each of its runs. */
  readonly fields?: JsonObject;
  /** Until the agent asks; gives the run that asked. */
  begin(person: Person): Promise<Turn>;
  /** Answers, goes on, and compares history and effects with what was said. */
  finish(person: Person, asked: Turn): Promise<void>;
}

/** A command that leaves a trace each time it runs. */
export const append = (word: string): JsonObject => ({ tool: "bash", args: { command: `echo ${word} >> ran.txt` } });
const ran = (word: string): string => `call bash {"command":"echo ${word} >> ran.txt"}`;
const RAN = "result Exit code: 0";
const DENIED = /^result The user explicitly denied this tool operation/;
const NEXT = scripted("Go on.", [{ text: "Here I am." }]);

/** What the commands left in a workspace, in order. */
export async function traces({ workspace }: Person): Promise<string[]> {
  try {
    return (await Deno.readTextFile(`${workspace}/ran.txt`)).trim().split("\n");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** A history, line by line. */
export function assertHistory(person: Person, expected: readonly (string | RegExp)[]): void {
  const history = person.history();
  for (const [at, line] of expected.entries()) {
    if (typeof line === "string") assert.equal(history[at], line, history.join("\n"));
    else assert.match(history[at] ?? "", line, history.join("\n"));
  }
  assert.equal(history.length, expected.length, history.join("\n"));
}

/** Says something until the agent asks. */
export async function untilAsked(person: Person, words: string, questions = 1): Promise<Turn> {
  const turn = await person.say(words);
  assert.equal(turn.end, "interrupt", turn.message);
  assert.equal(person.open.length, questions);
  return turn;
}

/** The next message works on the same agent object. */
export async function goOn(person: Person): Promise<void> {
  const turn = await person.say(NEXT);
  assert.equal(turn.end, "success", turn.message);
  assert.deepEqual(person.history().slice(-2), ["user Go on.", "agent Here I am."]);
}

/** The client forgets an interrupt that is over, by a run that does nothing. */
export async function forget(person: Person): Promise<void> {
  const turn = await person.answer(CANCELLED);
  assert.equal(turn.end, "success", turn.message);
  assert.deepEqual(person.open, []);
}

function permission(title: string, answer: Status, result: string | RegExp, effects: readonly string[]): Story {
  return {
    title,
    begin: (person) =>
      untilAsked(person, scripted("Do it.", [{ text: "May I?" }, append("once")], [{ text: "Went on." }])),
    async finish(person) {
      const turn = await person.answer(answer);
      assert.equal(turn.end, "success", turn.message);
      const history = ["user Do it.", "agent May I?", ran("once"), result, "agent Went on."];
      assertHistory(person, history);
      assert.deepEqual(await traces(person), effects);
      await goOn(person);
      assertHistory(person, [...history, "user Go on.", "agent Here I am."]);
    },
  };
}

export const ALLOWED = permission("a tool that is allowed runs once", ALLOW, RAN, ["once"]);

const twoPermissions: Story = {
  title: "two tools of one answer are asked about one after the other, and each runs once",
  begin: (person) =>
    untilAsked(person, scripted("Do both.", [{ text: "May I?" }, append("one"), append("two")], [{ text: "Both." }])),
  async finish(person) {
    const first = await person.answer(ALLOW);
    assert.equal(first.end, "interrupt", first.message);
    assert.equal(person.open.length, 1);
    const second = await person.answer(ALLOW);
    assert.equal(second.end, "success", second.message);
    assertHistory(person, ["user Do both.", "agent May I?", ran("one"), ran("two"), RAN, RAN, "agent Both."]);
    assert.deepEqual(await traces(person), ["one", "two"]);
    await goOn(person);
  },
};

const QUESTION = {
  question: "Which region?",
  options: [{ id: "hz", label: "Hangzhou" }, { id: "bj", label: "Beijing" }],
};
const REJECT = { status: "rejected", "rejection_reason": "none" };
export const DESIGN = scripted(
  "Design it.",
  [{ text: "One question." }, { tool: "ask_user_question", args: QUESTION }],
  [{ text: "Understood." }, { tool: "complete_step", args: { conclusion: REJECT } }],
);
const ASKED = [
  "user Design it.",
  "agent One question.",
  'call ask_user_question {"options":[{"id":"hz","label":"Hangzhou"},{"id":"bj","label":"Beijing"}],"question":"Which region?"}',
];
export const SOLUTION_FIRST = { runMode: "pipeline", pipelineName: "selling_solution_first" };

function question(title: string, answer: Status, result: string): Story {
  return {
    title,
    fields: SOLUTION_FIRST,
    begin: (person) => untilAsked(person, DESIGN),
    async finish(person) {
      const turn = await person.answer(answer);
      assert.equal(turn.end, "success", turn.message);
      assertHistory(person, [
        ...ASKED,
        result,
        "agent Understood.",
        'call complete_step {"conclusion":{"rejection_reason":"none","status":"rejected"}}',
        /^result Step .* completed/,
      ]);
      await goOn(person);
    },
  };
}

const cancelledQuestion: Story = {
  title: "a question that is cancelled ends the execution, and the next message works",
  fields: SOLUTION_FIRST,
  begin: (person) => untilAsked(person, DESIGN),
  async finish(person) {
    const turn = await person.answer(CANCELLED);
    assert.equal(turn.end, "CANCELLED");
    await forget(person);
    await goOn(person);
    assertHistory(person, [...ASKED, "user Go on.", "agent Here I am."]);
  },
};

const cancelExtension: Story = {
  title: "an execution that waits is cancelled, and the next message works",
  begin: ALLOWED.begin,
  async finish(person, asked) {
    const executionId = executionOf(asked);
    assert.equal(await person.cancel(executionId), "cancelled");
    assert.equal(await person.cancel(executionId), "already_terminal");
    const late = await person.answer(ALLOW);
    assert.equal(late.end, "UNKNOWN_INTERRUPT");
    await forget(person);
    await goOn(person);
    assertHistory(person, ["user Do it.", "agent May I?", ran("once"), "user Go on.", "agent Here I am."]);
    assert.deepEqual(await traces(person), []);
  },
};

/** What is left to do with an interrupt that nobody has answered in time; needs a service whose interrupts expire soon. */
export const EXPIRED: readonly Story[] = [
  {
    title: "an answer that comes too late is refused, and the next message works",
    begin: ALLOWED.begin,
    async finish(person) {
      const [open] = await untilExpired(person);
      // The client itself refuses to send it; a page that was loaded again does not know better.
      const late = await person.elsewhere().resume([{ interruptId: open?.id ?? "", ...ALLOW }]);
      assert.equal(late.end, "EXECUTION_EXPIRED");
      await finishExpired(person);
    },
  },
  {
    title: "an expired interrupt is given up, and the next message works",
    begin: ALLOWED.begin,
    async finish(person) {
      await untilExpired(person);
      await finishExpired(person);
    },
  },
];

async function untilExpired({ open }: Person): Promise<Person["open"]> {
  const last = Math.max(...open.map(({ expiresAt }) => Date.parse(expiresAt ?? "")));
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, last + 1 - Date.now())));
  return open;
}

async function finishExpired(person: Person): Promise<void> {
  await forget(person);
  await goOn(person);
  assertHistory(person, ["user Do it.", "agent May I?", ran("once"), "user Go on.", "agent Here I am."]);
  assert.deepEqual(await traces(person), []);
}

/** Stories of the main agent's questions and of a pipeline's own. */
export const STORIES: readonly Story[] = [
  ALLOWED,
  permission("a tool that is denied does not run", DENY, DENIED, []),
  permission("a permission that is cancelled is denied", CANCELLED, DENIED, []),
  twoPermissions,
  question("a question is answered with an option", choose("hz"), "result Hangzhou"),
  question("a question is answered with the user's own words", write("Shanghai, please"), "result Shanghai, please"),
  cancelledQuestion,
  cancelExtension,
];

/** A pipeline event that a run has told. */
export function pipelineEvents({ events }: Turn): string[] {
  return events.flatMap(({ name, value }) =>
    name === "iac-code.pipeline.v1" && isObject(value) ? [String(value.eventType)] : []
  );
}
