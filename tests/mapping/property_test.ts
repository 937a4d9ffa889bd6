/**
 * Recorded frames dropped, doubled, swapped, mixed, cut and resumed anywhere. Whatever the kernel says, the mapper throws
 * nothing, the real client and the strict check accept every stream, and no id is used twice in a thread. What it says is
 * told once and whole: as `createTextModel` has it, and after any cut, all of it.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { isObject, type JsonObject } from "../../src/json.ts";
import type { Cause } from "../../src/mapping/mapper.ts";
import { encodeEvent } from "../../src/stream/frame.ts";
import { judgedByClient } from "../support/client_judge.ts";
import { account, journal } from "../support/memory_kernel.ts";
import {
  ask,
  beginStory,
  frameOf,
  interruptAndResume,
  isPiece,
  mutate,
  mutations,
  prefixed,
} from "../support/mutated_story.ts";
import { strictThread } from "../support/strict_stream.ts";
import { junk, junkFrame } from "../support/junk_frames.ts";
import { saidIn, statusIn, type Timeline, timelinesOf } from "../support/task_timeline.ts";
import { createTextModel } from "../support/text_model.ts";
import { readWire, wireNames } from "../support/wires.ts";

const TIMELINES: readonly Timeline[] = (await Promise.all(wireNames().map((name) => readWire(name)))).flatMap(
  timelinesOf,
);
const SEED = 20_260;
const UNREACHED: Cause = { cause: "error", code: "A2A_UNAVAILABLE" };

const timeline = fc.constantFrom(...TIMELINES);
const place = fc.nat({ max: 200 });
/** Where questions of ours are asked, and how many frames come before they are announced. */
const questions = fc.array(place, { maxLength: 3 });
const patience = fc.nat({ max: 3 });

/** All runs of a thread, judged. */
async function judge(runs: ReadonlyArray<readonly JsonObject[]>): Promise<void> {
  const strict = strictThread({ timestamps: false });
  for (const events of runs) {
    strict.check(events);
    await judgedByClient(events);
  }
}

function textOf(runs: ReadonlyArray<readonly JsonObject[]>): string {
  return runs.flat().filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").map(({ delta }) => delta).join("");
}

Deno.test("mutated frames: every stream is accepted, and text is told as the rules have it", async () => {
  const story = fc.record({ own: timeline, changes: mutations, asked: questions, patience, repeats: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(story, async ({ own, changes, asked, patience, repeats }) => {
      const { runs, told } = tellMutated(own, ask(own, mutate(TIMELINES, own, changes), asked), patience, repeats);
      await judge(runs);
      assert.equal(textOf(runs), told);
    }),
    { seed: SEED, numRuns: 600 },
  );
});

function tellMutated(
  own: Timeline,
  frames: readonly JsonObject[],
  patience: number,
  repeats: boolean,
): { runs: JsonObject[][]; told: string } {
  const model = createTextModel();
  const runs: JsonObject[][] = [];
  let run = beginStory(own);
  let waited = 0;
  let repeating = false;
  for (const data of frames) {
    if (run.mapper.phase === "gathering" && waited++ >= patience) {
      runs.push(run.events);
      run = interruptAndResume(own, run, `run-${runs.length + 1}`);
      model.resume();
      [waited, repeating] = [0, repeats];
    }
    const plain = frameOf(data);
    const isRepeat: boolean = repeating && isPiece(plain);
    const frame = isRepeat ? prefixed(plain, model.agent) : plain;
    repeating &&= !isRepeat;
    run.accept(frame);
    model.frame(frame);
    if (run.mapper.phase === "ended") break;
  }
  run.end(run.mapper.phase === "gathering" ? { cause: "interrupt", expiresAt: null } : UNREACHED);
  return { runs: [...runs, run.events], told: model.told };
}

Deno.test("cuts anywhere: all text that the kernel has said is told, in its order and once", async () => {
  const cuts = fc.array(fc.record({ at: place, ahead: fc.nat({ max: 12 }) }), { maxLength: 4 });
  const story = fc.record({ own: timeline, asked: questions, cuts });
  await fc.assert(
    fc.asyncProperty(story, async ({ own, asked, cuts }) => {
      const frames = ask(own, own.frames, asked.map((at) => turnBefore(own.frames, at % own.frames.length)));
      const { runs, until } = tellCut({ ...own, frames }, cuts);
      await judge(runs);
      assert.equal(textOf(runs), saidIn(frames.slice(0, until)));
    }),
    { seed: SEED, numRuns: 600 },
  );
});

/** The kernel asks about tools, so not while an answer is being streamed: the last place before at which none is. */
function turnBefore(frames: readonly JsonObject[], at: number): number {
  const asks = frames.slice(0, at).findLastIndex((frame) => {
    const { tool, pipeline } = statusIn(frame)?.iac ?? {};
    return tool !== undefined || pipeline !== undefined;
  });
  return asks + 1;
}

interface CutAt {
  readonly at: number;
  /** How many frames the kernel works on before it is found again. */
  readonly ahead: number;
}

function tellCut(own: Timeline, cuts: readonly CutAt[]): { runs: JsonObject[][]; until: number } {
  const { frames } = own;
  const places = new Map(cuts.map(({ at, ahead }) => [at % frames.length, ahead]));
  const runs: JsonObject[][] = [];
  const settled: string[] = [];
  let run = beginStory(own);
  let at = 0;
  while (at < frames.length && run.mapper.phase !== "ended") {
    const ahead = run.mapper.taskId === null ? undefined : places.get(at);
    places.delete(at);
    if (ahead !== undefined) {
      at = Math.min(at + ahead, nextQuestion(frames, at));
      // Whoever waits for the kernel's next event of another kind gets the text before it, too.
      while (isDeferred(frames[at - 1]) && at < nextQuestion(frames, at)) at++;
      if (own.envelopes.length > 0) run.recover(journal(own, at, run.mapper.sequence));
      run.accept(frameOf({ result: { task: account(own, at, settled) } }));
    } else run.accept(frameOf(frames[at++] ?? {}));
    if (run.mapper.phase !== "gathering") continue;
    settled.push(...askedBefore(frames, at));
    runs.push(run.events);
    run = interruptAndResume(own, run, `run-${runs.length + 1}`);
  }
  run.end(UNREACHED);
  return { runs: [...runs, run.events], until: at };
}

/** The questions that frames before a place ask. */
function askedBefore(frames: readonly JsonObject[], at: number): string[] {
  return frames.slice(0, at).flatMap((frame) => {
    const input = statusIn(frame)?.iac.input;
    return isObject(input) ? [String(input.inputId)] : [];
  });
}

/** Whether the kernel's journal does not hold a frame's event yet. */
function isDeferred(frame: JsonObject | undefined): boolean {
  const pipeline = frame && statusIn(frame)?.iac.pipeline;
  const type = isObject(pipeline) ? pipeline.eventType : undefined;
  return type === "text_delta" || type === "thinking_delta";
}

/** The kernel goes no further than its next question. */
function nextQuestion(frames: readonly JsonObject[], from: number): number {
  const next = frames.findIndex((frame, at) => at >= from && statusIn(frame)?.iac.input !== undefined);
  return next < 0 ? frames.length : next + 1;
}

Deno.test("anything at all: nothing is thrown, and every stream is accepted", async () => {
  const story = fc.record({
    own: timeline,
    changes: mutations,
    junk: fc.array(fc.tuple(place, junk), { maxLength: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(story, async ({ own, changes, junk }) => {
      const frames = mutate(TIMELINES, own, changes);
      for (const [at, update] of junk) frames.splice(at % (frames.length + 1), 0, junkFrame(own, update));
      const { runs } = tellMutated(own, frames, 1, false);
      // The client gets an event as it is encoded.
      await judge(runs.map((events) => events.map(encoded)));
    }),
    { seed: SEED, numRuns: 600 },
  );
});

function encoded(event: JsonObject): JsonObject {
  const { timestamp: _, ...rest } = JSON.parse(encodeEvent(event as never, 0).slice("data: ".length));
  return rest;
}
