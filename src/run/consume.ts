/** Reads a kernel stream through the mapper, read by read, until the run ends, the stream breaks, or the kernel asks. */
import type { KernelStream } from "../kernel/answer_body.ts";
import { KernelFailure } from "../kernel/failure.ts";
import type { Frame } from "../kernel/wire.ts";
import { GATHER_MAX_MS, GATHER_QUIET_MS } from "../limits.ts";
import { noteFirstEvent, type Outcome, perform, type RunContext } from "./context.ts";
import { untilStopped } from "./control.ts";

/** How a stream came to its end: with the run's own, or cut off, or with a refusal to begin. */
export type Consumed = "ended" | "cut" | "retry";

/** Maps frames that were read already, then all that the stream still brings. */
export async function consume(
  context: RunContext,
  stream: KernelStream,
  first: readonly Frame[] = [],
): Promise<Consumed> {
  const { mapper, control: { signal } } = context;
  context.upstream = stream;
  // Once the task is known, a stop closes the stream, which ends a read: to race with each took 3 µs of each delta.
  const onStop = (): void => void (mapper.taskId !== null && stream.close());
  signal.addEventListener("abort", onStop);
  let reading: Promise<Frame[] | undefined> | undefined;
  try {
    let outcome = await take(context, first);
    while (outcome === "on") {
      reading = stream.next();
      const frames = await (mapper.taskId === null ? untilStopped(reading, signal) : reading);
      signal.throwIfAborted();
      reading = undefined;
      if (!frames) return "cut";
      const taken = take(context, frames);
      outcome = typeof taken === "string" ? taken : await taken;
    }
    return outcome === "gather" ? await gather(context, stream) : outcome;
  } catch (error) {
    // Caught here once and not around each read, which would be one more promise for each delta.
    if (!reading || !(error instanceof KernelFailure)) throw error;
    signal.throwIfAborted();
    return "cut";
  } finally {
    signal.removeEventListener("abort", onStop);
    // A run that stops before it knows its task leaves the stream to somebody who finds out, and cancels it.
    const isUnknown = signal.aborted && mapper.taskId === null;
    if (isUnknown) leaveBehind(context, stream, reading);
    else if (!context.services.parked.holds(stream)) stream.close();
  }
}

function leaveBehind(
  context: RunContext,
  stream: KernelStream,
  reading: Promise<Frame[] | undefined> | undefined,
): void {
  context.upstream = undefined;
  const drop = (): void => stream.close();
  const left = { opening: Promise.resolve(stream), ...(reading && { reading }), drop };
  void context.services.aftermath.cancelUnknown(left, context.thread.contextId);
}

/**
 * Maps frames and hands their events on. What follows a question or an end in the same read is mapped with it. Gives a
 * promise only when something has to be waited for, so that a delta costs none.
 */
export function take(context: RunContext, frames: readonly Frame[]): Outcome | Promise<Outcome> {
  let outcome: Outcome = "on";
  let at = 0;
  for (const frame of frames) {
    at++;
    const performed = perform(context, context.mapper.accept(frame));
    if (performed === "on") continue;
    if (typeof performed !== "string") return takeRest(context, outcome, performed, frames.slice(at));
    outcome = performed;
    if (performed === "ended" || performed === "retry") break;
  }
  return handOver(context, outcome);
}

async function takeRest(
  context: RunContext,
  before: Outcome,
  performed: Promise<Outcome>,
  rest: readonly Frame[],
): Promise<Outcome> {
  const came = await performed;
  if (came === "ended" || came === "retry") return await handOver(context, came);
  const outcome = came === "on" ? before : came;
  const after = await take(context, rest);
  return after === "on" ? outcome : after;
}

/** Sends what was written, and waits for a slow client, unless the run is to stop. */
function handOver(context: RunContext, outcome: Outcome): Outcome | Promise<Outcome> {
  const { sink, control } = context;
  noteFirstEvent(context);
  if (outcome === "ended") return outcome;
  const flushed = sink.flush();
  if (flushed) return untilStopped(flushed, control.signal).then(() => outcome);
  control.signal.throwIfAborted();
  return outcome;
}

/** The frames of a read; undefined when the stream has ended or broken. */
export async function read(stream: KernelStream): Promise<Frame[] | undefined> {
  try {
    return await stream.next();
  } catch (error) {
    if (error instanceof KernelFailure) return undefined;
    throw error;
  }
}

/**
 * Parallel candidates ask at nearly the same time: reads on until it has been quiet for 150 ms, at most 1 s in all, then
 * ends the run with everything that was asked.
 */
async function gather(context: RunContext, stream: KernelStream): Promise<Consumed> {
  const { clock } = context.services;
  const until = clock.elapsed() + GATHER_MAX_MS;
  while (clock.elapsed() < until) {
    const frames = await readUntilQuiet(context, stream, Math.min(GATHER_QUIET_MS, until - clock.elapsed()));
    if (!frames) break;
    if (await take(context, frames) === "ended") return "ended";
  }
  context.control.signal.throwIfAborted();
  if (context.restored) park(context, stream);
  await announce(context);
  return "ended";
}

/** Keeps the stream for the run that answers. */
function park(context: RunContext, stream: KernelStream): void {
  const { services, mapper } = context;
  context.upstream = undefined;
  services.parked.put(mapper.taskId ?? "", stream, context.unread ?? read(stream));
}

/** Ends the run with the questions that the kernel has asked. */
export async function announce(context: RunContext): Promise<void> {
  const { clock, interruptTtlMs } = context.services;
  const expiresAt = interruptTtlMs === 0 ? null : clock.now() + interruptTtlMs;
  await perform(context, context.mapper.end({ cause: "interrupt", expiresAt }));
}

/**
 * The frames of a read; undefined when there is none within `ms`, or the stream is over. Whoever reads on after that goes on
 * with the context's `unread`.
 */
export async function readUntilQuiet(
  context: RunContext,
  stream: KernelStream,
  ms: number,
): Promise<Frame[] | undefined> {
  const timer = new AbortController();
  const quiet = context.services.clock.sleep(ms, timer.signal).then(() => undefined);
  const next = read(stream);
  // Whoever loses the race is not awaited by anybody: a stream that is closed later rejects with nobody to hear it.
  next.catch(() => undefined);
  context.unread = next;
  try {
    return await Promise.race([next, quiet]);
  } finally {
    timer.abort();
  }
}
