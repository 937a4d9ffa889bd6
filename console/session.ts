/**
 * One thread: an `HttpAgent` of @ag-ui/client, whose events become the view and the event log. This is all that a page of
 * your own needs in order to talk to the service (docs/console.md, "Take it apart").
 */
import { type AgentSubscriber, HttpAgent } from "@ag-ui/client";
import type { Event, Interrupt, ResumeEntry } from "@ag-ui/core";
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
  readonly refused: string | undefined;
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

/** A session for a thread, new or known. */
export function createSession(threadId: string, { serviceUrl, settings, changed }: SessionParts): Session {
  const log = createEventLog();
  const breathe = createBreather();
  const rosInvocationId = `console-${threadId}`.slice(0, 256);
  const agent = new HttpAgent({ url: serviceUrl, threadId, fetch: sendLogged });
  let view = EMPTY_VIEW;
  let refused: string | undefined;

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

  const subscriber: AgentSubscriber = {
    onEvent({ event }) {
      log.addEvent(event as Event, now());
      show(reduce(view, event as Event));
      return breathe();
    },
  };

  /** Runs once. A refusal is returned; everything else ends in the view. */
  async function run(resume?: ResumeEntry[]): Promise<Refusal | undefined> {
    agent.headers = headers();
    const { fields, secrets } = settings();
    const forwardedProps = { iacCode: iacCodeProps(fields, secrets, rosInvocationId) };
    try {
      await agent.runAgent({ runId: crypto.randomUUID(), forwardedProps, ...(resume && { resume }) }, subscriber);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal) {
        const { payload = "" } = error as { payload?: Json };
        log.addAnswer(`HTTP ${refusal.status}`, payload, now());
        return refusal;
      }
      show(fail(view, isUnreachable(error) ? "UNREACHABLE" : undefined, messageOf(error), undefined));
    }
    if (view.phase === "running") show(fail(view, "STREAM_CUT", "", undefined));
  }

  function refuse({ code, message, details, status }: Refusal): void {
    const interrupts = isObject(details) && Array.isArray(details.interrupts) ? details.interrupts : undefined;
    if (code !== "RESUME_REQUIRED" || !interrupts) {
      return show(fail(view, code ?? `HTTP ${status}`, message, undefined));
    }
    show(
      addInterrupts(
        view,
        interrupts as unknown as Interrupt[],
        isObject(details) ? text(details.executionId) : undefined,
      ),
    );
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
      const refusal = await run();
      if (!refusal) return;
      agent.messages = agent.messages.filter((known) => known.id !== id);
      refused = message;
      view = { ...before, interrupts: [] };
      refuse(refusal);
    },
    async answer(answers) {
      agent.pendingInterrupts = [...view.interrupts];
      show(addAnswers(view, crypto.randomUUID(), answers));
      const refusal = await run(answers.map(({ entry }) => entry));
      if (refusal) refuse(refusal);
    },
    async cancel() {
      const { executionId } = view;
      if (executionId === undefined) return agent.abortRun();
      const path = `extensions/iac-code/v1/executions/${encodeURIComponent(executionId)}/cancel`;
      const body = JSON.stringify({ threadId, rosInvocationId });
      const init = { method: "POST", headers: { ...headers(), "content-type": "application/json" }, body };
      try {
        const response = await sendLogged(new URL(path, new URL(serviceUrl, location.href)).href, init);
        const answer = await response.json() as Json;
        log.addAnswer(`HTTP ${response.status}`, answer, now());
        // A run that is under way ends by its own RUN_ERROR.
        const refusal = response.ok ? undefined : refusalOf({ status: response.status, payload: answer });
        if (refusal) show(addError(view, crypto.randomUUID(), refusal.code, refusal.message));
        else if (view.phase === "idle") show(fail({ ...view, interrupts: [] }, "CANCELLED", "", undefined));
        else changed(session);
      } catch (error) {
        show(addError(view, crypto.randomUUID(), "UNREACHABLE", messageOf(error)));
      }
    },
    async pickUp(waiting) {
      // An answer without a payload is refused and leaves the question open; it says whether the question still is.
      agent.pendingInterrupts = [];
      show({ ...view, phase: "running", run: { ...view.run, answers: "none" } });
      const before = view;
      const probe = await run(waiting.map((interruptId) => ({ interruptId, status: "resolved" as const })));
      if (probe) return refuse(probe);
      if (view.interrupts.length > 0) return;
      const last = log.rows.findLast(({ isEvent }) => isEvent)?.value;
      if (!isObject(last) || last.code !== "RESUME_PAYLOAD_INVALID") return;
      view = before;
      await showWaiting();
    },
  };

  /** The service names what waits when a message comes instead of an answer. */
  async function showWaiting(): Promise<void> {
    const id = crypto.randomUUID();
    agent.addMessage({ id, role: "user", content: "?" });
    const refusal = await run();
    agent.messages = agent.messages.filter((known) => known.id !== id);
    if (refusal) refuse(refusal);
  }

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

function isUnreachable(error: unknown): boolean {
  return error instanceof TypeError;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
