import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../src/json.ts";
import { MAX_TASKS } from "../../demo/tasks.ts";
import {
  collect,
  decisionParams,
  labelOf,
  labels,
  messageParams,
  questionIn,
  statusText,
  taskIdOf,
  textIn,
  type WireClient,
  withKernel,
} from "./wire_client.ts";

function kernelTest(title: string, test: (client: WireClient) => Promise<void>, pace = 0): void {
  Deno.test(title, () => withKernel(test, { pace }));
}

/** Reads a stream until a frame of a kind, and leaves it open. */
async function readUntil(stream: AsyncGenerator<JsonObject, void, void>, label: string): Promise<JsonObject[]> {
  const seen: JsonObject[] = [];
  while (true) {
    const { value, done } = await stream.next();
    if (done || !value) assert.fail(`the stream ended without ${label}: ${labels(seen).join(", ")}`);
    seen.push(value);
    if (labelOf(value) === label) return seen;
  }
}

function errorOf(answer: JsonObject): unknown {
  return isObject(answer.error) ? answer.error.code : undefined;
}

kernelTest("requests without the token, or with another, are refused", async ({ kernel }) => {
  for (const authorization of [undefined, "Bearer", "Bearer other", `Basic ${kernel.token}`, kernel.token]) {
    for (const path of ["/", "/health", "/iac-code/pipeline/state"]) {
      const method = path === "/" ? "POST" : "GET";
      const headers = authorization === undefined ? undefined : { authorization };
      const response = await fetch(`${kernel.url}${path}`, { method, ...(headers && { headers }) });
      assert.equal(response.status, 401, `${authorization} ${path}`);
      assert.deepEqual(await response.json(), { error: "Unauthorized" });
    }
  }
});

Deno.test("the caller may choose the token; else it is a new one each time", async () => {
  const tokens: string[] = [];
  const note = ({ kernel }: WireClient): Promise<void> => Promise.resolve(void tokens.push(kernel.token));
  await withKernel(note, { token: "chosen" });
  await withKernel(note, {});
  await withKernel(note, {});
  assert.equal(tokens[0], "chosen");
  assert.equal(new Set(tokens).size, 3);
});

kernelTest("health answers, and says that this is a demo", async ({ fetch }) => {
  assert.deepEqual(await (await fetch("/health")).json(), { status: "ok", demo: true });
});

kernelTest("other paths and methods are not found", async ({ fetch }) => {
  for (const [method, path] of [["GET", "/"], ["POST", "/health"], ["GET", "/nowhere"]]) {
    const response = await fetch(path ?? "", { method: method ?? "" });
    await response.body?.cancel();
    assert.equal(response.status, 404, `${method} ${path}`);
  }
});

kernelTest("what is no JSON-RPC gets a JSON-RPC error, as HTTP 200", async ({ fetch }) => {
  const cases: [string, number][] = [
    ["{", -32700],
    ["[]", -32600],
    ['{"jsonrpc":"1.0","method":"GetTask"}', -32600],
    ['{"jsonrpc":"2.0","method":"toString"}', -32601],
    ['{"jsonrpc":"2.0","method":"SendStreamingMessage","params":{}}', -32602],
    ['{"jsonrpc":"2.0","method":"GetTask","params":{"id":"x"}}', -32001],
    ['{"jsonrpc":"2.0","method":"GetTask"}', -32001],
  ];
  for (const [body, code] of cases) {
    const response = await fetch("/", { method: "POST", body });
    assert.equal(response.status, 200);
    assert.equal(errorOf(await response.json()), code, body);
  }
});

kernelTest("a context keeps its session over turns, and another context has another", async ({ say }) => {
  const [first, second, other] = [await say("a"), await say("b"), await say("c", { contextId: "other" })];
  assert.equal(sessionIn(first), sessionIn(second));
  assert.notEqual(sessionIn(first), sessionIn(other));
  assert.notEqual(taskIdOf(first), taskIdOf(second));
});

function sessionIn(frames: readonly JsonObject[]): string {
  const found = JSON.stringify(frames).match(/"iacCodeSessionId":"([^"]+)"/g) ?? [];
  const [id, ...more] = [...new Set(found)];
  assert.ok(id !== undefined && more.length === 0);
  return id.slice('"iacCodeSessionId":"'.length, -1);
}

kernelTest("ensure-restored knows the sessions of this kernel and no other", async ({ say, fetch }) => {
  const frames = await say("hello");
  const ask = async (body: JsonObject): Promise<[number, unknown]> => {
    const response = await fetch("/iac-code/session/ensure-restored", { method: "POST", body: JSON.stringify(body) });
    return [response.status, await response.json()];
  };
  const about = { cwd: "/workspace", taskId: taskIdOf(frames) };
  assert.deepEqual(await ask({ ...about, sessionId: sessionIn(frames) }), [200, { status: "current" }]);
  assert.deepEqual(await ask({ ...about, sessionId: "unknown" }), [404, { status: "not_found" }]);
  assert.equal((await ask(about))[0], 400);
});

kernelTest("no key of a request comes back", async ({ say }) => {
  const [first] = await say("hello");
  const sent = JSON.stringify(first);
  assert.ok(sent.includes('"run_mode":"normal"'));
  assert.ok(!sent.includes("sk-secret"));
});

kernelTest("GetTask shows the end state and the newest messages of the history", async ({ say, call }) => {
  const frames = await say("good morning");
  const history = async (historyLength?: number): Promise<string[]> => {
    const params = { id: taskIdOf(frames), ...(historyLength !== undefined && { historyLength }) };
    const { result } = await call("GetTask", params);
    assert.ok(isObject(result) && isObject(result.status));
    assert.equal(result.status.state, "TASK_STATE_INPUT_REQUIRED");
    return (Array.isArray(result.history) ? result.history : []).map((message) => {
      const [part] = isObject(message) && Array.isArray(message.parts) ? message.parts : [];
      return isObject(part) ? String(part.text) : "";
    });
  };
  const all = await history();
  assert.equal(all.slice(0, -1).join(""), textIn(frames));
  assert.equal(all.at(-1), textIn(frames));
  assert.deepEqual(await history(2), all.slice(-2));
  assert.deepEqual(await history(0), []);
});

kernelTest("GetTask shows what a waiting task asks", async ({ say, call }) => {
  const asked = await say("permission");
  const { result } = await call("GetTask", { id: taskIdOf(asked), historyLength: 100 });
  assert.ok(isObject(result) && isObject(result.metadata) && isObject(result.metadata["iac_code"]));
  assert.deepEqual(result.metadata["iac_code"].input, questionIn(asked));
});

kernelTest(
  "a decision for another call, another task, or of another kind is refused, and the question stays",
  async (client) => {
    const input = questionIn(await client.say("permission"));
    for (const wrong of [{ toolUseId: "call_other" }, { inputId: "permission-other" }]) {
      const answer = await client.call("SendStreamingMessage", decisionParams({ ...input, ...wrong }, "allow_once"));
      assert.equal(errorOf(answer), -32602);
    }
    assert.equal(errorOf(await client.call("SendStreamingMessage", decisionParams(input, "always"))), -32602);
    const lost = decisionParams({ ...input, requestTaskId: "other" }, "allow_once");
    assert.equal(errorOf(await client.call("SendStreamingMessage", lost)), -32001);
    assert.equal(labels(await client.decide(input, "allow_once")).at(-1), "INPUT_REQUIRED");
  },
);

kernelTest("a permission answered twice at once is granted once", async (client) => {
  const input = questionIn(await client.say("permission"));
  const answers = await Promise.all([
    client.call("SendMessage", decisionParams(input, "allow_once")),
    client.call("SendMessage", decisionParams(input, "allow_once")),
  ]);
  assert.deepEqual(answers.map(errorOf).filter((code) => code !== undefined), [-32602]);
});

kernelTest("CancelTask answers at once, and the stream ends in CANCELED", async ({ stream, call }) => {
  const running = stream("SendStreamingMessage", messageParams("slow"));
  const seen = await readUntil(running, "text");
  const { result } = await call("CancelTask", { id: taskIdOf(seen) });
  assert.ok(isObject(result) && isObject(result.status));
  assert.equal(result.status.state, "TASK_STATE_CANCELED");
  const last = (await collect(running)).at(-1) ?? {};
  assert.equal(labelOf(last), "CANCELED");
  assert.equal(statusText(last), "Task canceled.");
}, 1);

kernelTest("a task that waits can be canceled, and its question is gone", async (client) => {
  const asked = await client.say("permission");
  const { result } = await client.call("CancelTask", { id: taskIdOf(asked) });
  assert.ok(isObject(result) && isObject(result.status));
  assert.equal(result.status.state, "TASK_STATE_CANCELED");
  const answer = await client.call("SendStreamingMessage", decisionParams(questionIn(asked), "allow_once"));
  assert.equal(errorOf(answer), -32602);
  assert.equal(errorOf(await client.call("CancelTask", { id: taskIdOf(asked) })), -32002);
});

kernelTest("after a cancel the next message of the context is answered", async ({ say, call }) => {
  await call("CancelTask", { id: taskIdOf(await say("permission")) });
  assert.match(textIn(await say("next")), /next/);
});

kernelTest("a message beside a task that is not done fails: the task is already working", async ({ say }) => {
  await say("permission");
  const refused = await say("next");
  assert.deepEqual(labels(refused), ["task SUBMITTED", "FAILED"]);
  assert.equal(statusText(refused.at(-1) ?? {}), "Task is already working.");
  assert.match(textIn(await say("elsewhere", { contextId: "other" })), /elsewhere/);
});

kernelTest("leaving a stream does not stop the task; a subscriber gets the rest", async ({ stream }) => {
  const left = stream("SendStreamingMessage", messageParams("slow"));
  const seen = await readUntil(left, "text");
  await left.return();
  const again = await collect(stream("SubscribeToTask", { id: taskIdOf(seen) }));
  assert.equal(labelOf(again[0] ?? {}), "task WORKING");
  assert.deepEqual(labels(again).slice(1), ["text", "usage", "final", "INPUT_REQUIRED"]);
  const whole = statusText(again.find((frame) => labelOf(frame) === "final") ?? {});
  assert.equal(`${snapshotText(again[0] ?? {})}${textIn(again)}`, whole);
}, 0.1);

/** The text that a task frame has in its history and its status. */
function snapshotText({ task }: JsonObject): string {
  assert.ok(isObject(task) && isObject(task.status));
  const messages = [...(Array.isArray(task.history) ? task.history : []), task.status.message];
  return messages.map((message) => {
    const [part] = isObject(message) && Array.isArray(message.parts) ? message.parts : [];
    return isObject(part) ? String(part.text) : "";
  }).join("");
}

kernelTest("several subscribers see the same frames", async ({ stream, call }) => {
  const running = stream("SendStreamingMessage", messageParams("slow"));
  const taskId = taskIdOf(await readUntil(running, "text"));
  const subscribers = [1, 2, 3].map(() => stream("SubscribeToTask", { id: taskId }));
  await Promise.all(subscribers.map((subscriber) => readUntil(subscriber, "text")));
  await call("CancelTask", { id: taskId });
  const rests = await Promise.all([running, ...subscribers].map(collect));
  const common = Math.min(...rests.map(({ length }) => length));
  assert.equal(labelOf(rests[0]?.at(-1) ?? {}), "CANCELED");
  for (const rest of rests) assert.deepEqual(rest.slice(-common), rests[0]?.slice(-common));
}, 1);

kernelTest("who subscribes to a waiting task gets its snapshot, to an ended one an error", async (client) => {
  const asked = await client.say("permission");
  const again = await collect(client.stream("SubscribeToTask", { id: taskIdOf(asked) }));
  assert.deepEqual(labels(again), ["task INPUT_REQUIRED"]);
  await client.decide(questionIn(asked), "deny");
  assert.equal(errorOf(await client.call("SubscribeToTask", { id: taskIdOf(asked) })), -32001);
});

kernelTest("`die` cuts the connection in the middle, and the task is lost", async ({ stream, call }) => {
  const dying = stream("SendStreamingMessage", messageParams("die"));
  const seen = await readUntil(dying, "text");
  await assert.rejects(() => collect(dying), TypeError);
  for (const method of ["GetTask", "SubscribeToTask", "CancelTask"]) {
    assert.equal(errorOf(await call(method, { id: taskIdOf(seen) })), -32001, method);
  }
});

kernelTest("the oldest of too many tasks is forgotten", async ({ call }) => {
  const send = async (index: number): Promise<string> => {
    const { result } = await call("SendMessage", messageParams("hi", { contextId: `ctx-${index}` }));
    assert.ok(isObject(result) && isObject(result.task));
    return String(result.task.id);
  };
  const first = await send(0);
  for (let index = 1; index < MAX_TASKS; index++) await send(index);
  assert.equal(errorOf(await call("GetTask", { id: first })), undefined);
  await send(MAX_TASKS);
  assert.equal(errorOf(await call("GetTask", { id: first })), -32001);
});

Deno.test("close stops everything: running and waiting tasks, open streams", async () => {
  const open: AsyncGenerator<JsonObject, void, void>[] = [];
  await withKernel(async ({ say, stream }) => {
    await say("permission", { contextId: "waiting" });
    const running = stream("SendStreamingMessage", messageParams("slow"));
    await readUntil(running, "text");
    open.push(running);
  }, { pace: 1 });
  for (const stream of open) await collect(stream).catch(() => {});
});
