/**
 * A task of a recorded wire as the kernel went through it: all its frames in their order, whichever stream they were told in,
 * and the places where it waited for answers. From this a stand-in can tell any part of it, as often as wanted.
 */
import { integer, isObject, type JsonObject } from "../../src/json.ts";
import { type RequiredInput, requiredInputs, type Status, toFrame } from "../../src/kernel/wire.ts";
import type { Recorded, Wire } from "./wires.ts";

export interface Timeline {
  readonly wire: string;
  readonly taskId: string;
  readonly contextId: string;
  /** JSON-RPC answers. */
  readonly frames: readonly JsonObject[];
  /** Where the task waits for answers. */
  readonly gates: readonly Gate[];
  /** Every event of the pipeline, in its order; none when there is no pipeline. */
  readonly envelopes: readonly JsonObject[];
}

export interface Gate {
  /** How many frames come before it. */
  readonly at: number;
  readonly asked: readonly RequiredInput[];
}

/** The timelines of a wire's tasks, but for those that were refused at once. */
export function timelinesOf(wire: Wire): Timeline[] {
  const streams = wire.exchanges.filter(({ frames }) => frames.length > 0);
  const ids = new Set(streams.map(taskIdOf).filter((id) => id !== undefined));
  return [...ids]
    .map((id) => timelineOf(wire, id, streams.filter((stream) => taskIdOf(stream) === id)))
    .filter(({ frames }) => !frames.slice(0, 2).some((frame) => statusIn(frame)?.state === "FAILED"));
}

/** What a frame says about its task. */
export function statusIn(data: JsonObject): Status & { readonly isTask: boolean } | undefined {
  const frame = toFrame(data);
  return "status" in frame ? { ...frame.status, isTask: frame.kind === "task" } : undefined;
}

function taskIdOf({ frames }: Recorded): string | undefined {
  return frames.map(({ data }) => statusIn(data)?.taskId).find((id) => id !== undefined);
}

function timelineOf(wire: Wire, taskId: string, streams: readonly Recorded[]): Timeline {
  const envelopes = envelopesOf(wire, taskId);
  const frames: JsonObject[] = [];
  const gates: Gate[] = [];
  let contextId = "";
  let sequence = 0;
  for (const stream of streams) {
    noteGate(gates, frames);
    for (const { data, after } of ownFrames(stream, streams)) {
      // What came behind an answer that was given beside the stream came because of it.
      if (wire.exchanges.some(({ n, call }) => call === "SendMessage" && n > stream.n && n <= after)) {
        noteGate(gates, frames);
      }
      const status = statusIn(data);
      contextId ||= status?.contextId ?? "";
      const at = sequenceOf(status?.iac ?? {});
      // A subscription begins with what was told before; a message into a run that is under way repeats what it tells.
      if ((frames.length > 0 && status?.isTask) || (at !== undefined && at <= sequence)) continue;
      const missed = envelopes.filter((envelope) => isBetween(envelope, sequence, at ?? 0));
      frames.push(...missed.map((envelope) => frameOf(envelope, taskId, contextId)), data);
      sequence = Math.max(sequence, at ?? 0);
    }
  }
  noteGate(gates, frames);
  return { wire: wire.name, taskId, contextId, frames, gates, envelopes };
}

/** What a stream told before a subscription took over from it. */
function ownFrames(stream: Recorded, all: readonly Recorded[]): Recorded["frames"] {
  const next = all.find(({ n, call }) => n > stream.n && call === "SubscribeToTask");
  if (!next || stream.ending !== "left") return stream.frames;
  return stream.frames.filter(({ after }) => after < next.n);
}

function noteGate(gates: Gate[], frames: readonly JsonObject[]): void {
  const since = gates.at(-1)?.at ?? 0;
  const asked = frames.slice(since).flatMap((frame) => requiredInputs(statusIn(frame)?.iac ?? {}));
  if (asked.length > 0) gates.push({ at: frames.length, asked });
}

function envelopesOf({ exchanges }: Wire, taskId: string): JsonObject[] {
  const bySequence = new Map<number, JsonObject>();
  const note = (envelope: unknown): void => {
    const at = isObject(envelope) ? integer(envelope.sequence) : undefined;
    if (isObject(envelope) && at !== undefined && envelope.taskId === taskId) bySequence.set(at, envelope);
  };
  for (const { body } of exchanges) if (isObject(body) && Array.isArray(body.events)) body.events.forEach(note);
  // What was told both ways is taken as the stream wrote it.
  for (const { frames } of exchanges) for (const { data } of frames) note(statusIn(data)?.iac.pipeline);
  return [...bySequence].sort(([one], [other]) => one - other).map(([, envelope]) => envelope);
}

/** All that the agent and the pipeline's steps say in frames. */
export function saidIn(frames: readonly JsonObject[]): string {
  return frames.map((frame) => {
    const { iac = {}, message, taskId } = statusIn(frame) ?? {};
    const { pipeline } = iac;
    if (isObject(pipeline)) {
      return pipeline.eventType === "text_delta" && isObject(pipeline.data) ? String(pipeline.data.text) : "";
    }
    return message?.messageId === `${taskId}-message` ? message.text : "";
  }).join("");
}

/** The sequence of the pipeline event in metadata.iac_code. */
export function sequenceOf({ pipeline }: JsonObject): number | undefined {
  return isObject(pipeline) ? integer(pipeline.sequence) : undefined;
}

function isBetween({ sequence }: JsonObject, after: number, before: number): boolean {
  const at = integer(sequence) ?? 0;
  return at > after && at < before;
}

function frameOf(envelope: JsonObject, taskId: string, contextId: string): JsonObject {
  const { iacCodeSessionId = null } = envelope;
  const metadata = { "iac_code": { pipeline: envelope, iacCodeSessionId } };
  const status = { state: "TASK_STATE_WORKING" };
  return { jsonrpc: "2.0", id: "caught up", result: { statusUpdate: { taskId, contextId, status, metadata } } };
}
