/**
 * A kernel without sockets that works on a task's timeline: it tells it in streams, in its account of the task and in its
 * pipeline's journal, breaks a stream where a test wants it, and takes each answer once.
 */
import assert from "node:assert/strict";
import { integer, isObject, type JsonObject, text } from "../../src/json.ts";
import type { KernelStream } from "../../src/kernel/answer_body.ts";
import type { Kernel } from "../../src/kernel/client.ts";
import { KernelFailure } from "../../src/kernel/failure.ts";
import { type Frame, type PipelineState, requiredInputs, toFrame } from "../../src/kernel/wire.ts";
import { sequenceOf, statusIn, type Timeline } from "./task_timeline.ts";

/** Breaks a stream. */
export interface Cut {
  /** Which stream of the story, from 0. */
  readonly stream: number;
  /** After so many of its frames. */
  readonly frames: number;
  /** What becomes of the kernel: it dies, or works on by so many frames until it is asked again. */
  readonly then: "dies" | number;
}

export interface MemoryKernel {
  readonly kernel: Kernel;
  /** Frames that each stream has told. */
  readonly told: readonly number[];
  /** Whether the cut has happened. */
  readonly isCut: boolean;
  /** Whether the recording ends here. */
  readonly isOver: boolean;
  /** Ids of the questions that were answered, in order. */
  readonly answered: readonly string[];
  readonly cancelled: readonly string[];
}

/** Frames that the kernel sends at once, so that they arrive in one read. */
const BURST = 3;

/** A kernel for one task. */
export function memoryKernel(timeline: Timeline, cut?: Cut): MemoryKernel {
  const { frames, gates, envelopes } = timeline;
  const told: number[] = [];
  const answered: string[] = [];
  const cancelled: string[] = [];
  /** How many frames the kernel has got through. */
  let position = 0;
  let isCut = false;
  let isDead = false;

  function nextStop(from: number): number {
    return gates.find(({ at, asked }) => at >= from && asked.some(({ inputId = "" }) => !answered.includes(inputId)))
      ?.at ??
      frames.length;
  }

  function breakOff(): never {
    assert.ok(cut);
    isCut = true;
    isDead = cut.then === "dies";
    if (cut.then !== "dies") position = Math.min(nextStop(position), position + cut.then);
    throw new KernelFailure("broken");
  }

  function openStream(first: Frame[], from: number): KernelStream {
    const number = told.push(0) - 1;
    let at = from;
    let waiting = first;
    return {
      next() {
        const batch = [...waiting];
        waiting = [];
        while (batch.length < BURST) {
          if (!isCut && cut?.stream === number && told[number] === cut.frames) {
            if (batch.length > 0) break;
            return Promise.resolve().then(breakOff);
          }
          const frame = at < nextStop(from) ? frames[at] : undefined;
          if (!frame) break;
          batch.push(toFrame(frame));
          at++;
          position = Math.max(position, at);
          told[number] = (told[number] ?? 0) + 1;
        }
        if (batch.length > 0) return Promise.resolve(batch);
        // At a question the kernel keeps the stream open; at the end it closes it.
        return at >= frames.length ? Promise.resolve(undefined) : new Promise(() => {});
      },
      close() {},
    };
  }

  /** Every call finds the kernel one frame further. */
  function workOn(): void {
    if (isDead) throw new KernelFailure("refused");
    if (isCut) position = Math.min(nextStop(position), position + 1);
  }

  /** Takes an answer; that sets the kernel to work. */
  function take(parts: unknown): void {
    const [part] = Array.isArray(parts) ? parts : [];
    // Whoever answers has seen a question; a sibling that was still to be asked is asked by now.
    position = nextStop(position);
    const gate = gates.find(({ at }) => at === position) ?? assert.fail(`answered, but not asked at ${position}`);
    const open = gate.asked.map(({ inputId = "" }) => inputId).filter((id) => !answered.includes(id));
    const named = isObject(part) && isObject(part.data) ? text(part.data.inputId) : open[0];
    assert.ok(named !== undefined && open.includes(named), `${named} is not open`);
    answered.push(named);
  }

  function sendStreaming({ message }: JsonObject): KernelStream {
    const isAnswer = isObject(message) && text(message.taskId) !== undefined;
    // A connection that breaks before its first byte may have broken before the message arrived.
    const isLost = !isCut && cut?.stream === told.length && cut.frames === 0 && cut.then === 0;
    if (isAnswer && !isLost) take(message.parts);
    if (!isAnswer) assert.equal(position, 0, "the task was begun before");
    return openStream([], position);
  }

  return {
    kernel: {
      stream(method, params) {
        return Promise.resolve().then(() => {
          workOn();
          if (method === "SendStreamingMessage") return sendStreaming(params);
          return openStream([toFrame({ result: { task: account(timeline, position, answered) } })], position);
        });
      },
      call(method, params) {
        return Promise.resolve().then(() => {
          workOn();
          if (method === "CancelTask") cancelled.push(String(params.id));
          if (method === "SendMessage") {
            take(isObject(params.message) ? params.message.parts : undefined);
            return toFrame({ result: { message: { messageId: "taken", role: "ROLE_AGENT", parts: [] } } });
          }
          return toFrame({ result: account(timeline, position, answered) });
        });
      },
      ensureRestored: () => Promise.resolve().then(workOn).then(() => "ready"),
      pipelineState: (_taskId, after) =>
        Promise.resolve().then(workOn).then(() =>
          envelopes.length === 0 ? undefined : journal(timeline, position, after)
        ),
      execution: () => Promise.resolve(undefined),
      sessionOf: () => Promise.resolve(undefined),
      close() {},
    },
    told,
    get isCut() {
      return isCut;
    },
    get isOver() {
      return position === frames.length;
    },
    answered,
    cancelled,
  };
}

/** What GetTask tells after so many frames: every text piece in its history, the last update in its status and metadata. */
export function account(
  { taskId, contextId, frames }: Timeline,
  position: number,
  answered: readonly string[],
): JsonObject {
  const history: JsonObject[] = [];
  let status: JsonObject = { state: "TASK_STATE_SUBMITTED" };
  let iac: JsonObject = {};
  for (const { result } of frames.slice(0, position)) {
    const update = isObject(result) && isObject(result.statusUpdate) ? result.statusUpdate : undefined;
    if (!update || !isObject(update.status)) continue;
    if (isObject(status.message)) history.push(status.message);
    status = update.status;
    iac = isObject(update.metadata) && isObject(update.metadata["iac_code"]) ? update.metadata["iac_code"] : {};
  }
  const asked = frames.slice(0, position).flatMap((frame) => requiredInputs(statusIn(frame)?.iac ?? {}));
  const open = asked.filter(({ inputId = "" }) => !answered.includes(inputId));
  const beside = open.filter(({ sideband }) => sideband).map(({ value }) => value);
  const { input, ...others } = iac;
  const isOpen = isObject(input) && open.some(({ inputId }) => inputId === input.inputId);
  const asking = { ...(isOpen && { input }), ...(beside.length > 0 && { pendingPermissions: beside }) };
  return {
    id: taskId,
    contextId,
    status,
    ...(history.length > 0 && { history }),
    metadata: { "iac_code": { ...others, ...asking, executionControl: { executionStatus: "working" } } },
  };
}

/** Text waits in the kernel until something of another kind happens. */
const DEFERRED = ["text_delta", "thinking_delta"];

/** The pipeline events after a sequence that the kernel has written down after so many frames. */
export function journal({ envelopes, frames }: Timeline, position: number, after: number): PipelineState {
  let reached = 0;
  let written = 0;
  for (const frame of frames.slice(0, position)) {
    const { pipeline, ...others } = statusIn(frame)?.iac ?? {};
    reached = Math.max(reached, sequenceOf({ pipeline: pipeline ?? null }) ?? 0);
    const isDeferred = isObject(pipeline) && DEFERRED.includes(String(pipeline.eventType)) &&
      others.input === undefined;
    if (!isDeferred) written = reached;
  }
  const events = envelopes.filter(({ sequence }) => {
    const at = integer(sequence) ?? 0;
    return at > after && at <= written;
  });
  return { snapshot: { pipelineRunId: String(envelopes[0]?.pipelineRunId), sequence: written }, events };
}
