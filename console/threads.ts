/** The threads of this browser: their ids, and the ids of the interrupts that wait in them. Nothing else is kept. */
import { isObject, text } from "../src/json.ts";

export interface KnownThread {
  readonly id: string;
  /** Interrupts that were open when this browser last saw the thread. */
  readonly waiting: readonly string[];
}

const KEY = "iac-code-agui.threads";
const MAX_THREADS = 50;

/** The known threads, newest first. */
export function readThreads(storage: Storage): readonly KnownThread[] {
  const kept = parse(storage.getItem(KEY));
  return (Array.isArray(kept) ? kept : []).filter(isObject).flatMap(({ id, waiting }) => {
    const known = text(id);
    const ids = Array.isArray(waiting) ? waiting.flatMap((item) => text(item) ?? []) : [];
    return known === undefined ? [] : [{ id: known, waiting: ids }];
  });
}

/** Keeps a thread, as the newest when it is a new one. */
export function keepThread(storage: Storage, thread: KnownThread): readonly KnownThread[] {
  const threads = readThreads(storage);
  const isKnown = threads.some(({ id }) => id === thread.id);
  const next = isKnown ? threads.map((known) => known.id === thread.id ? thread : known) : [thread, ...threads];
  return write(storage, next.slice(0, MAX_THREADS));
}

/** Forgets a thread. */
export function forgetThread(storage: Storage, threadId: string): readonly KnownThread[] {
  return write(storage, readThreads(storage).filter(({ id }) => id !== threadId));
}

function write(storage: Storage, threads: readonly KnownThread[]): readonly KnownThread[] {
  storage.setItem(KEY, JSON.stringify(threads));
  return threads;
}

function parse(json: string | null): unknown {
  try {
    return JSON.parse(json ?? "[]");
  } catch {
    return [];
  }
}
