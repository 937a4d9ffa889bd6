/**
 * The service is killed at random moments of a resume, on the real kernel: its file loads, the question is still open or its
 * tool ran once, and the client goes on (reference "Persistence and recovery"; docs/protocol.md, "Resume").
 */
import assert from "node:assert/strict";
import { threadFiles } from "../src/store/thread_files.ts";
import { appliedDigest, type Thread } from "../src/thread/thread.ts";
import { seeded } from "../tests/support/random.ts";
import { eventually } from "./support/eventually.ts";
import { filesIn, type Lab, newcomer, openLab } from "./support/lab.ts";
import { ALLOW, choose, type Person, scripted, type Status } from "./support/person.ts";
import { CANDIDATES_FIELDS } from "./support/selling.ts";
import type { Service } from "./support/service.ts";
import { DESIGN, forget, goOn, SOLUTION_FIRST, traces } from "./support/stories.ts";

const KILLS = 50;
/** Services that are killed side by side, each with a state directory and one client over all its kills. */
const LANES = 3;
/** Resumes that are carried through first, to know how long one takes here. */
const WHOLE = 3;
/** A tool and an answer take long enough for a kill to meet them. */
const command = (word: string): string => `sleep 0.2; echo ${word} >> ran.txt`;
const ANSWER = { slow: 6, gap: 0.04 };
const SAID = "agent s0 s1 s2 s3 s4 s5";

Deno.test("a service that is killed at 50 random moments of a resume runs each tool once, and each client goes on", async () => {
  await using lab = await openLab();
  const kills = Array.from({ length: KILLS }, (_, at) => at).values();
  const wrong: string[] = [];
  await Promise.all(Array.from({ length: LANES }, async (_, at) => {
    const lane = await openLane(lab, await lab.another(`lane-${at}`));
    // The lanes share the iterator: each takes the next kill when it is through with one.
    for (const kill of kills) {
      const ms = Math.round(seeded(kill).next() * lane.usualMs);
      await killAfter(ms, lane, `kill-${kill}`).catch((error) => wrong.push(`kill ${kill}, after ${ms} ms: ${error}`));
      if (wrong.length > 0) return;
    }
    await goOn(lane.person);
  }));
  assert.deepEqual(wrong, []);
});

/** Kills of each of the other stories; what they are about is when the kernel has heard and the file has not. */
const MORE_KILLS = 6;
/** Longer than their resumes take on a quiet machine, in ms. */
const QUESTION_MS = 600;
const CANDIDATES_MS = 2_500;

Deno.test("a service that is killed as words or several permissions are given gives none twice, and each client goes on", async () => {
  await using lab = await openLab();
  const stories = [questionKilled, candidatesKilled];
  const wrong: string[] = [];
  await Promise.all(stories.map(async (story) => {
    const service = await lab.another(story.name);
    for (let kill = 0; kill < MORE_KILLS; kill++) {
      const share = seeded(kill).next();
      await story(lab, service, share).catch((error) => wrong.push(`${story.name} ${kill}, at ${share}: ${error}`));
    }
  }));
  assert.deepEqual(wrong, []);
});

async function questionKilled(lab: Lab, service: Service, share: number): Promise<void> {
  const person = await newcomer(lab.folder, service, SOLUTION_FIRST);
  const words = DESIGN.replace("Design it.", `Design ${person.agent.threadId}.`);
  await asksUntil(person, words);
  const { isOpen } = await killedAnswer(service, person, choose("hz"), share * QUESTION_MS);
  if (person.open.length > 0) {
    const turn = await person.answer(choose("hz"));
    assert.equal(turn.end, isOpen ? "success" : "RESUME_ALREADY_APPLIED", turn.message);
    if (isOpen) {
      const [call, answer, ...rest] = person.history().slice(2);
      assert.match(call ?? "", /^call ask_user_question/);
      assert.deepEqual([answer, rest[0]], ["result Hangzhou", "agent Understood."]);
    } else await forget(person);
  }
  await goOn(person);
  const calls = (await lab.kernel.modelCalls()).filter((call) => call.includes(person.agent.threadId));
  assert.ok(calls.length <= 2, "the model got one answer");
}

async function candidatesKilled(lab: Lab, service: Service, share: number): Promise<void> {
  const person = await newcomer(lab.folder, service, CANDIDATES_FIELDS);
  await asksUntil(person, "Design a web site.");
  await killedAnswer(service, person, ALLOW, share * CANDIDATES_MS);
  for (let rounds = 0; person.open.some(({ metadata }) => metadata?.kind === "permission"); rounds++) {
    assert.ok(rounds < 3, "each candidate asks once");
    const turn = await person.answer(ALLOW);
    if (turn.end === "RESUME_ALREADY_APPLIED") await forget(person);
    else assert.equal(turn.end, "interrupt", turn.message);
  }
  if (person.open.length > 0) assert.equal((await filesIn(person.workspace)).length, 2);
  else {
    // The file says that more is asked than this client knows of, or nothing is.
    const turn = await person.say("Continue.");
    assert.ok(["success", "interrupt", "RESUME_REQUIRED"].includes(turn.end), `${turn.end}: ${turn.message}`);
  }
}

async function asksUntil(person: Person, words: string): Promise<void> {
  const turn = await person.say(words);
  assert.equal(turn.end, "interrupt", turn.message);
}

/** Answers, and kills the service meanwhile; whether the file has any of the questions still. */
async function killedAnswer(
  service: Service,
  person: Person,
  answer: Status,
  ms: number,
): Promise<{ isOpen: boolean }> {
  const ids = person.open.map(({ id }) => id);
  const resumed = person.answer(answer);
  await new Promise((resolve) => setTimeout(resolve, ms));
  await service.kill();
  await resumed;
  const thread = await loaded(service, person);
  for (const id of ids) {
    assert.equal(appliedDigest(thread, id) === undefined, thread.execution.pending.has(id), "it is open or answered");
  }
  await service.start();
  return { isOpen: ids.some((id) => thread.execution.pending.has(id)) };
}

interface Lane {
  readonly service: Service;
  readonly person: Person;
  /** How long a resume takes here, in ms. */
  readonly usualMs: number;
}

async function openLane({ folder }: Lab, service: Service): Promise<Lane> {
  const person = await newcomer(folder, service);
  const times: number[] = [];
  while (times.length < WHOLE) {
    await untilAsked(person, `whole-${times.length}`);
    const began = performance.now();
    const turn = await person.answer(ALLOW);
    times.push(performance.now() - began);
    assert.equal(turn.end, "success", turn.message);
  }
  return { service, person, usualMs: Math.max(...times) };
}

async function untilAsked(person: Person, word: string): Promise<void> {
  const tool = { tool: "bash", args: { command: command(word) } };
  const turn = await person.say(scripted("Do it.", [{ text: "May I?" }, tool], [ANSWER]));
  assert.equal(turn.end, "interrupt", `the message before its question: ${turn.end} ${turn.message}`);
  assert.equal(person.open.length, 1);
}

/** One kill: what is on disk then, and how the same client goes on. That its next message works is what the next kill shows. */
async function killAfter(ms: number, { service, person }: Lane, word: string): Promise<void> {
  const ran = async () => (await traces(person)).filter((trace) => trace === word).length;
  await untilAsked(person, word);
  const { isOpen } = await killedAnswer(service, person, ALLOW, ms);
  if (!isOpen) await eventually("the tool of an accepted answer runs", async () => await ran() > 0);
  if (person.open.length > 0) await answerAgain(person, isOpen, word);
  assert.equal(await ran(), 1, "the tool ran once");
}

async function answerAgain(person: Person, isOpen: boolean, word: string): Promise<void> {
  const turn = await person.answer(ALLOW);
  if (isOpen) {
    assert.equal(turn.end, "success", turn.message);
    const call = `call bash ${JSON.stringify({ command: command(word) })}`;
    // Whoever heard the question hears all that came of it, also when another process had sent the answer.
    assert.deepEqual(person.history().slice(-5), ["user Do it.", "agent May I?", call, "result Exit code: 0", SAID]);
  } else {
    assert.equal(turn.end, "RESUME_ALREADY_APPLIED", turn.message);
    await forget(person);
  }
}

async function loaded({ stateDir }: Service, { agent }: Person): Promise<Thread> {
  const thread = await threadFiles({ folder: `${stateDir}/threads`, fallbackExpiry: () => null }).load(agent.threadId);
  assert.ok(thread);
  return thread;
}
