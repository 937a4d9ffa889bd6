/**
 * The kernel's stream breaks after each single frame of each recorded wire, and the kernel is gone, or works on and is picked
 * up again (docs/protocol.md, "A cut stream"): every run ends, every stream keeps the rules, and what could be heard is told,
 * whole, in order and once.
 */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../src/json.ts";
import { isFinal, requiredInputs } from "../src/kernel/wire.ts";
import { contextIdOf } from "../src/thread/thread.ts";
import { eventLines } from "./support/event_lines.ts";
import { type Cut, type MemoryKernel, memoryKernel } from "./support/memory_kernel.ts";
import { instantClock, serviceOn } from "./support/service.ts";
import { strictThread } from "./support/strict_stream.ts";
import { saidIn, statusIn, type Timeline, timelinesOf } from "./support/task_timeline.ts";
import { readWire, wireNames } from "./support/wires.ts";

/** More rounds of questions than any wire has. */
const RUNS = 8;
/** A run takes a few ms. */
const STUCK_MS = 10_000;

interface Told {
  readonly events: readonly JsonObject[];
  readonly kernel: MemoryKernel;
}

/** Tells a task's story, answering whatever is asked, until it is over. */
async function tell(timeline: Timeline, threadId: string, root: string, cut?: Cut): Promise<Told> {
  const kernel = memoryKernel(timeline, cut);
  const service = serviceOn(kernel.kernel, instantClock(), root);
  const strict = strictThread();
  const events: JsonObject[] = [];
  const runMode = timeline.envelopes.length > 0 ? "pipeline" : "normal";
  let resume: JsonObject[] | undefined;
  for (let runs = 1; runs <= RUNS; runs++) {
    const messages = [{ id: `message-${runs}`, role: "user", content: "go" }];
    const iacCode = { schemaVersion: 1, rosInvocationId: "invocation", cwd: root, runMode };
    const input = { threadId, runId: `run-${runs}`, state: {}, messages, tools: [], context: [] };
    const running = service.run({ ...input, forwardedProps: { iacCode }, ...(resume && { resume }) }, strict);
    const run = await bounded(running, `run ${runs}, after ${eventLines(events).slice(-3).join(" | ")}`);
    events.push(...run);
    resume = answersTo(run.at(-1));
    if (!resume || kernel.isOver) break;
  }
  assert.ok(!resume || kernel.isOver, "still asking");
  await service.services.aftermath.settled();
  assert.deepEqual(service.errors, []);
  assert.equal(service.services.runs.size, 0);
  return { events, kernel };
}

/** A promise that must settle soon; it stands for waits without an end. */
async function bounded<T>(promise: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no end of ${what}`)), STUCK_MS);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function answersTo(last: JsonObject | undefined): JsonObject[] | undefined {
  const outcome = last?.outcome;
  if (!isObject(outcome) || !Array.isArray(outcome.interrupts)) return undefined;
  return outcome.interrupts.filter(isObject).map(({ id, reason, metadata }) => {
    const options = isObject(metadata) && Array.isArray(metadata.standardOptions) ? metadata.standardOptions : [];
    const [option] = options.filter(isObject);
    const chosen = option ? { selectedId: option.id ?? null } : { freeText: "as you like" };
    const payload = reason === "tool_call" ? { decision: "allow_once" } : chosen;
    return { interruptId: id ?? null, status: "resolved", payload };
  });
}

function textOf(events: readonly JsonObject[]): string {
  return events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").map(({ delta }) => delta).join("");
}

/** What a pipeline did, whichever runs told it: everything but its text, which is compared apart. */
function deedsOf(events: readonly JsonObject[]): string[] {
  const told = events.filter(({ type, name }) =>
    type === "TOOL_CALL_ARGS" || type === "TOOL_CALL_RESULT" || name === "iac-code.pipeline.v1"
  );
  return eventLines(told);
}

function endOf(events: readonly JsonObject[]): string {
  const { type, code, outcome } = events.at(-1) ?? {};
  return `${type} ${code ?? (isObject(outcome) ? outcome.type : "")}`;
}

/** Whether a run ends with a frame, whatever comes behind it. */
function isEnd(frame: JsonObject): boolean {
  const { state, iac = {} } = statusIn(frame) ?? {};
  return isFinal(state) || (state === "INPUT_REQUIRED" && requiredInputs(iac).length === 0);
}

function checkGone(timeline: Timeline, { events, kernel }: Told, whole: Told): void {
  assert.equal(textOf(events), saidIn(timeline.frames.slice(0, sum(kernel.told))), "what was heard is told");
  const isOver = timeline.frames.slice(0, sum(kernel.told)).some(isEnd) || kernel.isOver;
  assert.equal(endOf(events), isOver ? endOf(whole.events) : "RUN_ERROR A2A_UNAVAILABLE");
}

function checkPickedUp(timeline: Timeline, cut: Cut, { events, kernel }: Told, whole: Told): void {
  if (cut.stream === 0 && cut.frames === 0) {
    // Nobody knows whether there is a task, and sending again could do its work twice.
    return assert.equal(endOf(events), "RUN_ERROR A2A_UNAVAILABLE");
  }
  assert.equal(textOf(events), textOf(whole.events), "all text in order, once");
  assert.equal(endOf(events), endOf(whole.events));
  assert.deepEqual(kernel.cancelled, whole.kernel.cancelled);
  assert.deepEqual([...kernel.answered].sort(), [...whole.kernel.answered].sort());
  if (timeline.envelopes.length > 0) assert.deepEqual(deedsOf(events), deedsOf(whole.events));
}

function sum(counts: readonly number[]): number {
  return counts.reduce((one, other) => one + other, 0);
}

const FATES: readonly Cut["then"][] = ["dies", 0, 2, 10_000];

async function cutEverywhere(timeline: Timeline, threadId: string, root: string): Promise<void> {
  const whole = await tell(timeline, threadId, root);
  assert.equal(textOf(whole.events), saidIn(timeline.frames), "an uncut story");
  for (const [stream, length] of whole.kernel.told.entries()) {
    for (let frames = 0; frames <= length; frames++) {
      for (const then of FATES) {
        const cut = { stream, frames, then };
        try {
          const told = await tell(timeline, threadId, root, cut);
          if (then === "dies") checkGone(timeline, told, whole);
          else checkPickedUp(timeline, cut, told, whole);
        } catch (error) {
          throw new Error(`cut in stream ${stream} after ${frames} of ${length} frames, then ${then}`, {
            cause: error,
          });
        }
      }
    }
  }
}

for (const name of wireNames()) {
  Deno.test(`cut after each frame: ${name}`, async () => {
    const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "agui-cut-" }));
    try {
      // A thread's id decides its context, so each recorded context gets a thread, and frames name that thread's context.
      const contexts = new Set(timelinesOf(await readWire(name)).map(({ contextId }) => contextId));
      const wire = await readWire(name, Object.fromEntries([...contexts].map((id) => [id, contextIdOf(id)])));
      for (const timeline of timelinesOf(wire)) {
        const threadId = [...contexts].find((id) => contextIdOf(id) === timeline.contextId) ?? "";
        await cutEverywhere(timeline, threadId, root);
      }
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  });
}
