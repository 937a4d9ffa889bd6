/**
 * Streams that are kept while the user is asked. A kernel that was started again tells all that a task does to the request
 * that woke the task up; when that stream is left at the task's next question, what comes after it is told to nobody
 * (docs/protocol.md, "Resume").
 */
import type { KernelStream } from "./answer_body.ts";
import type { Frame } from "./wire.ts";

/** More than this wait at once only when nobody comes back to answer; the oldest are given up. */
const PARKED = 256;

export interface Parked {
  /** Keeps a task's stream, whose next read is under way. It is given up when it ends by itself. */
  put(taskId: string, stream: KernelStream, reading: Promise<Frame[] | undefined>): void;
  /** Hands a task's stream over to whoever goes on with it. */
  take(taskId: string): KernelStream | undefined;
  holds(stream: KernelStream): boolean;
  /** Gives up all streams. */
  close(): void;
}

/** No streams yet. */
export function createParked(): Parked {
  const kept = new Map<string, { stream: KernelStream; reading: Promise<Frame[] | undefined> }>();

  function giveUp(taskId: string, stream: KernelStream): void {
    if (kept.get(taskId)?.stream !== stream) return;
    kept.delete(taskId);
    stream.close();
  }

  return {
    put(taskId, stream, reading) {
      const older = kept.get(taskId);
      if (older) giveUp(taskId, older.stream);
      for (const [oldest, { stream }] of kept) {
        if (kept.size < PARKED) break;
        giveUp(oldest, stream);
      }
      kept.set(taskId, { stream, reading });
      reading.then((frames) => frames ?? giveUp(taskId, stream), () => giveUp(taskId, stream));
    },
    take(taskId) {
      const found = kept.get(taskId);
      if (!found) return undefined;
      kept.delete(taskId);
      const { stream } = found;
      let reading: Promise<Frame[] | undefined> | undefined = found.reading;
      return {
        next() {
          const first = reading ?? stream.next();
          reading = undefined;
          return first;
        },
        close: () => stream.close(),
      };
    },
    holds: (stream) => [...kept.values()].some((entry) => entry.stream === stream),
    close() {
      for (const [taskId, { stream }] of kept) giveUp(taskId, stream);
    },
  };
}
