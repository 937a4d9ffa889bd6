/** An example conversation through the real `@ag-ui/client`: text, a tool, a permission and its answer, a next message. */
import { type AgentSubscriber, HttpAgent } from "@ag-ui/client";
import type { Event, Interrupt, ResumeEntry } from "@ag-ui/core";
import { createEventPrinter, type EventPrinter, wantsColour } from "./print_events.ts";

export interface ConversationOptions {
  /** The workspace that the service is to work in; it has to allow it. */
  readonly cwd: string;
  /** The service's bearer token, when it wants one. */
  readonly token?: string;
  /** Takes what is printed; the standard output when absent. */
  readonly write?: (piece: string) => void;
  /** Colour; on a terminal without NO_COLOR when absent. */
  readonly colour?: boolean;
}

/** How a run ended. */
type Outcome = { readonly type: "success" | "cancelled" | "none" } | {
  readonly type: "interrupt";
  readonly interrupts: readonly Interrupt[];
} | { readonly type: "error"; readonly message: string };

/** A service whose runs are not what the example expects. */
export class UnexpectedConversation extends Error {
  override name = "UnexpectedConversation";
}

/** Holds the example conversation with the service at `url`, which runs on the demo kernel. Throws when it goes wrong. */
export async function holdConversation(url: string, options: ConversationOptions): Promise<void> {
  const { cwd, token, write = writeOut, colour = wantsColour() } = options;
  const printer = createEventPrinter(write, colour);
  const agent = new HttpAgent({
    url,
    threadId: crypto.randomUUID(),
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  });
  try {
    await converse(agent, printer, cwd);
    printer.heading(`${agent.messages.length} messages in the thread. That was the example.`);
  } finally {
    printer.close();
  }
}

async function converse(agent: HttpAgent, printer: EventPrinter, cwd: string): Promise<void> {
  /** Who asks; a run that answers a question belongs to the same invocation. */
  let invocation = "";
  async function say(content: string): Promise<Outcome> {
    printer.heading(`You: ${content}`);
    agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
    invocation = crypto.randomUUID();
    return await runOnce(agent, printer, cwd, invocation);
  }

  expectSuccess(await say("Hello, who are you?"));
  expectText(agent, "demo");
  expectSuccess(await say("Please use a tool."));
  expectToolResult(agent, "main.yml");

  const asked = await say("Please ask me for a permission.");
  if (asked.type !== "interrupt") throw unexpected("a run that asks for a permission", asked);
  printer.heading("You: allow once");
  expectSuccess(await runOnce(agent, printer, cwd, invocation, asked.interrupts.map(allow)));
  expectToolResult(agent, "demo.txt");

  expectSuccess(await say("Thank you!"));
  expectText(agent, "Thank you!");
}

async function runOnce(
  agent: HttpAgent,
  printer: EventPrinter,
  cwd: string,
  rosInvocationId: string,
  resume?: ResumeEntry[],
): Promise<Outcome> {
  let outcome: Outcome = { type: "none" };
  const subscriber: AgentSubscriber = {
    // The client hands on only events that it knows.
    onEvent: ({ event }) => printer.event(event as Event),
    onRunFinishedEvent(end) {
      outcome = end.outcome === "interrupt" ? { type: "interrupt", interrupts: end.interrupts } : { type: end.outcome };
    },
    onRunErrorEvent: ({ event: { code, message } }) =>
      void (outcome = { type: "error", message: `${code ?? ""} ${message}`.trim() }),
  };
  const forwardedProps = { iacCode: { schemaVersion: 1, rosInvocationId, cwd, runMode: "normal" } };
  await agent.runAgent({ forwardedProps, ...(resume && { resume }) }, subscriber);
  return outcome;
}

function allow({ id }: Interrupt): ResumeEntry {
  return { interruptId: id, status: "resolved", payload: { decision: "allow_once" } };
}

function expectSuccess(outcome: Outcome): void {
  if (outcome.type !== "success") throw unexpected("a run that succeeds", outcome);
}

function expectText({ messages }: HttpAgent, part: string): void {
  const last = messages.findLast(({ role }) => role === "assistant");
  const content = typeof last?.content === "string" ? last.content : "";
  if (!content.includes(part)) {
    throw new UnexpectedConversation(`Expected an answer with “${part}”, got “${content}”.`);
  }
}

function expectToolResult({ messages }: HttpAgent, part: string): void {
  const last = messages.findLast(({ role }) => role === "tool");
  if (!JSON.stringify(last ?? "").includes(part)) {
    throw new UnexpectedConversation(`Expected a tool result with “${part}”, got ${JSON.stringify(last)}.`);
  }
}

function unexpected(expected: string, outcome: Outcome): UnexpectedConversation {
  const detail = outcome.type === "error" ? `: ${outcome.message}` : "";
  return new UnexpectedConversation(`Expected ${expected}, got outcome ${outcome.type}${detail}.`);
}

function writeOut(piece: string): void {
  const bytes = new TextEncoder().encode(piece);
  for (let written = 0; written < bytes.length;) written += Deno.stdout.writeSync(bytes.subarray(written));
}
