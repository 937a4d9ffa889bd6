/**
 * Thread ⇄ file, schemaVersion 1, readable and writable by the Python adapter 0.16 (docs/protocol.md, "Thread files").
 * Fields of ours are additive, and a file without them loads. Pure.
 */
import { z } from "zod/mini";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { APPLIED_RESUMES, RUN_DIGESTS, TERMINAL_EXECUTIONS } from "../limits.ts";
import { project } from "../thread/projection.ts";
import { contextIdOf, type PendingInput, type Thread } from "../thread/thread.ts";
import { CorruptThread } from "./corrupt_thread.ts";

/** The last moment that a Date can be. */
const LATEST_MS = 8.64e15;

/** A name that a JavaScript object takes for the place in a list. */
const INDEX = /^(0|[1-9]\d{0,9})$/;
const INDEX_DIGITS = 10;

const filled = z.string().check(z.minLength(1));
const digest = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const count = z.int().check(z.nonnegative());

/** `runOrder` and `pendingOrder` are there only where an id looks like a number, whose order a JSON object does not keep. */
const file = z.looseObject({
  schemaVersion: z.literal(1),
  threadId: filled,
  contextId: filled,
  cwd: filled,
  userId: z.nullable(z.string()),
  iacCodeSessionId: z.nullable(z.string()),
  execution: z.looseObject({
    executionId: filled,
    rosInvocationId: filled,
    taskId: z.nullable(z.string()),
    pipelineSequence: z._default(count, 0),
    pipelineOpenSteps: z._default(z.array(filled), []),
    textSnapshotDigests: z._default(z.array(digest), []),
    shownText: z._default(z.array(z.object({ length: count, digest })), []),
    shownCalls: z.optional(z.object({ open: z.array(filled), answered: z.array(filled) })),
    pending: z._default(z.custom<JsonObject>(isObject), {}),
    pendingOrder: z.optional(z.array(z.string())),
  }),
  runDigests: z.custom<JsonObject>(isObject),
  runOrder: z.optional(z.array(z.string())),
  appliedResumeDigests: z.array(z.object({ executionId: filled, interruptId: filled, digest: filled })),
  terminalExecutionIds: z.array(z.string()),
});

const pendingEntry = z.looseObject({
  value: z.custom<JsonObject>(isObject),
  sideband: z._default(z.boolean(), false),
  expiresAt: z.optional(z.nullable(z.number().check(z.minimum(0), z.maximum(LATEST_MS)))),
  askedBy: z.optional(z.string()),
});

/**
 * A file's text as the thread it belongs to. An interrupt that the Python adapter announced has no expiry in the file: it
 * may be answered until `fallbackExpiry` (ms since the epoch; null: for ever). Throws CorruptThread.
 */
export function decodeThread(text: string, threadId: string, fallbackExpiry: number | null): Thread {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new CorruptThread("not JSON");
  }
  const parsed = file.safeParse(json);
  if (!parsed.success) throw new CorruptThread(`field ${parsed.error.issues[0]?.path.join(".") ?? ""}`);
  const { data } = parsed;
  // The context is what the thread's requests reach the kernel by: another one would be another's conversation.
  const isItsOwn = data.threadId === threadId && data.contextId === contextIdOf(threadId);
  if (!isItsOwn) throw new CorruptThread("the file of another thread");
  const { execution } = data;
  return {
    threadId,
    contextId: data.contextId,
    cwd: data.cwd,
    userId: data.userId,
    sessionId: data.iacCodeSessionId,
    execution: {
      executionId: execution.executionId,
      rosInvocationId: execution.rosInvocationId,
      taskId: execution.taskId,
      pipelineSequence: execution.pipelineSequence,
      openSteps: execution.pipelineOpenSteps,
      textDigests: execution.textSnapshotDigests,
      shownText: execution.shownText,
      ...(execution.shownCalls && { shownCalls: execution.shownCalls }),
      pending: decodePending(inOrder(execution.pending, execution.pendingOrder), fallbackExpiry),
    },
    // The Python adapter keeps all; here the older ones are forgotten as they are read, and not at the next write.
    runs: decodeRuns(inOrder(data.runDigests, data.runOrder).slice(-RUN_DIGESTS)),
    applied: newest(data.appliedResumeDigests, APPLIED_RESUMES, (item) => item.executionId === execution.executionId),
    terminal: newest(data.terminalExecutionIds, TERMINAL_EXECUTIONS, (id) => id === execution.executionId),
  };
}

/** The last entries of a list. The Python adapter sorts it: there only those of the current execution are sure to be new. */
function newest<T>(list: readonly T[], count: number, isCurrent: (item: T) => boolean): readonly T[] {
  if (list.length <= count) return list;
  return [...list.filter((item) => !isCurrent(item)), ...list.filter(isCurrent)].slice(-count);
}

function decodePending(entries: readonly [string, Json][], fallbackExpiry: number | null): Map<string, PendingInput> {
  return new Map(
    entries.map(([id, raw]) => {
      const parsed = pendingEntry.safeParse(raw);
      if (!parsed.success || parsed.data.value.inputId !== id) throw new CorruptThread("field execution.pending");
      const { value, sideband, expiresAt = fallbackExpiry, askedBy } = parsed.data;
      return [id, { value, sideband, expiresAt, ...(askedBy !== undefined && { askedBy }) }];
    }),
  );
}

function decodeRuns(entries: readonly [string, Json][]): Map<string, string> {
  return new Map(
    entries.map(([id, digest]) => {
      if (typeof digest !== "string" || digest === "") throw new CorruptThread("field runDigests");
      return [id, digest];
    }),
  );
}

/** The members of an object: those that `order` names in its order, then the others. */
function inOrder(object: JsonObject, order?: readonly string[]): [string, Json][] {
  if (!order) return Object.entries(object);
  const rest = new Map(Object.entries(object));
  const first = [...new Set(order)].flatMap((key): [string, Json][] => {
    const value = rest.get(key);
    return value === undefined ? [] : [[key, value]];
  });
  for (const [key] of first) rest.delete(key);
  return [...first, ...rest];
}

/** The order of keys, where a JavaScript object would not keep it. */
function orderOf(keys: Iterable<string>): string[] | undefined {
  const all = [...keys];
  // Most ids are longer, which is seen much sooner.
  return all.some((key) => key.length <= INDEX_DIGITS && INDEX.test(key)) ? all : undefined;
}

/** The runs of threads as JSON. They are what grows with a thread, and all three writes of a turn have the same. */
const runTexts = new WeakMap<Thread["runs"], string>();

function runText(runs: Thread["runs"]): string {
  const known = runTexts.get(runs);
  if (known !== undefined) return known;
  const members = [...runs].map(([id, digest]) => `${JSON.stringify(id)}:${JSON.stringify(digest)}`);
  const text = `{${members.join(",")}}`;
  runTexts.set(runs, text);
  return text;
}

/** The thread as the text of its file. */
export function encodeThread(thread: Thread): string {
  const { execution } = thread;
  const runOrder = orderOf(thread.runs.keys());
  const pendingOrder = orderOf(execution.pending.keys());
  const pending = [...execution.pending].map(([id, { value, sideband, expiresAt, askedBy }]) =>
    [id, { value: project(value), sideband, expiresAt, askedBy }] as const
  );
  const rest = JSON.stringify({
    schemaVersion: 1,
    threadId: thread.threadId,
    contextId: thread.contextId,
    cwd: thread.cwd,
    userId: thread.userId,
    iacCodeSessionId: thread.sessionId,
    execution: {
      executionId: execution.executionId,
      rosInvocationId: execution.rosInvocationId,
      taskId: execution.taskId,
      pipelineSequence: execution.pipelineSequence,
      pipelineOpenSteps: execution.openSteps,
      textSnapshotDigests: execution.textDigests,
      shownText: execution.shownText,
      ...(execution.shownCalls && { shownCalls: execution.shownCalls }),
      // fromEntries makes own members even of names such as __proto__.
      pending: Object.fromEntries(pending),
      ...(pendingOrder && { pendingOrder }),
    },
    ...(runOrder && { runOrder }),
    appliedResumeDigests: thread.applied,
    terminalExecutionIds: thread.terminal,
  });
  return `${rest.slice(0, -1)},"runDigests":${runText(thread.runs)}}`;
}
