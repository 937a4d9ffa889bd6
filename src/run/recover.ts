/** Picks a run up again whose stream was cut: the task works on in the kernel (docs/protocol.md, "A cut stream"). */
import { RunFailure } from "../errors.ts";
import type { KernelStream } from "../kernel/answer_body.ts";
import { KernelFailure } from "../kernel/failure.ts";
import { isGapBefore, isJournaled, nextStep } from "../kernel/recovery.ts";
import type { Frame } from "../kernel/wire.ts";
import { HISTORY_MESSAGES, LAG_MS, LAG_STEP_MS, RECOVERIES, RECOVERY_WAITS_MS, SILENT_MS } from "../limits.ts";
import { linkedAbort } from "../linked_abort.ts";
import { getTask, pipelineState } from "./account.ts";
import { announce, consume, read, take } from "./consume.ts";
import { countRetry, perform, type RunContext, runFields } from "./context.ts";
import { untilStopped } from "./control.ts";
import { followDetached, isDetached } from "./detached.ts";

/** Follows a task to its end through any number of cuts, up to a bound. Throws RunFailure when the kernel is gone. */
export async function followThroughCuts(context: RunContext): Promise<void> {
  for (let cuts = 0; cuts < RECOVERIES; cuts++) {
    if (await pickUp(context) === "ended") return;
  }
  throw new RunFailure("A2A_UNAVAILABLE");
}

/** Up to three attempts over about 7 s to reach the task again. */
async function pickUp(context: RunContext): Promise<"ended" | "cut"> {
  const { services, control } = context;
  for (const wait of RECOVERY_WAITS_MS) {
    await services.clock.sleep(wait, control.signal);
    control.signal.throwIfAborted();
    countRetry(context, "recovery");
    try {
      const followed = await followOnce(context);
      if (followed !== "refused") return followed;
    } catch (error) {
      if (!(error instanceof KernelFailure)) throw error;
      services.log.info("the kernel does not answer", { ...runFields(context), failure: error.message });
    }
  }
  throw new RunFailure("A2A_UNAVAILABLE");
}

/**
 * Asks for the task once, and maps its end or follows it; `refused` when it works and cannot be followed. Throws KernelFailure
 * when the kernel does not answer.
 */
export async function followOnce(context: RunContext): Promise<"ended" | "cut" | "refused"> {
  if (isDetached(context) && await followDetached(context)) return "ended";
  const frame = await taskBeyondLag(context);
  const step = nextStep(frame, context.mapper.isApplied);
  if (step === "lost") throw new RunFailure("A2A_UNAVAILABLE");
  if (step === "map") {
    await catchUpPipeline(context);
    const outcome = await take(context, [frame]);
    if (outcome === "gather") await announce(context);
    return outcome === "on" || outcome === "retry" ? "cut" : "ended";
  }
  const followed = await subscribe(context);
  if (followed !== "refused") return followed;
  // A task that nobody works on, and that still shows only what was answered, has ended its turn.
  if (step !== "lags" || frame.kind !== "task") return "refused";
  const { input: _, pendingPermissions: __, ...iac } = frame.status.iac;
  await take(context, [{ ...frame, status: { ...frame.status, iac } }]);
  return "ended";
}

/** Subscribes first and asks for what was missed then, so that nothing can happen in between. */
async function subscribe(context: RunContext): Promise<"ended" | "cut" | "refused"> {
  const { services, mapper, control } = context;
  const opened = await services.kernel.stream("SubscribeToTask", { id: mapper.taskId }, control.signal);
  const stream = endingWithTask(context, opened);
  context.upstream = stream;
  try {
    const first = await stream.next();
    // A task that has ended meanwhile cannot be subscribed to: its account is asked for again.
    if (!first || first.some(({ kind }) => kind === "error")) return "refused";
    await catchUpPipeline(context);
    const consumed = await consume(context, stream, await withoutGap(context, stream, first));
    return consumed === "ended" ? "ended" : "cut";
  } finally {
    stream.close();
  }
}

/**
 * The frames that a stream begins with, once everything before them is mapped: the text just before a subscription is not
 * told by the kernel before its next event of another kind, so these wait for that.
 */
async function withoutGap(context: RunContext, stream: KernelStream, first: Frame[]): Promise<Frame[]> {
  const { mapper, control } = context;
  const held = [...first];
  while (isGapBefore(held, mapper.sequence)) {
    if (isJournaled(held)) {
      await catchUpPipeline(context);
      return held;
    }
    const frames = await untilStopped(read(stream), control.signal);
    if (!frames) return held;
    held.push(...frames);
  }
  return held;
}

/**
 * A subscription that ends when its task's account shows an end or a question: the subscription itself stays silent, and
 * open, in a kernel that was started again and tells the rest to another request.
 */
function endingWithTask(context: RunContext, stream: KernelStream): KernelStream {
  let reading: Promise<Frame[] | undefined> | undefined;
  async function next(): Promise<Frame[] | undefined> {
    reading ??= stream.next();
    reading.catch(() => undefined);
    while (true) {
      const came = await within(context, reading);
      if (came !== "silent") {
        reading = undefined;
        return came;
      }
      context.control.signal.throwIfAborted();
      const step = nextStep(await getTask(context, 0), context.mapper.isApplied);
      if (step === "map" || step === "lost") return undefined;
    }
  }
  return { next, close: () => stream.close() };
}

/** What a read brings, or that it has brought nothing for a while. */
async function within<T>({ services, control }: RunContext, reading: Promise<T>): Promise<T | "silent"> {
  using timer = linkedAbort(control.signal);
  try {
    const silent = services.clock.sleep(SILENT_MS, timer.signal).then(() => "silent" as const);
    return await Promise.race([reading, silent]);
  } finally {
    timer.abort();
  }
}

/** GetTask; asked again for up to 2 s while it shows a question that was answered. */
async function taskBeyondLag(context: RunContext): Promise<Frame> {
  const { clock } = context.services;
  const until = clock.elapsed() + LAG_MS;
  while (true) {
    const frame = await getTask(context, HISTORY_MESSAGES);
    if (nextStep(frame, context.mapper.isApplied) !== "lags" || clock.elapsed() >= until) return frame;
    await clock.sleep(LAG_STEP_MS, context.control.signal);
    context.control.signal.throwIfAborted();
  }
}

/** Maps the pipeline events that were missed, in their order. */
async function catchUpPipeline(context: RunContext): Promise<void> {
  const { mapper, request } = context;
  if (mapper.sequence === 0 && request.iacCode.runMode !== "pipeline") return;
  const state = await pipelineState(context);
  if (state) await perform(context, mapper.recover(state));
}
