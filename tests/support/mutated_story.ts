/** Stories made of recorded frames that were dropped, doubled, swapped, mixed, interrupted by questions: by plain numbers. */
import fc from "fast-check";
import type { JsonObject } from "../../src/json.ts";
import { type Frame, toFrame } from "../../src/kernel/wire.ts";
import type { Thread } from "../../src/thread/thread.ts";
import { permission } from "./kernel_frames.ts";
import { type MappedRun, mappedRun } from "./mapped_run.ts";
import type { Timeline } from "./task_timeline.ts";

/** What happens to a list of frames; places are counted modulo its length. */
export type Mutation =
  | { readonly kind: "drop" | "cut"; readonly at: number }
  | { readonly kind: "double" | "swap"; readonly at: number; readonly with: number }
  | { readonly kind: "mix"; readonly at: number; readonly pattern: readonly boolean[] };

const place = fc.nat({ max: 200 });

export const mutations: fc.Arbitrary<Mutation[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("drop" as const), at: place }),
    fc.record({ kind: fc.constant("double" as const), at: place, with: place }),
    fc.record({ kind: fc.constant("swap" as const), at: place, with: place }),
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("cut" as const), at: place }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("mix" as const),
        at: place,
        pattern: fc.array(fc.boolean(), { minLength: 4, maxLength: 40 }),
      }),
    },
  ),
  { maxLength: 8 },
);

/** A timeline's frames after some mutations; what is mixed in comes from another timeline and is told of this task. */
export function mutate(timelines: readonly Timeline[], own: Timeline, changes: readonly Mutation[]): JsonObject[] {
  let frames = [...own.frames];
  for (const change of changes) {
    const at = change.at % Math.max(1, frames.length);
    const frame = frames[at];
    if (!frame) continue;
    if (change.kind === "drop") frames.splice(at, 1);
    if (change.kind === "cut") frames = frames.slice(0, at);
    if (change.kind === "double") frames.splice(change.with % (frames.length + 1), 0, frame);
    if (change.kind === "swap") {
      const other = change.with % frames.length;
      [frames[at], frames[other]] = [frames[other] ?? frame, frame];
    }
    if (change.kind === "mix") {
      frames = mix(frames, toldOf(own, timelines[change.at % timelines.length]), change.pattern);
    }
  }
  return frames;
}

function toldOf(own: Timeline, other: Timeline | undefined): JsonObject[] {
  if (!other || other.taskId === own.taskId) return [];
  const json = JSON.stringify(other.frames).replaceAll(other.taskId, own.taskId);
  return JSON.parse(json.replaceAll(other.contextId, own.contextId));
}

/** Two lists as one, each in its own order. */
function mix(one: readonly JsonObject[], other: readonly JsonObject[], pattern: readonly boolean[]): JsonObject[] {
  const left = [...one];
  const right = [...other];
  const mixed: JsonObject[] = [];
  for (let at = 0; left.length + right.length > 0; at++) {
    const next = (pattern[at % pattern.length] ? right : left).shift();
    if (next) mixed.push(next);
    else return [...mixed, ...left, ...right];
  }
  return mixed;
}

/** The frames with questions of our own in some places, each about a call that nobody has told of. */
export function ask(
  { taskId, contextId }: Timeline,
  frames: readonly JsonObject[],
  places: readonly number[],
): JsonObject[] {
  const asked = [...frames];
  for (const [number, at] of places.entries()) {
    const input = permission(`asked-${number}`, `call-asked-${number}`, { requestTaskId: taskId });
    const status = { state: "TASK_STATE_INPUT_REQUIRED" };
    const metadata = { "iac_code": { iacCodeSessionId: "session", input } };
    const frame = { jsonrpc: "2.0", id: "asked", result: { statusUpdate: { taskId, contextId, status, metadata } } };
    asked.splice(at % (asked.length + 1), 0, frame);
  }
  return asked;
}

/** A frame whose text has other text before it. */
export function prefixed(frame: Frame, prefix: string): Frame {
  if (frame.kind !== "status" || !frame.status.message) return frame;
  const message = { ...frame.status.message, text: prefix + frame.status.message.text };
  return { ...frame, status: { ...frame.status, message } };
}

/** Whether a frame is a piece of the agent's text. */
export function isPiece(frame: Frame): boolean {
  return frame.kind === "status" && frame.status.message?.role === "ROLE_AGENT" && frame.status.message.text !== "" &&
    frame.status.iac.assistantFinal === undefined;
}

/** The first run of a story. */
export function beginStory({ contextId }: Timeline): MappedRun {
  return mappedRun({ start: { contextId } });
}

/** Ends a run with what it was asked, and begins the next one, in which everything is answered. */
export function interruptAndResume({ contextId, taskId }: Timeline, run: MappedRun, runId: string): MappedRun {
  run.end({ cause: "interrupt", expiresAt: null });
  const { thread }: { thread: Thread } = run;
  const next = mappedRun({ runId, resumes: thread, start: { contextId, taskId, sessionId: thread.sessionId } });
  for (const [id, { value }] of thread.execution.pending) {
    next.answered(id, `digest of ${id}`, value.kind === "permission" ? undefined : "as you like");
  }
  return next;
}

/** A recorded JSON-RPC answer as a frame. */
export function frameOf(data: JsonObject): Frame {
  return toFrame(data);
}
