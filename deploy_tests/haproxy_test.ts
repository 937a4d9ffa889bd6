import assert from "node:assert/strict";
import { type DemoKernel, startDemoKernel } from "../demo/kernel.ts";
import { isObject, type JsonObject } from "../src/json.ts";
import { type Program, startProgram, urlOf } from "../tests/operations/program.ts";
import { inFolder, namesIn } from "../tests/support/folders.ts";
import { readEvents, type RunReader } from "../tests/support/run_reader.ts";
import { runInput } from "../tests/support/service_process.ts";
import { freePort, type Proxy, startHaproxy } from "./proxy.ts";

const INSTANCES = 3;
const THREADS = 300;
/** Threads that talk at the same time. */
const AT_ONCE = 20;
/** Fast, but slow enough that a stream has a middle. */
const PACE = 0.02;

interface Instance {
  readonly state: string;
  readonly port: number;
  readonly kernel: DemoKernel;
  program: Program;
}

/** A service on its port, state and kernel. `root` holds the workspaces. */
function startInstance({ state, port, kernel }: Omit<Instance, "program">, root: string): Program {
  const args = ["--port", String(port), "--a2a-url", kernel.url, "--state-dir", state, "--allowed-cwds", root];
  return startProgram({ args, env: { "IAC_CODE_AGUI_A2A_TOKEN": kernel.token } });
}

/** Three instances, a kernel each, behind one HAProxy. On this one machine they share the workspaces. */
async function withInstances(
  work: (instances: Instance[], client: Client, root: string) => Promise<void>,
): Promise<void> {
  await inFolder(async (root) => {
    const instances = Array.from({ length: INSTANCES }, (_, at): Instance => {
      const parts = { state: `${root}/state-${at}`, port: freePort(), kernel: startDemoKernel({ pace: PACE }) };
      return { ...parts, program: startInstance(parts, root) };
    });
    try {
      for (const { program } of instances) await urlOf(program);
      await using proxy = await startHaproxy(root, instances.map(({ port }) => port));
      await work(instances, clientOf(proxy, root), root);
    } finally {
      for (const { program } of instances) await program[Symbol.asyncDispose]();
      for (const { kernel } of instances) await kernel.close();
    }
  });
}

interface Client {
  post(path: string, body: JsonObject, thread?: string): Promise<Response>;
  /** Starts a run of a thread, with its header. */
  run(thread: string, run: string, more: Parameters<typeof runInput>[3]): Promise<RunReader>;
}

function clientOf({ url, client }: Proxy, root: string): Client {
  const post: Client["post"] = (path, body, thread) =>
    fetch(`${url}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", ...(thread !== undefined && { "x-thread-id": thread }) },
      client,
    });
  return {
    post,
    run: async (thread, run, more) => readEvents(await post("/", runInput(root, thread, run, more), thread)),
  };
}

async function ends(run: RunReader): Promise<JsonObject> {
  const end = await run.until("RUN_FINISHED");
  await run.leave();
  return end;
}

/** Brings a thread to a question about a file; gives what an answer needs. */
async function asked(
  client: Client,
  thread: string,
  runId: string,
): Promise<{ interruptId: string; executionId: string }> {
  const run = await client.run(thread, runId, { text: "Please ask me for a permission." });
  const { outcome } = await ends(run);
  const interrupts = isObject(outcome) && Array.isArray(outcome.interrupts) ? outcome.interrupts : [];
  const session = run.events.find(({ name }) => name === "iac-code.session.v1")?.value;
  const [interrupt] = interrupts;
  assert.ok(isObject(interrupt) && isObject(session), JSON.stringify(run.events.at(-1)));
  return { interruptId: String(interrupt.id), executionId: String(session.executionId) };
}

async function allow(client: Client, thread: string, runId: string, interruptId: string): Promise<void> {
  const resume = [{ interruptId, status: "resolved", payload: { decision: "allow_once" } }];
  assert.deepEqual((await ends(await client.run(thread, runId, { resume }))).outcome, { type: "success" }, thread);
}

/** A conversation: a turn, an interrupt and its answer, an interrupt that is cancelled, a turn. */
async function converse(client: Client, thread: string): Promise<void> {
  assert.deepEqual((await ends(await client.run(thread, "run-1", { text: "hello" }))).outcome, { type: "success" });
  const { interruptId } = await asked(client, thread, "run-2");
  await allow(client, thread, "run-3", interruptId);
  const { executionId } = await asked(client, thread, "run-4");
  const path = `/extensions/iac-code/v1/executions/${executionId}/cancel`;
  const cancelled = await client.post(path, { threadId: thread, rosInvocationId: "invocation-1" }, thread);
  assert.deepEqual(await cancelled.json(), { executionId, status: "cancelled" });
  assert.deepEqual((await ends(await client.run(thread, "run-5", { text: "again" }))).outcome, { type: "success" });
}

async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let item = rest.pop(); item !== undefined; item = rest.pop()) await work(item);
  }));
}

/** The threads whose files lie in an instance's state. */
async function threadsOf({ state }: Instance): Promise<string[]> {
  return (await namesIn(`${state}/threads`)).map((name) => name.replace(/\.json$/, ""));
}

Deno.test(`${THREADS} threads with turns, interrupts and cancels stay each on one of three instances, also over its restart`, async () => {
  await withInstances(async (instances, client, root) => {
    const threads = Array.from({ length: THREADS }, (_, at) => `thread-${at}-${crypto.randomUUID()}`);
    await inTurn(threads, (thread) => converse(client, thread));
    const spread = await Promise.all(instances.map(threadsOf));
    assert.deepEqual(spread.flat().sort(), [...threads].sort(), "every thread has one file, on one instance");
    for (const { length } of spread) assert.ok(length > THREADS / 6, `shares of ${spread.map((all) => all.length)}`);

    // One instance restarts while its threads wait for answers, and more is said to it meanwhile.
    const [instance] = instances;
    assert.ok(instance);
    const own = (spread[0] ?? []).slice(0, 20);
    const waiting = new Map<string, string>();
    await inTurn(own, async (thread) => void waiting.set(thread, (await asked(client, thread, "run-6")).interruptId));
    instance.program.signal("SIGTERM");
    assert.equal(await instance.program.ended, 0);
    const answered = inTurn(own, (thread) => allow(client, thread, "run-7", waiting.get(thread) ?? ""));
    instance.program = startInstance(instance, root);
    await answered;
    assert.deepEqual(await Promise.all(instances.map(threadsOf)), spread, "nobody has moved");
  });
});

Deno.test("a stream passes unbuffered, and who leaves is cancelled", async () => {
  await withInstances(async (instances, client) => {
    const run = await client.run("thread-1", "run-1", { text: "slow, please" });
    await run.until("TEXT_MESSAGE_CONTENT");
    // 75 words, 4 ms apart.
    assert.ok(run.events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").length < 50, "it came in one piece");
    await run.leave();
    await Promise.any(instances.map(({ program }) => program.told(/end=CANCELLED by=gone/)));
  });
});

Deno.test("a request without the header, or with another thread's, is refused", async () => {
  await withInstances(async (_, client, root) => {
    const body = runInput(root, "thread-1", "run-1");
    const without = await client.post("/", body);
    assert.equal(without.status, 400);
    assert.deepEqual(await without.json(), {
      error: { code: "INVALID_INPUT", message: "The header X-Thread-Id is required here." },
    });
    const cancel = "/extensions/iac-code/v1/executions/execution-1/cancel";
    for (const path of ["/", cancel]) {
      const input = path === "/" ? body : { threadId: "thread-1", rosInvocationId: "invocation-1" };
      const other = await client.post(path, input, "thread-2");
      assert.equal(other.status, 400);
      assert.deepEqual(await other.json(), {
        error: { code: "INVALID_INPUT", message: "threadId does not match the header X-Thread-Id." },
      });
    }
  });
});
