/**
 * The service is killed at random moments of a resume, on the real kernel: its file loads, the question is still open or its
 * tool ran once, and the client goes on (reference "Persistence and recovery"; docs/protocol.md, "Resume").
 */
import assert from "node:assert/strict";
import { threadFiles } from "../src/store/thread_files.ts";
import { appliedDigest, type Thread } from "../src/thread/thread.ts";
import { seeded } from "../tests/support/random.ts";
import { eventually } from "./support/eventually.ts";
import { type Lab, newcomer, openLab } from "./support/lab.ts";
import { ALLOW, type Person, scripted } from "./support/person.ts";
import type { Service } from "./support/service.ts";
import { forget, goOn, traces } from "./support/stories.ts";

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
  const id = String(person.open[0]?.id);
  const resumed = person.answer(ALLOW);
  await new Promise((resolve) => setTimeout(resolve, ms));
  await service.kill();
  await resumed;
  const thread = await loaded(service, person);
  const isOpen = thread.execution.pending.has(id);
  assert.equal(appliedDigest(thread, id) === undefined, isOpen, "a question is open or answered");
  if (!isOpen) await eventually("the tool of an accepted answer runs", async () => await ran() > 0);
  await service.start();
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
