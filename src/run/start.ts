/** A validated request → admission → a run in the background, and the stream that tells of it. */
import { type Admission, admit } from "../admission/admit.ts";
import { ERRORS, type Refusal, refusal, type RunErrorCode, RunFailure } from "../errors.ts";
import { KernelFailure } from "../kernel/failure.ts";
import { type Language, sentence } from "../language/messages.ts";
import { ACTIVE_RUNS } from "../limits.ts";
import { errorKind, errorPlace } from "../log.ts";
import { announce } from "../mapping/interrupt.ts";
import { createMapper, type Mapper } from "../mapping/mapper.ts";
import { redactor } from "../redact.ts";
import { type RunRequest, secretsOf } from "../request/run_request.ts";
import { createEventStream, type EventSink } from "../stream/response.ts";
import type { HeldThread } from "../thread/registry.ts";
import { contextIdOf, type Thread } from "../thread/thread.ts";
import { endOf, leave, logEnd, perform, type RunContext, runFields, type Services } from "./context.ts";
import { createControl, type RunControl } from "./control.ts";
import { runGuidance } from "./guidance.ts";
import { runNew } from "./new_run.ts";
import { runResume } from "./resume.ts";
import { isFreeSoon } from "./returning.ts";

/** A request with what the stations before found out about it. */
export interface Accepted {
  readonly request: RunRequest;
  /** The resolved workspace. */
  readonly cwd: string;
  readonly digest: string;
  readonly language: Language;
  /** Creates the workspace when it is missing; what it gives takes that back. */
  makeWorkspace(): Promise<{ undo(): Promise<void> } | Refusal>;
}

type Admitted = Extract<Admission, { is: "admitted" }>;

/** Starts a run: its event stream, or the refusal. Nothing is announced before the admission is on disk. */
export async function startRun(services: Services, accepted: Accepted): Promise<ReadableStream<Uint8Array> | Refusal> {
  if (services.stopping || services.runs.size >= ACTIVE_RUNS) return refusal("SERVER_BUSY");
  const { request } = accepted;
  const once = () => services.registry.hold(request.threadId, (held) => decide(services, accepted, held));
  const first = await once();
  const decided = "code" in first && await isFreeSoon(services, request.threadId, first) ? await once() : first;
  if ("code" in decided) return decided;
  const { control, admission } = decided;
  const { body, sink } = createEventStream(services.heartbeatMs, () => void control.stop("gone"), services.stalledMs);
  const context = createContext(services, accepted, admission, control, sink);
  services.runs.add(control);
  void carryOut(context, admission.kind);
  if (services.stopping) void control.stop("shutdown");
  return body;
}

/** Admission under the thread's queue: the table decides, and what it changes is on disk before anything else happens. */
async function decide(
  services: Services,
  { request, cwd, digest, language, makeWorkspace }: Accepted,
  held: HeldThread,
): Promise<{ control: RunControl; admission: Admitted } | Refusal> {
  const { clock, log, aftermath } = services;
  try {
    const thread = await held.read(request.runId);
    const admission = admit({
      request,
      cwd,
      digest,
      language,
      thread,
      busy: held.active !== undefined,
      now: clock.now(),
      newExecutionId: clock.newId(),
    });
    const made = admission.is === "admitted" ? await makeWorkspace() : undefined;
    if (made && "code" in made) return made;
    if (admission.thread) {
      await held.write(admission.thread).catch(async (error) => {
        await made?.undo();
        throw error;
      });
    }
    if (admission.abandoned) void aftermath.cancel(admission.abandoned.taskId, contextIdOf(request.threadId));
    if (admission.is === "refused") return admission.refusal;
    const control = createControl(request.runId, admission.thread.execution.executionId);
    if (admission.kind === "new" || admission.kind === "resume") held.activate(control);
    return { control, admission };
  } catch (error) {
    log.error("a thread's state is unavailable", { thread: contextIdOf(request.threadId), failure: errorKind(error) });
    return refusal("STATE_UNAVAILABLE");
  }
}

function createContext(
  services: Services,
  { request, language }: Accepted,
  { thread, kind, orphaned = false }: Admitted,
  control: RunControl,
  sink: EventSink,
): RunContext {
  const mapper = mapperOf(request, thread, kind === "resume", language, services);
  const tally = { began: services.clock.elapsed(), opened: 0, firstMs: undefined, retries: 0 };
  return {
    services,
    request,
    thread,
    mapper,
    sink,
    control,
    upstream: undefined,
    restored: false,
    unread: undefined,
    orphaned,
    noted: new Set(),
    tally,
  };
}

function mapperOf(
  request: RunRequest,
  thread: Thread,
  resumed: boolean,
  language: Language,
  { secrets, instance, clock }: Services,
): Mapper {
  const { execution, contextId, threadId } = thread;
  const redact = redactor([...secretsOf(request), ...secrets]);
  return createMapper({
    threadId,
    runId: request.runId,
    ...(request.parentRunId !== undefined && { parentRunId: request.parentRunId }),
    contextId,
    executionId: execution.executionId,
    rosInvocationId: execution.rosInvocationId,
    taskId: resumed ? execution.taskId : null,
    sessionId: thread.sessionId,
    askedBy: `${instance}.${clock.newId().slice(0, 8)}`,
    resumed,
    position: execution,
    textDigests: execution.textDigests,
    pending: resumed ? execution.pending : new Map(),
    applied: new Set(
      thread.applied.filter((item) => item.executionId === execution.executionId).map((item) => item.interruptId),
    ),
    describe: (code, reason) => describe(language, code, reason === undefined ? "" : redact(reason)),
    announce: (id, pending) => announce(id, pending, language),
  });
}

/** The localized sentence, and the kernel's reason behind a colon. */
function describe(language: Language, code: RunErrorCode, reason: string): string {
  const said = sentence(language, ERRORS[code].message);
  return reason === "" ? said : `${said.replace(/[.。]$/, "")}: ${reason}`;
}

/** Carries a run through; where somebody traces, within a span of its own. */
async function carryOut(context: RunContext, kind: Admitted["kind"]): Promise<void> {
  const { services: { telemetry }, thread: { contextId, execution } } = context;
  if (!telemetry) return await execute(context, kind);
  const begin = { kind, thread: contextId, execution: execution.executionId };
  await telemetry.run(begin, () => execute(context, kind), () => endOf(context));
}

/** Carries a run through, whatever happens: its last event is written, its thread is free, its end is in the log. */
async function execute(context: RunContext, kind: Admitted["kind"]): Promise<void> {
  const { services, mapper, sink, control, request } = context;
  try {
    await perform(context, mapper.begin());
    context.tally.opened = sink.events;
    sink.flush();
    await work(context, kind);
  } catch (error) {
    await endFailed(context, error, kind);
  } finally {
    leave(context);
    services.registry.release(request.threadId, control);
    services.runs.delete(control);
    sink.end();
    control.finish();
    logEnd(context, kind);
  }
}

async function work(context: RunContext, kind: Admitted["kind"]): Promise<void> {
  switch (kind) {
    case "new":
      return await runNew(context);
    case "resume":
      return await runResume(context);
    case "guidance":
      return await runGuidance(context);
    case "nothing":
      return void await perform(context, context.mapper.end({ cause: "nothing" }));
  }
}

/** Ends a run that was stopped or failed. */
async function endFailed(context: RunContext, error: unknown, kind: Admitted["kind"]): Promise<void> {
  const { services, mapper, control, thread } = context;
  leave(context);
  const { code, reason } = whyEnded(context, error);
  if (mapper.phase === "ended") return;
  // Until all its answers are accepted, a resume leaves what is open as it was, so that another run can answer.
  const isUnanswered = kind === "resume" && (thread.execution.pending.size === 0 || mapper.pending.size > 0);
  const isFinal = control.cause === "cancelled" || code === "STATE_PERSISTENCE_FAILED";
  const resumable = kind === "guidance" || kind === "nothing" || (isUnanswered && !isFinal);
  if (!resumable && mapper.taskId !== null) void services.aftermath.cancel(mapper.taskId, thread.contextId);
  try {
    await perform(context, mapper.end({ cause: "error", code, resumable, ...(reason !== undefined && { reason }) }));
  } catch (failed) {
    services.log.error("a run's end failed", {
      ...runFields(context),
      failure: errorKind(failed),
      at: errorPlace(failed),
    });
  }
}

function whyEnded(context: RunContext, error: unknown): { code: RunErrorCode; reason?: string } {
  const { services, control } = context;
  if (control.cause === "shutdown") return { code: "A2A_UNAVAILABLE" };
  if (control.cause !== undefined) return { code: "CANCELLED" };
  if (error instanceof RunFailure) {
    return { code: error.code, ...(error.reason !== undefined && error.reason !== "" && { reason: error.reason }) };
  }
  if (error instanceof KernelFailure) {
    services.log.warn("the kernel is unavailable", { ...runFields(context), failure: error.message });
    return { code: "A2A_UNAVAILABLE" };
  }
  services.log.error("a run failed", { ...runFields(context), failure: errorKind(error), at: errorPlace(error) });
  return { code: "INTERNAL_ERROR" };
}
