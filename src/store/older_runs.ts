/**
 * Keeps thread files small. Of a long thread, all but the newest run ids and ended executions lie in a second file, which is
 * read and replaced once in 64 turns: a turn neither reads nor rewrites what grows with the number of turns
 * (docs/performance.md).
 */
import { RUN_DIGESTS, TERMINAL_EXECUTIONS } from "../limits.ts";
import type { Thread } from "../thread/thread.ts";
import { CorruptThread } from "./corrupt_thread.ts";

/** So many of the newest stay in the thread's own file, where the Python adapter finds them, ... */
export const KEPT = 64;
/** ... and when there are more than so many, the others move. */
export const KEPT_AT_MOST = 128;
/** Long threads of which is remembered what has moved, in up to 20 KiB each; of others it is found out anew. */
const REMEMBERED = 256;

/** The second files, by the names of the threads' own. */
export interface SecondFiles {
  read(name: string): Promise<string | undefined>;
  write(name: string, text: string): Promise<void>;
}

export interface OlderRuns {
  /**
   * What a thread's own file holds, with what has moved; without it, and marked as a part, when the run or execution that it
   * is `about` is not there, which is mostly known without a look at the disk. Rejects with CorruptThread when the second file
   * is damaged.
   */
  complete(thread: Thread, name: string, about?: string): Promise<Thread>;
  /** What the thread's own file is to hold; the rest is on disk by then. Rejects when it could not be written. */
  shorten(thread: Thread, name: string): Promise<Thread>;
}

interface Older {
  readonly runs: readonly (readonly [string, string])[];
  readonly terminal: readonly string[];
}

/** What is remembered of a second file. */
interface Mark {
  /** The newest that has moved of each. */
  readonly run: string | undefined;
  readonly execution: string | undefined;
  /** Of all ids in it, 4 bytes each: one that is not among them has not moved. */
  readonly hashes: Uint32Array;
}

const NONE: Older = { runs: [], terminal: [] };

/** The older run ids of the threads whose second files are in `files`. */
export function olderRuns(files: SecondFiles): OlderRuns {
  const marks = new Map<string, Mark>();

  function remember(threadId: string, { runs, terminal }: Older): Mark {
    const hashes = Uint32Array.from([...runs.map(([id]) => id), ...terminal], hashOf);
    const mark = { run: runs.at(-1)?.[0], execution: terminal.at(-1), hashes };
    marks.delete(threadId);
    marks.set(threadId, mark);
    for (const oldest of marks.keys()) {
      if (marks.size <= REMEMBERED) break;
      marks.delete(oldest);
    }
    return mark;
  }

  async function read(threadId: string, name: string): Promise<Older> {
    const text = await files.read(name);
    return text === undefined ? NONE : decode(text, threadId);
  }

  return {
    async complete(thread, name, about) {
      const { threadId } = thread;
      // Nothing moves before there are more, and some always stay.
      if (thread.runs.size < KEPT) return thread;
      const mayConcern = ({ hashes }: Mark) => about === undefined || hashes.includes(hashOf(about));
      const known = marks.get(threadId);
      if (known && !mayConcern(known)) return { ...thread, isPart: true };
      const older = await read(threadId, name);
      return mayConcern(remember(threadId, older))
        ? { ...thread, ...joined(older, thread) }
        : { ...thread, isPart: true };
    },
    async shorten(thread, name) {
      const runs = [...thread.runs];
      const { terminal, threadId } = thread;
      if (runs.length <= KEPT_AT_MOST && terminal.length <= KEPT_AT_MOST) return thread;
      const mark = marks.get(threadId);
      // A whole thread begins with what has moved; when that is not known, all counts as new, and moves again.
      const newRuns = runs.slice(runs.findLastIndex(([id]) => id === mark?.run) + 1);
      const newTerminal = terminal.slice(terminal.lastIndexOf(mark?.execution ?? "") + 1);
      if (newRuns.length <= KEPT_AT_MOST && newTerminal.length <= KEPT_AT_MOST) {
        return { ...thread, runs: new Map(newRuns), terminal: newTerminal };
      }
      const moving = { runs: new Map(newRuns.slice(0, -KEPT)), terminal: newTerminal.slice(0, -KEPT) };
      const after = joined(await read(threadId, name), moving);
      const older = { runs: [...after.runs], terminal: after.terminal };
      await files.write(name, JSON.stringify({ schemaVersion: 1, threadId, ...older }));
      remember(threadId, older);
      return { ...thread, runs: new Map(newRuns.slice(-KEPT)), terminal: newTerminal.slice(-KEPT) };
    },
  };
}

/** Older and newer, the newest last; a crash may have left some in both. */
function joined(older: Older, newer: Pick<Thread, "runs" | "terminal">): Pick<Thread, "runs" | "terminal"> {
  return {
    runs: new Map([...new Map([...older.runs, ...newer.runs])].slice(-RUN_DIGESTS)),
    terminal: [...new Set([...older.terminal, ...newer.terminal])].slice(-TERMINAL_EXECUTIONS),
  };
}

/** FNV-1a, in 32 bits. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

function decode(text: string, threadId: string): Older {
  const broken = (): never => {
    throw new CorruptThread("the file of older runs");
  };
  let value: { schemaVersion?: unknown; threadId?: unknown; runs?: unknown; terminal?: unknown };
  try {
    value = JSON.parse(text) ?? {};
  } catch {
    return broken();
  }
  const { schemaVersion, runs, terminal } = value;
  if (schemaVersion !== 1 || value.threadId !== threadId) return broken();
  if (!Array.isArray(runs) || !runs.every(isRun)) return broken();
  if (!Array.isArray(terminal) || !terminal.every((id) => typeof id === "string")) return broken();
  return { runs, terminal };
}

function isRun(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((item) => typeof item === "string");
}
