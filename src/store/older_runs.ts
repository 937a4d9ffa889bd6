/**
 * Keeps thread files small. Of a long thread, all but the newest run ids and ended executions lie in a second file, which is
 * replaced once in 128 turns: a turn does not rewrite what grows with the number of turns (docs/performance.md). Without it
 * the 600th turn took half as long again as the first.
 */
import { RUN_DIGESTS, TERMINAL_EXECUTIONS } from "../limits.ts";
import type { Thread } from "../thread/thread.ts";
import { CorruptThread } from "./corrupt_thread.ts";

/** So many of the newest stay in the thread's own file, where the Python adapter finds them, ... */
export const KEPT = 128;
/** ... and when there are more than so many, the others move. */
export const KEPT_AT_MOST = 256;
/** Long threads of which is remembered what has moved; of others it is found out anew. */
const REMEMBERED = 1024;

/** The second files, by the names of the threads' own. */
export interface SecondFiles {
  read(name: string): Promise<string | undefined>;
  write(name: string, text: string): Promise<void>;
}

export interface OlderRuns {
  /** What a thread's own file holds, with what has moved. Rejects with CorruptThread when the second file is damaged. */
  complete(thread: Thread, name: string): Promise<Thread>;
  /** What the thread's own file is to hold; the rest is on disk by then. Rejects when it could not be written. */
  shorten(thread: Thread, name: string): Promise<Thread>;
}

interface Older {
  readonly runs: readonly (readonly [string, string])[];
  readonly terminal: readonly string[];
}

/** The newest that has moved of each. */
interface Mark {
  readonly run: string | undefined;
  readonly execution: string | undefined;
}

/** The older run ids of the threads whose second files are in `files`. */
export function olderRuns(files: SecondFiles): OlderRuns {
  const marks = new Map<string, Mark>();

  function remember(threadId: string, { runs, terminal }: Older): void {
    marks.delete(threadId);
    marks.set(threadId, { run: runs.at(-1)?.[0], execution: terminal.at(-1) });
    for (const oldest of marks.keys()) {
      if (marks.size <= REMEMBERED) break;
      marks.delete(oldest);
    }
  }

  return {
    async complete(thread, name) {
      // Nothing moves before there are more, and some always stay.
      if (thread.runs.size < KEPT) return thread;
      const text = await files.read(name);
      if (text === undefined) return thread;
      const older = decode(text, thread.threadId);
      remember(thread.threadId, older);
      const runs = [...older.runs, ...thread.runs].slice(-RUN_DIGESTS);
      const terminal = [...new Set([...older.terminal, ...thread.terminal])].slice(-TERMINAL_EXECUTIONS);
      return { ...thread, runs: new Map(runs), terminal };
    },
    async shorten(thread, name) {
      const runs = [...thread.runs];
      const { terminal, threadId } = thread;
      if (runs.length <= KEPT_AT_MOST && terminal.length <= KEPT_AT_MOST) return thread;
      const mark = marks.get(threadId);
      // What has moved is the beginning of what there is; when that is not known, all counts as new, and moves again.
      const newRuns = runs.slice(runs.findLastIndex(([id]) => id === mark?.run) + 1);
      const newTerminal = terminal.slice(terminal.lastIndexOf(mark?.execution ?? "") + 1);
      if (newRuns.length <= KEPT_AT_MOST && newTerminal.length <= KEPT_AT_MOST) {
        return { ...thread, runs: new Map(newRuns), terminal: newTerminal };
      }
      const older = { runs: runs.slice(0, -KEPT), terminal: terminal.slice(0, -KEPT) };
      await files.write(name, JSON.stringify({ schemaVersion: 1, threadId, ...older }));
      remember(threadId, older);
      return { ...thread, runs: new Map(runs.slice(-KEPT)), terminal: terminal.slice(-KEPT) };
    },
  };
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
