/** Somebody who talks to the service through the real @ag-ui/client, one agent object over the whole story. */
import { HttpAgent } from "@ag-ui/client";
import type { BaseEvent, Interrupt, Message } from "@ag-ui/core";
import { isObject, type JsonObject, text } from "../../src/json.ts";

/** One run as its client saw it. */
export interface Turn {
  readonly events: readonly JsonObject[];
  /** `success`, `interrupt`, the code of an error, `left` (by the client), or `broken` (the stream had no end). */
  readonly end: string;
  /** What the error said. */
  readonly message: string;
  readonly runId: string;
}

export type Status = { readonly status: "resolved"; readonly payload: JsonObject } | { readonly status: "cancelled" };

export const ALLOW: Status = { status: "resolved", payload: { decision: "allow_once" } };
export const DENY: Status = { status: "resolved", payload: { decision: "deny" } };
export const CANCELLED: Status = { status: "cancelled" };
export const choose = (selectedId: string): Status => ({ status: "resolved", payload: { selectedId } });
export const write = (freeText: string): Status => ({ status: "resolved", payload: { freeText } });

export interface SayOptions {
  readonly fields?: JsonObject;
  /** Parts beside the text. */
  readonly parts?: readonly JsonObject[];
  /** Called with each event; may leave the stream. */
  readonly heard?: (event: JsonObject, leave: () => void) => void;
}

export interface Person {
  readonly agent: HttpAgent;
  readonly workspace: string;
  /** Sends a message. */
  say(text: string, options?: SayOptions): Promise<Turn>;
  /** Answers every open interrupt: with one answer for all, or what a function says to each. */
  answer(answer: Status | ((open: Interrupt) => Status), options?: SayOptions): Promise<Turn>;
  /** The interrupts that the client holds. */
  readonly open: readonly Interrupt[];
  /** Somebody with a fresh client at the same thread, as after the page was loaded again. */
  elsewhere(): Person;
  /** Sends the answers to interrupts by their ids, whether the client holds them or not. */
  resume(entries: readonly (Status & { interruptId: string })[]): Promise<Turn>;
  /** The client's message history, one line a message or call; `~` is the workspace. */
  history(): string[];
  /** Calls the cancellation extension for an execution; its status, or the error's code. */
  cancel(executionId: string): Promise<string>;
}

/** Someone new, by default with a thread of their own; iacCode fields in `fields` hold for every run. */
export function newPerson(
  serviceUrl: string,
  workspace: string,
  fields: JsonObject = {},
  threadId: string = crypto.randomUUID(),
): Person {
  const agent = new HttpAgent({ url: serviceUrl, threadId, fetch: fetchWhole });
  const rosInvocationId = `invocation-${threadId}`;

  async function run(resume: readonly JsonObject[] | undefined, { fields: own, heard }: SayOptions): Promise<Turn> {
    const events: JsonObject[] = [];
    const abortController = new AbortController();
    const runId = crypto.randomUUID();
    const iacCode = { schemaVersion: 1, rosInvocationId, cwd: workspace, runMode: "normal", ...fields, ...own };
    let broke: unknown;
    try {
      await agent.runAgent(
        { runId, forwardedProps: { iacCode }, abortController, ...(resume && { resume: resume as never }) },
        {
          onEvent({ event }) {
            const plain = asObject(event);
            events.push(plain);
            heard?.(plain, () => abortController.abort());
          },
          onRunFailed({ error }) {
            broke = error;
          },
        },
      );
    } catch (error) {
      broke = error;
    }
    return { events, runId, ...ending(events, broke, abortController.signal.aborted) };
  }

  return {
    agent,
    workspace,
    async say(words, options = {}) {
      const content = options.parts ? [{ type: "text", text: words }, ...options.parts] : words;
      agent.addMessage({ id: crypto.randomUUID(), role: "user", content: content as string });
      return await run(undefined, options);
    },
    answer: (answer, options = {}) =>
      run(
        agent.pendingInterrupts.map((open) => {
          return { interruptId: open.id, ...(typeof answer === "function" ? answer(open) : answer) };
        }),
        options,
      ),
    elsewhere: () => newPerson(serviceUrl, workspace, fields, threadId),
    resume: (entries) => run(entries, {}),
    get open() {
      return agent.pendingInterrupts;
    },
    history: () => agent.messages.flatMap(line).map((said) => said.replaceAll(workspace, "~")),
    async cancel(executionId) {
      const response = await fetch(`${serviceUrl}/extensions/iac-code/v1/executions/${executionId}/cancel`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ threadId, rosInvocationId }),
      });
      const { status, error } = await response.json();
      return status ?? error.code;
    },
  };
}

/**
 * Fetches; a connection that breaks is the end of the body. The client itself rejects twice then, once with nobody to hear
 * it, which would end the test run.
 */
async function fetchWhole(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  const reader = response.body?.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader?.read() ?? { done: true };
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        if (init?.signal?.aborted) controller.error(error);
        else controller.close();
      }
    },
    cancel: (reason) => reader?.cancel(reason),
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

function ending(events: readonly JsonObject[], broke: unknown, left: boolean): { end: string; message: string } {
  // The client itself makes an error of its own abort.
  if (left) return { end: "left", message: "" };
  const last = events.findLast(({ type }) => type === "RUN_FINISHED" || type === "RUN_ERROR");
  if (last?.type === "RUN_ERROR") return { end: String(last.code), message: String(last.message) };
  if (last) return { end: isObject(last.outcome) ? String(last.outcome.type) : "none", message: "" };
  const payload = isObject(broke) && "payload" in broke ? broke.payload : undefined;
  const error = isObject(payload) ? payload.error : undefined;
  if (isObject(error)) return { end: String(error.code), message: String(error.message) };
  return { end: "broken", message: broke instanceof Error ? broke.message : "" };
}

function asObject(event: BaseEvent): JsonObject {
  return JSON.parse(JSON.stringify(event));
}

/** A message as lines to compare: who, and what. */
function line(message: Message): string[] {
  switch (message.role) {
    case "assistant": {
      const calls = (message.toolCalls ?? []).map(({ function: { name, arguments: args } }) =>
        `call ${name} ${ordered(args)}`
      );
      return [...(message.content ? [`agent ${message.content.trim()}`] : []), ...calls];
    }
    case "tool":
      return [`result ${message.content}`];
    case "user":
      return [`user ${typeof message.content === "string" ? unscripted(message.content) : "(parts)"}`];
    case "reasoning":
      return [`thought ${message.content.trim()}`];
    default:
      return [];
  }
}

/** JSON with the keys of objects in order: the kernel keeps none. */
function ordered(json: string): string {
  const sort = (_: string, value: unknown): unknown =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)) : value;
  return JSON.stringify(JSON.parse(json), sort);
}

/** A user's words without the script for the model behind them. */
function unscripted(words: string): string {
  return words.replace(/\s*SCRIPT\[.*\]END/s, "");
}

/** A message whose answer the model reads off it: what it does at each of its calls. */
export function scripted(words: string, ...answers: readonly (readonly JsonObject[])[]): string {
  return `${words} SCRIPT${JSON.stringify(answers)}END`;
}

/** The execution that a run belongs to, as iac-code.session.v1 tells it. */
export function executionOf({ events }: Pick<Turn, "events">): string {
  const session = events.find(({ type, name }) => type === "CUSTOM" && name === "iac-code.session.v1");
  const executionId = isObject(session?.value) ? text(session.value.executionId) : undefined;
  if (executionId === undefined) throw new Error("the run named no session");
  return executionId;
}
