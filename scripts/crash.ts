/**
 * Kills a real service process with SIGKILL at random moments of mixed traffic, and checks each time that every thread file
 * loads and keeps what was promised to clients before: a run that was started is known, an interrupt that was announced is
 * pending, an answer that was accepted is applied, an execution that was over is over (docs/reliability.md).
 *
 *   deno run -A scripts/crash.ts [--kills 300] [--clients 12] [--seed 1] [--pace 0.1]
 *
 * The same threads go on after each kill, on the same state directory; the demo kernel lives through it. Exit code 1 when a
 * promise was broken, a file does not load, or a thread cannot go on.
 */
import { parseArgs } from "node:util";
import { startDemoKernel } from "../demo/kernel.ts";
import { isObject, type JsonObject } from "../src/json.ts";
import { threadFiles } from "../src/store/thread_files.ts";
import { type Random, seeded } from "../tests/support/random.ts";
import { createPromises, type Promises } from "./promises.ts";
import { type ServiceProcess, startService } from "./service_process.ts";
import { type Conversation, type End, newConversation, sleep, takeTurn, type Target } from "./traffic.ts";

/** A kill comes within this of the first request: starts, ends, writes and waits are all met. */
const LONGEST_LIFE_MS = 1_500;
/** A thread is left for a new one after so many runs. */
const RUNS = 30;
const CANCELS = 0.1;
/** Turns within which a thread has to come to a good end. */
const TRIES = 20;

interface Client {
  readonly random: Random;
  conversation: Conversation;
  promises: Promises;
}

const options = parseArgs({
  options: {
    kills: { type: "string", default: "300" },
    clients: { type: "string", default: "12" },
    seed: { type: "string", default: "1" },
    pace: { type: "string", default: "0.1" },
  },
}).values;

const problems = await crash(
  Number(options.kills),
  Number(options.clients),
  Number(options.seed),
  Number(options.pace),
);
for (const problem of problems) say(`FAILED: ${problem}`);
say(problems.length === 0 ? "crash passed" : `${problems.length} problems`);
Deno.exit(problems.length === 0 ? 0 : 1);

async function crash(kills: number, count: number, seed: number, pace: number): Promise<string[]> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "agui-crash-" }));
  const stateDir = `${root}/state`;
  const kernel = startDemoKernel({ pace });
  const random = seeded(seed);
  const ends = new Map<End, number>();
  const problems: string[] = [];
  let threads = 0;
  const begin = (): Pick<Client, "conversation" | "promises"> => ({
    conversation: newConversation(`crash-${threads++}`),
    promises: createPromises(),
  });
  const clients = Array.from({ length: count }, (_, at): Client => ({ random: seeded(seed * 1_000 + at), ...begin() }));
  const gone: Client[] = [];
  let leftovers = 0;
  let running: ServiceProcess | undefined;
  try {
    for (let kill = 1; kill <= kills && problems.length === 0; kill++) {
      running = await startService({ kernel, stateDir, cwd: root });
      const temps = await tempFiles(stateDir);
      if (temps > 0) problems.push(`${temps} temp files are left after the start`);
      await liveAndDie(running, root, clients, random.between(1, LONGEST_LIFE_MS), ends);
      leftovers += await tempFiles(stateDir);
      problems.push(...(await broken(stateDir, [...clients, ...gone])).map((problem) => `kill ${kill}: ${problem}`));
      if (kill % 10 === 0) say(`${kill} kills`);
      for (const client of clients.filter(({ conversation }) => conversation.runs >= RUNS)) {
        gone.push({ ...client });
        Object.assign(client, begin());
      }
    }
    running = await startService({ kernel, stateDir, cwd: root });
    problems.push(...await goOn(running, root, clients));
    const promises = [...clients, ...gone].reduce((sum, { promises }) => sum + promises.count, 0);
    say(`${kills} kills, ${threads} threads, ${promises} promises, ${leftovers} temp files left by kills`);
    say([...ends].sort(([, a], [, b]) => b - a).map(([end, times]) => `${times} ${end}`).join(", "));
    return problems;
  } finally {
    await running?.end("SIGKILL");
    await kernel.close();
    await Deno.remove(root, { recursive: true });
  }
}

/** One life of the service. */
async function liveAndDie(
  service: ServiceProcess,
  cwd: string,
  clients: readonly Client[],
  ms: number,
  ends: Map<End, number>,
): Promise<void> {
  const target = { url: service.url, cwd, client: Deno.createHttpClient({}) };
  let alive = true;
  const busy = clients.map(async (client) => {
    while (alive) {
      const end = await turn(target, client);
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
  });
  await sleep(ms);
  await service.end("SIGKILL");
  alive = false;
  await Promise.all(busy);
  target.client.close();
}

async function turn(target: Target, { conversation, promises, random }: Client): Promise<End> {
  promises.sending(conversation.waiting.map(({ id }) => String(id)));
  const manner = random.chance(0.15) ? "leaves" : "stays";
  const cancels = random.chance(CANCELS);
  let cancelling = Promise.resolve();
  const { end } = await takeTurn(target, conversation, random, manner, (event) => {
    promises.note(event);
    if (cancels && event.type === "CUSTOM") cancelling = cancel(target, event, promises);
  });
  await cancelling;
  return end;
}

async function cancel({ url, client }: Target, { value }: JsonObject, promises: Promises): Promise<void> {
  if (!isObject(value)) return;
  const { executionId, threadId, rosInvocationId } = value;
  promises.cancelling(String(executionId));
  try {
    const response = await fetch(`${url}/extensions/iac-code/v1/executions/${executionId}/cancel`, {
      method: "POST",
      body: JSON.stringify({ threadId, rosInvocationId }),
      headers: { "content-type": "application/json" },
      client,
    });
    const answer = await response.json();
    if (answer.status === "cancelled") promises.cancelled(String(executionId));
  } catch (error) {
    // Killed before it could answer: then nothing was promised.
    if (!(error instanceof TypeError)) throw error;
  }
}

async function broken(stateDir: string, clients: readonly Client[]): Promise<string[]> {
  const files = threadFiles({ folder: `${stateDir}/threads`, fallbackExpiry: () => null });
  const found = await Promise.all(clients.map(async ({ conversation: { threadId }, promises }) => {
    try {
      return promises.broken(await files.load(threadId)).map((problem) => `${threadId}: ${problem}`);
    } catch (error) {
      return [`${threadId}: its file does not load (${error})`];
    }
  }));
  return found.flat();
}

async function tempFiles(stateDir: string): Promise<number> {
  const names = await Array.fromAsync(Deno.readDir(`${stateDir}/threads`), ({ name }) => name);
  return names.filter((name) => !name.endsWith(".json")).length;
}

/**
 * After the last kill every thread goes on until it has nothing more to answer. Held up may be one whose message a kill met
 * before the kernel had named the task: nobody knows that one, and the kernel is busy with it until it ends by itself.
 */
async function goOn(service: ServiceProcess, cwd: string, clients: readonly Client[]): Promise<string[]> {
  const target = { url: service.url, cwd, client: Deno.createHttpClient({}) };
  let held = 0;
  const failed = await Promise.all(clients.map(async ({ conversation, random }) => {
    const seen: End[] = [];
    for (let tries = 0; tries < TRIES; tries++) {
      let isHeld = false;
      const { end } = await takeTurn(target, conversation, random, "stays", ({ message }) => {
        isHeld ||= String(message).includes("already working");
      });
      seen.push(end);
      if (end === "success") return [];
      if (isHeld) {
        held++;
        return [];
      }
    }
    return [`${conversation.threadId} does not go on: ${seen.join(", ")}`];
  }));
  target.client.close();
  say(`${clients.length} threads went on, ${held} of them behind a task that a kill made nameless`);
  return failed.flat();
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
