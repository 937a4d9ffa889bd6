/** Conversations as clients hold them, well behaved and not: what soak.ts and crash.ts send to a service. */
import { isObject, type Json, type JsonObject, text } from "../src/json.ts";
import type { Random } from "../tests/support/random.ts";

/** A running service. */
export interface Target {
  readonly url: string;
  /** A workspace that it allows. */
  readonly cwd: string;
  /** The clients' connections, so that they can be closed. */
  readonly client: Deno.HttpClient;
}

/** One thread, as its client knows it. */
export interface Conversation {
  readonly threadId: string;
  /** Runs begun so far; their number makes the run ids. */
  runs: number;
  /** Interrupts that wait for an answer. */
  waiting: readonly JsonObject[];
}

/** How a client behaves in one run. */
export type Manner = "stays" | "leaves" | "reads slowly" | "reads nothing";

/** What became of a run: `success`, `interrupt`, an error's code, `left`, `broken` (no end came), or the HTTP status and code. */
export type End = string;

/** Events that say something about the run itself; deltas are only counted. */
export type Watch = (event: JsonObject) => void;

export interface Run {
  readonly runId: string;
  readonly end: End;
  readonly bytes: number;
}

/** What users write to the demo kernel; each word is a story of it. */
const WORDS = ["hello", "think", "tool", "fail tool", "burst", "permission", "two permissions", "error", "die", "slow"];
const PIPELINES = ["pipeline", "question"];

/** A new thread. */
export function newConversation(threadId: string): Conversation {
  return { threadId, runs: 0, waiting: [] };
}

/** Takes the next turn of a conversation: an answer when one is asked for, else something new. */
export async function takeTurn(
  target: Target,
  conversation: Conversation,
  random: Random,
  manner: Manner,
  watch: Watch = () => {},
): Promise<Run> {
  const runId = `run-${++conversation.runs}`;
  const { waiting } = conversation;
  const isPipeline = random.chance(0.15);
  const body = {
    threadId: conversation.threadId,
    runId,
    state: {},
    messages: waiting.length > 0 ? [] : [userMessage(runId, random.pick(isPipeline ? PIPELINES : WORDS))],
    tools: [],
    context: [],
    forwardedProps: {
      iacCode: {
        schemaVersion: 1,
        rosInvocationId: "invocation-1",
        cwd: target.cwd,
        runMode: isPipeline ? "pipeline" : "normal",
      },
    },
    ...(waiting.length > 0 && { resume: waiting.map((interrupt) => answer(interrupt, random)) }),
  };
  const { end, bytes } = await post(target, body, random, manner, (event) => {
    if (event.type === "RUN_FINISHED" || event.type === "RUN_ERROR") conversation.waiting = interruptsOf(event);
    watch(event);
  }, (refused) => void (conversation.waiting = refused));
  return { runId, end, bytes };
}

function userMessage(runId: string, content: string): JsonObject {
  return { id: `message-${runId}`, role: "user", content };
}

/** The interrupts that a run's end leaves open. */
export function interruptsOf({ type, outcome }: JsonObject): JsonObject[] {
  if (type !== "RUN_FINISHED" || !isObject(outcome) || !Array.isArray(outcome.interrupts)) return [];
  return outcome.interrupts.filter(isObject);
}

/** An answer that fits the interrupt's schema; now and then the user gives up instead. */
function answer({ id = "", responseSchema }: JsonObject, random: Random): JsonObject {
  if (random.chance(0.1)) return { interruptId: id, status: "cancelled" };
  return { interruptId: id, status: "resolved", payload: payload(responseSchema, random) };
}

function payload(schema: Json | undefined, random: Random): JsonObject {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  if (properties.decision !== undefined) return { decision: random.pick(["allow_once", "deny"]) };
  if (isObject(schema) && Array.isArray(schema.oneOf)) return payload(random.pick(schema.oneOf), random);
  const { selectedId } = properties;
  return isObject(selectedId) ? { selectedId: selectedId.const ?? "" } : { freeText: "Somewhere else." };
}

async function post(
  { url, client }: Target,
  body: JsonObject,
  random: Random,
  manner: Manner,
  watch: Watch,
  onRefused: (interrupts: JsonObject[]) => void,
): Promise<{ end: End; bytes: number }> {
  try {
    const response = await fetch(url, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      client,
    });
    if (response.status !== 200) {
      const { code, interrupts } = await refusalOf(response);
      onRefused(interrupts);
      return { end: `${response.status} ${code}`, bytes: 0 };
    }
    return await read(response, random, manner, watch);
  } catch (error) {
    // The service was killed, or shut down: an end that a client sees as a broken connection.
    if (error instanceof TypeError || error instanceof Deno.errors.Http) return { end: "broken", bytes: 0 };
    throw error;
  }
}

/** An error's code, and the interrupts that the thread waits for, which a client that left does not know. */
async function refusalOf(response: Response): Promise<{ code: string; interrupts: JsonObject[] }> {
  const body: unknown = await response.json();
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  const { interrupts } = isObject(error.details) ? error.details : {};
  return { code: text(error.code) ?? "?", interrupts: Array.isArray(interrupts) ? interrupts.filter(isObject) : [] };
}

/** A client that stays away for this long has not left yet. */
const AWAY_MS = 2_000;

async function read(
  response: Response,
  random: Random,
  manner: Manner,
  watch: Watch,
): Promise<{ end: End; bytes: number }> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let end: End = "broken";
  let bytes = 0;
  let rest = "";
  if (manner === "reads nothing") await sleep(random.between(0, AWAY_MS));
  for (let left = manner === "leaves" ? random.between(0, 12) : Infinity; left > 0; left--) {
    const piece = await reader?.read();
    if (!piece || piece.done) return { end, bytes };
    bytes += piece.value.length;
    const records = (rest + decoder.decode(piece.value, { stream: true })).split("\n\n");
    rest = records.pop() ?? "";
    for (const record of records) {
      // Only what is about the run is parsed, so that the client costs less than the service.
      if (!/^data: \{"type":"(?:RUN_|CUSTOM","name":"iac-code\.session)/.test(record)) continue;
      const event: unknown = JSON.parse(record.slice("data: ".length));
      if (!isObject(event)) continue;
      watch(event);
      if (event.type === "RUN_FINISHED") end = interruptsOf(event).length > 0 ? "interrupt" : "success";
      if (event.type === "RUN_ERROR") end = String(event.code);
    }
    if (manner === "reads slowly") await sleep(random.between(0, 50));
  }
  await reader?.cancel();
  return { end: end === "broken" ? "left" : end, bytes };
}

/** Resolves after `ms`. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
