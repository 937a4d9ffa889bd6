/** What a service has promised to the client of one thread, and whether the thread's file keeps it. */
import { isObject, type JsonObject, text } from "../src/json.ts";
import type { Thread } from "../src/thread/thread.ts";
import { interruptsOf } from "./traffic.ts";

export interface Promises {
  /** A request is about to be sent; `answers` names the interrupts that it answers. */
  sending(answers: readonly string[]): void;
  /** The client has read an event. */
  note(event: JsonObject): void;
  /** A cancellation is about to be sent. */
  cancelling(executionId: string): void;
  /** It was answered with `cancelled`. */
  cancelled(executionId: string): void;
  /** What of it the thread, as it lies on disk, does not keep. */
  broken(thread: Thread | undefined): string[];
  /** How many promises there are by now. */
  readonly count: number;
}

interface Asked {
  readonly executionId: string;
  readonly ids: readonly string[];
}

/** The promises of one thread, none at first. */
export function createPromises(): Promises {
  /** Runs that were announced as started: their ids are used up. */
  const started = new Set<string>();
  /** Executions that were announced as over, and by what. */
  const over = new Map<string, string>();
  /** Executions that a cancellation was sent for. */
  const doomed = new Set<string>();
  /** Sets of answers of which at least one was announced as accepted. */
  const accepted: Asked[] = [];
  /** What was asked last, and is not answered as far as the client knows. */
  let asked: Asked | undefined;
  /** Whether a request was sent after that, which may have changed it. */
  let isTouched = false;
  let answering: readonly string[] = [];
  let executionId = "";
  let count = 0;

  function noteEnd(event: JsonObject): void {
    const ids = interruptsOf(event).map(({ id }) => String(id));
    if (ids.length > 0) {
      asked = { executionId, ids };
      isTouched = false;
    } else if (executionId !== "") over.set(executionId, `the end of ${event.runId}`);
    count++;
  }

  /** Why an interrupt that was announced is not where it has to be; undefined when it is. */
  function lost(thread: Thread, { executionId }: Asked, id: string): string | undefined {
    const { execution, applied, terminal } = thread;
    const isPending = execution.executionId === executionId && execution.pending.has(id);
    const isAnswered = applied.some((item) => item.executionId === executionId && item.interruptId === id);
    if (isPending && isAnswered) return `interrupt ${id} is both pending and answered`;
    const mayHaveMoved = isTouched || doomed.has(executionId);
    if (isPending || (mayHaveMoved && (isAnswered || terminal.includes(executionId)))) return undefined;
    return `interrupt ${id} was announced and is not pending`;
  }

  return {
    sending(answers) {
      answering = answers;
      // Known again once the run names it: one that only clears what is answered or expired already ends nothing.
      executionId = "";
      isTouched = true;
    },
    note(event) {
      if (event.type === "RUN_STARTED") {
        started.add(String(event.runId));
        count++;
      }
      if (event.type === "CUSTOM" && isObject(event.value)) {
        executionId = text(event.value.executionId) ?? "";
        if (answering.length > 0) accepted.push({ executionId, ids: answering });
        count++;
      }
      if (event.type === "RUN_FINISHED") noteEnd(event);
    },
    cancelling: (id) => void doomed.add(id),
    cancelled(id) {
      over.set(id, "a cancel");
      count++;
    },
    broken(thread) {
      if (!thread) return started.size > 0 ? ["the thread has no file"] : [];
      const { runs, terminal, applied } = thread;
      return [
        ...[...started].filter((id) => !runs.has(id)).map((id) => `run ${id} was started and is not known`),
        ...[...over].filter(([id]) => !terminal.includes(id)).map(([id, by]) =>
          `execution ${id} was over by ${by} and is not`
        ),
        ...accepted.filter(({ executionId, ids }) =>
          !applied.some((item) => item.executionId === executionId && ids.includes(item.interruptId))
        ).map(({ ids }) => `an answer to ${ids.join(" or ")} was accepted and is not applied`),
        ...(asked?.ids ?? []).flatMap((id) => asked ? lost(thread, asked, id) ?? [] : []),
      ];
    },
    get count() {
      return count;
    },
  };
}
