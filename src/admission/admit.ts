/**
 * May this run begin? The table of docs/protocol.md, "Admission", row by row in its order; the first row that says
 * anything decides. Pure: the thread's state goes in, and what becomes of it comes out.
 */
import { type Refusal, refusal } from "../errors.ts";
import type { Language } from "../language/messages.ts";
import { announce } from "../mapping/interrupt.ts";
import type { ResumeEntry, RunRequest } from "../request/run_request.ts";
import {
  beginExecution,
  endExecution,
  isExpired,
  isTerminal,
  newThread,
  type PendingInput,
  recordRun,
  type Thread,
} from "../thread/thread.ts";

export interface Candidate {
  readonly request: RunRequest;
  /** The resolved workspace. */
  readonly cwd: string;
  readonly digest: string;
  readonly thread: Thread | undefined;
  /** Whether a run is active on the thread. */
  readonly busy: boolean;
  /** ms since the epoch. */
  readonly now: number;
  readonly newExecutionId: string;
  readonly language: Language;
}

/** A task that nobody waits for any more: it is to be cancelled. */
export interface Abandoned {
  readonly taskId: string;
}

export type Admission =
  | {
    readonly is: "admitted";
    /** `nothing`: a run that only tells the client that its interrupt is over. */
    readonly kind: "new" | "resume" | "guidance" | "nothing";
    readonly thread: Thread;
    readonly abandoned?: Abandoned;
    /** A crash left an execution unfinished whose task nobody can name: the kernel is asked for it. */
    readonly orphaned?: boolean;
  }
  | {
    readonly is: "refused";
    readonly refusal: Refusal;
    /** The thread as it is after the refusal, when that changed it. */
    readonly thread?: Thread;
    readonly abandoned?: Abandoned;
  };

type Row = (candidate: Candidate) => Admission | undefined;

/** Decides on a run. Never throws. */
export function admit(candidate: Candidate): Admission {
  for (const row of ROWS) {
    const decided = row(candidate);
    if (decided) return decided;
  }
  return admitNew(candidate);
}

const ROWS: readonly Row[] = [
  usedRunId,
  busyThread,
  foreignBinding,
  lostExecution,
  answersExpired,
  endsNothing,
  waitsForAnswers,
  guidanceWithoutTask,
  resumes,
  guides,
];

function refuse(code: Refusal["code"], details?: unknown): Admission {
  return { is: "refused", refusal: refusal(code, details === undefined ? {} : { details }) };
}

function usedRunId({ thread, request, digest }: Candidate): Admission | undefined {
  const used = thread?.runs.get(request.runId);
  if (used === undefined) return undefined;
  return refuse(used === digest ? "DUPLICATE_RUN_ID" : "RUN_ID_CONFLICT");
}

function busyThread({ busy, request }: Candidate): Admission | undefined {
  return busy && !isGuidance(request) ? refuse("THREAD_BUSY") : undefined;
}

function foreignBinding({ thread, request, cwd }: Candidate): Admission | undefined {
  if (!thread || (thread.cwd === cwd && thread.userId === (request.iacCode.userId ?? null))) return undefined;
  return refuse("THREAD_BINDING_CONFLICT");
}

function lostExecution({ thread, request }: Candidate): Admission | undefined {
  if (!request.resume) return undefined;
  const isSame = thread?.execution.rosInvocationId === request.iacCode.rosInvocationId;
  return isSame ? undefined : refuse("EXECUTION_LOST");
}

function answersExpired({ thread, request, now }: Candidate): Admission | undefined {
  if (!thread || !request.resume) return undefined;
  const isLate = request.resume.some(({ status, interruptId }) =>
    status === "resolved" && isPastExpiry(thread, interruptId, now)
  );
  if (!isLate) return undefined;
  return { is: "refused", refusal: refusal("EXECUTION_EXPIRED"), thread: endExecution(thread), ...abandon(thread) };
}

/** A client may hold interrupts that are over, and forgets them only when a run finishes. */
function endsNothing({ thread, request, digest, now }: Candidate): Admission | undefined {
  if (!thread || !request.resume?.every((entry) => isCancelOfNothing(thread, entry, now))) return undefined;
  const { pending } = thread.execution;
  const isOver = request.resume.some(({ interruptId }) => pending.has(interruptId));
  const after = isOver ? endExecution(thread) : thread;
  return {
    is: "admitted",
    kind: "nothing",
    thread: recordRun(after, request.runId, digest),
    ...(isOver && abandon(thread)),
  };
}

function isCancelOfNothing(thread: Thread, { status, interruptId }: ResumeEntry, now: number): boolean {
  if (status !== "cancelled") return false;
  return !thread.execution.pending.has(interruptId) || isPastExpiry(thread, interruptId, now);
}

function waitsForAnswers({ thread, request, now, language }: Candidate): Admission | undefined {
  if (!thread || request.resume) return undefined;
  const open = [...thread.execution.pending.values()].filter((pending) => !isExpired(pending, now));
  return open.length > 0 ? refuse("RESUME_REQUIRED", openInterrupts(thread, language)) : undefined;
}

/** A message into a pipeline run needs one that is under way. */
function guidanceWithoutTask({ thread, request, busy }: Candidate): Admission | undefined {
  if (!isGuidance(request)) return undefined;
  const { rosInvocationId, runMode } = request.iacCode;
  const isRunning = busy && thread && thread.execution.taskId !== null && runMode === "pipeline" &&
    thread.execution.rosInvocationId === rosInvocationId;
  return isRunning ? undefined : refuse("EXECUTION_LOST");
}

function resumes({ thread, request, digest }: Candidate): Admission | undefined {
  if (!thread || !request.resume) return undefined;
  return { is: "admitted", kind: "resume", thread: recordRun(thread, request.runId, digest) };
}

function guides({ thread, request, digest }: Candidate): Admission | undefined {
  if (!thread || !isGuidance(request)) return undefined;
  return { is: "admitted", kind: "guidance", thread: recordRun(thread, request.runId, digest) };
}

function admitNew({ thread, request, cwd, digest, newExecutionId }: Candidate): Admission {
  const { iacCode, runId, threadId } = request;
  // What is pending has expired by now, and what a crash left behind goes on in the kernel for nobody.
  const unfinished = thread && thread.execution.executionId !== "" && !isTerminal(thread);
  const before = thread ?? newThread(threadId, cwd, iacCode.userId ?? null);
  const ended = unfinished ? endExecution(before) : before;
  const begun = beginExecution(recordRun(ended, runId, digest), newExecutionId, iacCode.rosInvocationId);
  const orphaned = unfinished && thread.execution.taskId === null;
  return { is: "admitted", kind: "new", thread: begun, ...(orphaned ? { orphaned } : unfinished && abandon(thread)) };
}

function abandon({ execution: { taskId } }: Thread): { abandoned?: Abandoned } {
  return taskId === null ? {} : { abandoned: { taskId } };
}

function isPastExpiry({ execution }: Thread, interruptId: string, now: number): boolean {
  const pending: PendingInput | undefined = execution.pending.get(interruptId);
  return pending !== undefined && isExpired(pending, now);
}

function openInterrupts({ execution }: Thread, language: Language): unknown {
  const interrupts = [...execution.pending].map(([id, pending]) => announce(id, pending, language));
  return { executionId: execution.executionId, interrupts };
}

function isGuidance({ iacCode, resume }: RunRequest): boolean {
  return iacCode.activeGuidance === true && resume === undefined;
}
