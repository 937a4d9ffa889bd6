/** Drives a mapper as a run does, without a run: effects are carried out on a thread in memory, and noted. */
import type { JsonObject } from "../../src/json.ts";
import type { Frame } from "../../src/kernel/wire.ts";
import type { Effect } from "../../src/mapping/effect.ts";
import { announce } from "../../src/mapping/interrupt.ts";
import { type Cause, createMapper, type Mapper, type MapperStart } from "../../src/mapping/mapper.ts";
import { applyChange, beginExecution, newThread, type Thread, type ThreadChange } from "../../src/thread/thread.ts";
import { eventLines } from "./event_lines.ts";
import { CONTEXT, SESSION, TASK } from "./kernel_frames.ts";

export interface MappedRun {
  readonly mapper: Mapper;
  readonly events: JsonObject[];
  /** What had to be done, in order; events by their type. */
  readonly done: string[];
  readonly notes: string[];
  /** The thread as its changes left it. */
  readonly thread: Thread;
  accept(...frames: readonly Frame[]): void;
  recover: Mapper["recover"];
  answered: Mapper["answered"];
  end(cause: Cause): void;
  /** All events but RUN_STARTED and the session's, as lines. */
  lines(): string[];
}

export interface MappedOptions {
  readonly runId?: string;
  /** The thread that an earlier run has left: the run resumes its execution. */
  readonly resumes?: Thread;
  readonly start?: Partial<MapperStart>;
}

/** Begins a run on a new thread, or a resume on one that waits. */
export function mappedRun({ runId = "run-1", resumes, start = {} }: MappedOptions = {}): MappedRun {
  const fresh = beginExecution(
    { ...newThread("thread", "/work", null), contextId: CONTEXT },
    "execution-1",
    "invocation",
  );
  let thread = resumes ?? fresh;
  const { execution } = thread;
  const events: JsonObject[] = [];
  const done: string[] = [];
  const notes: string[] = [];

  const mapper = createMapper({
    threadId: "thread",
    runId,
    contextId: CONTEXT,
    executionId: execution.executionId,
    rosInvocationId: "invocation",
    taskId: resumes ? TASK : null,
    sessionId: resumes ? SESSION : null,
    askedBy: `now.${runId}`,
    resumed: resumes !== undefined,
    position: execution,
    textDigests: execution.textDigests,
    pending: execution.pending,
    applied: new Set(thread.applied.map(({ interruptId }) => interruptId)),
    describe: (code, reason) => reason === undefined || reason === "" ? code : `${code}: ${reason}`,
    announce: (id, pending) => announce(id, pending, "en"),
    ...start,
  });

  function change(given: ThreadChange): void {
    thread = applyChange(thread, execution.executionId, given);
  }

  function perform(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.do) {
        case "emit":
          done.push(effect.event.type);
          events.push(JSON.parse(JSON.stringify(effect.event)));
          break;
        case "save":
          done.push(`save ${effect.change.change}`);
          change(effect.change);
          break;
        case "commit":
          done.push(`commit ${effect.change.change}`);
          change(effect.change);
          perform(effect.then());
          break;
        case "note":
          notes.push(effect.note);
          break;
        default:
          done.push(effect.do);
      }
    }
  }

  perform(mapper.begin());
  return {
    mapper,
    events,
    done,
    notes,
    get thread() {
      return thread;
    },
    accept(...frames) {
      for (const frame of frames) perform(mapper.accept(frame));
    },
    recover(state) {
      const effects = mapper.recover(state);
      perform(effects);
      return effects;
    },
    answered(...answer) {
      const effects = mapper.answered(...answer);
      perform(effects);
      return effects;
    },
    end: (cause) => perform(mapper.end(cause)),
    lines() {
      const isOpening = ({ type, name }: JsonObject): boolean =>
        type === "RUN_STARTED" || name === "iac-code.session.v1";
      return eventLines(events.filter((event) => !isOpening(event)));
    },
  };
}
