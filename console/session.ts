/**
 * One thread: an `HttpAgent` of @ag-ui/client, whose events become the view and the event log. This is all that a page of
 * your own needs in order to talk to the service (docs/console.md, "Take it apart").
 */
import "./no_eval.ts";
import { type AgentSubscriber, HttpAgent } from "@ag-ui/client";
import type { Event, Interrupt, Message, ResumeEntry } from "@ag-ui/core";
import { isObject, type Json, text } from "../src/json.ts";
import { createEventLog, type EventLog } from "./state/event_log.ts";
import { type Fields, iacCodeProps, maskRequest, type Secrets } from "./state/fields.ts";
import { addAnswers, addError, addInterrupts, addMessage, fail, reduce } from "./state/reduce.ts";
import { EMPTY_VIEW, type View } from "./state/view.ts";
import { createBreather } from "./breather.ts";

export interface Answered {
  readonly entry: ResumeEntry;
  readonly question: string;
  readonly answer: string;
}

export interface Session {
  readonly threadId: string;
  readonly view: View;
  readonly log: EventLog;
  /** A message that the service refused: to be sent again when what was wrong is right. */
  readonly refused: { readonly message: string } | undefined;
  /** Sends a message. None of these rejects: what goes wrong is shown. */
  send(message: string): Promise<void>;
  /** Answers all open interrupts. */
  answer(answers: readonly Answered[]): Promise<void>;
  /** Stops the execution; before the service has named it, by leaving. */
  cancel(): Promise<void>;
  /** Shows again what waits in the thread since before the page was loaded. */
  pickUp(waiting: readonly string[]): Promise<void>;
}

export interface SessionParts {
  /** Where the service is; ends in a slash. */
  readonly serviceUrl: string;
  readonly settings: () => { readonly fields: Fields; readonly secrets: Secrets };
  /** Called after every change; `waiting` are the ids of the open interrupts. */
  readonly changed: (session: Session) => void;
}

/** A service's answer that is no stream. */
interface Refusal {
  readonly status: number;
  readonly code: string | undefined;
  readonly message: string;
  readonly details: unknown;
}

const UNREACHABLE: Refusal = { status: 0, code: "UNREACHABLE", message: "", details: undefined };

/** A session for a thread, new or known. */
export function createSession(threadId: string, { serviceUrl, settings, changed }: SessionParts): Session {
  const log = createEventLog();
  const breathe = createBreather();
  const rosInvocationId = `console-${threadId}`.slice(0, 256);
  const agent = new HttpAgent({ url: serviceUrl, threadId, fetch: sendLogged });
  let view = EMPTY_VIEW;
  let refused: Session["refused"];
  /** Whether the user has left the run before the service named its execution. */
  let hasLeft = false;

  function show(next: View): void {
    view = next;
    changed(session);
  }

  async function sendLogged(url: string, init: RequestInit): Promise<Response> {
    const { pathname } = new URL(url, location.href);
    const body: unknown = JSON.parse(String(init.body));
    const headers = Object.fromEntries(new Headers(init.headers));
    log.addRequest(
      `${init.method} ${pathname}`,
      { method: init.method ?? "", url, ...maskRequest(headers, body) },
      now(),
    );
    changed(session);
    return await fetch(url, { ...init, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" });
  }

  function headers(): Record<string, string> {
    const { token } = settings().secrets;
    return token === "" ? {} : { authorization: `Bearer ${token}` };
  }

  /** What a run's events change: the view, or, in a run that only asks, nothing. */
  function follow(onEvent: (event: Event) => void): AgentSubscriber {
    return {
      onEvent({ event }) {
        log.addEvent(event as Event, now());
        onEvent(event as Event);
        return breathe();
      },
    };
  }

  /** Runs once. A refusal is returned; other failures end in the view. */
  async function run(onEvent: (event: Event) => void, resume?: ResumeEntry[]): Promise<Refusal | undefined> {
    agent.headers = headers();
    const { fields, secrets } = settings();
    const forwardedProps = { iacCode: iacCodeProps(fields, secrets, rosInvocationId) };
    const parameters = { runId: crypto.randomUUID(), forwardedProps, ...(resume && { resume }) };
    const before = log.rows.length;
    try {
      await agent.runAgent(parameters, follow(onEvent));
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal) log.addAnswer(`HTTP ${refusal.status}`, (error as { payload?: Json }).payload ?? "", now());
      const isLost = error instanceof TypeError;
      const nothingCame = !log.rows.slice(before).some(({ direction }) => direction === "received");
      if (!refusal && isLost && nothingCame) return UNREACHABLE;
      if (!refusal) show(fail(view, isLost ? "STREAM_CUT" : undefined, isLost ? "" : String(error), undefined));
      return refusal;
    }
  }

  /** Runs into the view; a stream that ended too early is a failure, too. */
  async function converse(resume?: ResumeEntry[]): Promise<Refusal | undefined> {
    hasLeft = false;
    const refusal = await run((event) => show(reduce(view, event)), resume);
    if (!refusal && view.phase === "running") show(fail(view, hasLeft ? "abort" : "STREAM_CUT", "", undefined));
    return refusal;
  }

  /** Shows what the service answered in place of a stream: what waits for an answer, or what is wrong. */
  function refuse({ code, message, details, status }: Refusal): void {
    const told = isObject(details) ? details : {};
    if (code === "RESUME_REQUIRED" && Array.isArray(told.interrupts)) {
      show(addInterrupts(view, told.interrupts as unknown as Interrupt[], text(told.executionId)));
    } else show(fail(view, code ?? `HTTP ${status}`, message, undefined));
  }

  const session: Session = {
    threadId,
    log,
    get view() {
      return view;
    },
    get refused() {
      return refused;
    },
    async send(message) {
      const before = view;
      const id = crypto.randomUUID();
      refused = undefined;
      // Whether something waits is for the service to say (RESUME_REQUIRED), not for the client's memory.
      agent.pendingInterrupts = [];
      agent.addMessage({ id, role: "user", content: message });
      show(addMessage(view, id, message));
      const refusal = await converse();
      if (!refusal) return;
      agent.messages = agent.messages.filter((known) => known.id !== id);
      refused = { message };
      view = { ...before, interrupts: [] };
      refuse(refusal);
    },
    async answer(answers) {
      agent.pendingInterrupts = [...view.interrupts];
      show(addAnswers(view, crypto.randomUUID(), answers));
      const refusal = await converse(answers.map(({ entry }) => entry));
      if (refusal) refuse(refusal);
    },
    async cancel() {
      const { executionId, phase } = view;
      if (executionId === undefined) {
        hasLeft = true;
        return agent.abortRun();
      }
      const path = `extensions/iac-code/v1/executions/${encodeURIComponent(executionId)}/cancel`;
      const body = JSON.stringify({ threadId, rosInvocationId });
      const init = { method: "POST", headers: { ...headers(), "content-type": "application/json" }, body };
      try {
        const response = await sendLogged(new URL(path, new URL(serviceUrl, location.href)).href, init);
        const answer = await response.json() as Json;
        log.addAnswer(`HTTP ${response.status}`, answer, now());
        const refusal = response.ok ? undefined : refusalOf({ status: response.status, payload: answer });
        if (refusal) show(addError(view, refusal.code, refusal.message));
        // A run that was under way ends by its own RUN_ERROR.
        else if (phase === "idle") show(fail({ ...view, interrupts: [] }, "CANCELLED", "", undefined));
        else changed(session);
      } catch (error) {
        show(addError(view, "UNREACHABLE", String(error)));
      }
    },
    async pickUp(waiting) {
      agent.pendingInterrupts = [];
      show({ ...view, phase: "running" });
      // An answer without a payload is refused and leaves its question open, so it is safe to ask with.
      const resume = waiting.map((interruptId) => ({ interruptId, status: "resolved" as const }));
      let last: Event | undefined;
      const probe = await run((event) => void (last = event), resume);
      if (probe) return refuse(probe);
      if (last?.type === "RUN_FINISHED") return show(reduce(view, last));
      if (last?.type !== "RUN_ERROR") return show(fail(view, "STREAM_CUT", "", undefined));
      if (last.code !== "RESUME_PAYLOAD_INVALID") return show(reduce(view, last));
      // It is still open. To a message in place of an answer, the service says what waits.
      const question: Message = { id: crypto.randomUUID(), role: "user", content: "?" };
      agent.addMessage(question);
      const refusal = await converse();
      agent.messages = agent.messages.filter(({ id }) => id !== question.id);
      if (refusal) refuse(refusal);
    },
  };

  return session;
}

function now(): number {
  return Date.now();
}

/** What the client says of an answer that is no stream; undefined for other errors. */
function refusalOf(error: unknown): Refusal | undefined {
  const { status, payload } = error as { status?: number; payload?: unknown };
  if (status === undefined) return undefined;
  const told = isObject(payload) && isObject(payload.error) ? payload.error : {};
  return { status, code: text(told.code), message: text(told.message) ?? "", details: told.details };
}
