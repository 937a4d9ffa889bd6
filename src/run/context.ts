/** What every part of a run needs, and how its effects are carried out, one after the other. */
import type { Clock } from "../clock.ts";
import { RunFailure } from "../errors.ts";
import { NOTES } from "../limits.ts";
import type { Aftermath } from "../kernel/aftermath.ts";
import type { Parked } from "../kernel/parked.ts";
import type { Frame } from "../kernel/wire.ts";
import type { KernelStream } from "../kernel/answer_body.ts";
import type { Kernel } from "../kernel/client.ts";
import { errorKind, type Log, RUN_LINE } from "../log.ts";
import type { Effect } from "../mapping/effect.ts";
import type { Mapper } from "../mapping/mapper.ts";
import type { RunRequest } from "../request/run_request.ts";
import type { EventSink } from "../stream/response.ts";
import type { RetryCause, RunEnd, Telemetry } from "../telemetry.ts";
import type { Registry } from "../thread/registry.ts";
import type { Thread, ThreadChange } from "../thread/thread.ts";
import type { RunControl } from "./control.ts";

/** The edges that runs act through. */
export interface Services {
  readonly kernel: Kernel;
  readonly registry: Registry;
  readonly aftermath: Aftermath;
  readonly parked: Parked;
  readonly clock: Clock;
  readonly log: Log;
  /** Absent where nothing is exported. */
  readonly telemetry?: Telemetry;
  /** Every run that has not ended, guidance included. */
  readonly runs: Set<RunControl>;
  /** How long an interrupt may be answered, in ms; 0: for ever. */
  readonly interruptTtlMs: number;
  /** Silence after which a heartbeat is sent, in ms. */
  readonly heartbeatMs: number;
  /** How long a client may take nothing before it counts as gone, in ms. */
  readonly stalledMs: number;
  /** Whether the service is shutting down: no run begins any more. */
  stopping: boolean;
  /** Names this process among those that have served the same threads. */
  readonly instance: string;
  /** Tokens of the service itself: no reason that a client sees may hold them. */
  readonly secrets: readonly string[];
}

/** One run under way. */
export interface RunContext {
  readonly services: Services;
  readonly request: RunRequest;
  /** The thread as it was admitted. */
  readonly thread: Thread;
  readonly mapper: Mapper;
  readonly sink: EventSink;
  readonly control: RunControl;
  /** The stream that is being read, for whoever has to leave it. */
  upstream: KernelStream | undefined;
  /** Whether the kernel was started again since it asked: then this stream is the only one to tell what the task does. */
  restored: boolean;
  /** A read that nobody waited for to its end. */
  unread: Promise<Frame[] | undefined> | undefined;
  /** Whether a task may work in the thread's context that a crash has left without a name. */
  readonly orphaned: boolean;
  /** Notes that were logged, each once a run. */
  readonly noted: Set<string>;
  readonly tally: RunTally;
}

/** What is counted for the line that a run leaves in the log. */
export interface RunTally {
  /** When it began, by the clock's `elapsed`. */
  readonly began: number;
  /** Events that were written before the kernel had said anything. */
  opened: number;
  /** Until the first event that the kernel gave rise to, in ms. */
  firstMs: number | undefined;
  /** How often the kernel was asked once more. */
  retries: number;
}

/** What carrying out effects came to. */
export type Outcome = "on" | "gather" | "retry" | "ended";

/**
 * Carries out effects in their order. Sends at once what needs no wait; returns a promise only when something does, so
 * that a burst of deltas costs none.
 */
export function perform(context: RunContext, effects: readonly Effect[]): Outcome | Promise<Outcome> {
  let done = 0;
  for (const effect of effects) {
    if (effect.do !== "emit") return performRest(context, effects.slice(done));
    context.sink.write(effect.event);
    done++;
  }
  return context.mapper.phase === "ended" ? "ended" : "on";
}

async function performRest(context: RunContext, effects: readonly Effect[]): Promise<Outcome> {
  let outcome: Outcome = "on";
  for (const effect of effects) {
    const came = await performOne(context, effect);
    if (came !== "on") outcome = came;
  }
  return context.mapper.phase === "ended" ? "ended" : outcome;
}

async function performOne(context: RunContext, effect: Effect): Promise<Outcome> {
  const { services, mapper, sink } = context;
  switch (effect.do) {
    case "emit":
      sink.write(effect.event);
      return "on";
    case "save":
      await save(context, effect.change).catch((error) =>
        services.log.warn("a thread's state could not be saved", { ...runFields(context), failure: errorKind(error) })
      );
      return "on";
    case "commit":
      await commit(context, effect.change);
      return await perform(context, effect.then());
    case "gather":
    case "retry":
      return effect.do;
    case "leave":
      leave(context);
      return "on";
    case "cancel":
      if (mapper.taskId !== null) void services.aftermath.cancel(mapper.taskId, context.thread.contextId);
      return "on";
    case "note":
      if (context.noted.has(effect.note) || context.noted.size >= NOTES) return "on";
      context.noted.add(effect.note);
      services.log.warn(effect.note, runFields(context));
      return "on";
  }
}

/** Leaves the kernel's stream, when one is open. */
export function leave(context: RunContext): void {
  context.upstream?.close();
  context.upstream = undefined;
}

async function commit(context: RunContext, change: ThreadChange): Promise<void> {
  try {
    await save(context, change);
  } catch (error) {
    const fields = { ...runFields(context), failure: errorKind(error) };
    context.services.log.error("state needed for recovery could not be saved", fields);
    throw new RunFailure("STATE_PERSISTENCE_FAILED", undefined, { cause: error });
  }
}

async function save({ services, request, thread, sink }: RunContext, change: ThreadChange): Promise<void> {
  // What was written before goes out meanwhile; a slow client does not hold up the disk.
  sink.flush();
  await services.registry.change(request.threadId, thread.execution.executionId, change);
}

/** Remembers when the first event came that the kernel gave rise to. */
export function noteFirstEvent({ services, sink, tally }: RunContext): void {
  if (tally.firstMs !== undefined || sink.events <= tally.opened) return;
  tally.firstMs = Math.round(services.clock.elapsed() - tally.began);
}

/** Counts that the kernel is asked once more. */
export function countRetry({ services, tally }: RunContext, why: RetryCause): void {
  tally.retries++;
  services.telemetry?.retried(why);
}

/** What is told of a run at its end. */
export function endOf({ services, control, mapper, sink, tally }: RunContext): RunEnd {
  return {
    end: mapper.ending ?? "none",
    by: control.cause,
    task: mapper.taskId ?? undefined,
    ms: Math.round(services.clock.elapsed() - tally.began),
    firstMs: tally.firstMs,
    events: sink.events,
    retries: tally.retries,
  };
}

/** Ends that an operator has to look into. */
const TROUBLE: ReadonlySet<string> = new Set([
  "A2A_UNAVAILABLE",
  "A2A_PROTOCOL_ERROR",
  "STATE_PERSISTENCE_FAILED",
  "INTERNAL_ERROR",
  "none",
]);

/** Writes the one line of a run. */
export function logEnd(context: RunContext, kind: string): void {
  const { log } = context.services;
  const end = endOf(context);
  const fields = { ...runFields(context), kind, ...end };
  if (TROUBLE.has(end.end) && end.by !== "shutdown") log.warn(RUN_LINE, fields);
  else log.info(RUN_LINE, fields);
}

/** What a log line of a run says about it. */
export function runFields({ services, request, thread, mapper }: RunContext): Record<string, string | undefined> {
  return {
    thread: thread.contextId,
    run: request.runId.replace(/\p{C}/gu, "?").slice(0, 128),
    execution: thread.execution.executionId,
    task: mapper.taskId ?? undefined,
    trace: services.telemetry?.traceId(),
  };
}
