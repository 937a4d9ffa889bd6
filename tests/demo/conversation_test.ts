import assert from "node:assert/strict";
import { holdConversation } from "../../demo/conversation.ts";
import { isObject, type JsonObject, text } from "../../src/json.ts";

/** What a stand-in service answers to one run. */
type Answer = (input: JsonObject, words: string) => JsonObject[];

interface Stage {
  readonly inputs: JsonObject[];
  readonly printed: string;
}

function say(words: string): JsonObject[] {
  const message = { messageId: crypto.randomUUID() };
  return [
    { type: "TEXT_MESSAGE_START", ...message, role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", ...message, delta: words },
    { type: "TEXT_MESSAGE_END", ...message },
  ];
}

function call(name: string, result?: string): JsonObject[] {
  const toolCallId = `call-${name}`;
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName: name },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: "{}" },
    { type: "TOOL_CALL_END", toolCallId },
    ...(result === undefined ? [] : [toolResult(name, result)]),
  ];
}

function toolResult(name: string, content: string): JsonObject {
  return { type: "TOOL_CALL_RESULT", messageId: crypto.randomUUID(), toolCallId: `call-${name}`, content };
}

const SUCCESS: JsonObject = { type: "RUN_FINISHED", outcome: { type: "success" } };
const INTERRUPT: JsonObject = {
  type: "RUN_FINISHED",
  outcome: { type: "interrupt", interrupts: [{ id: "i1", reason: "tool_call" }, { id: "i2", reason: "tool_call" }] },
};

/** A service that behaves. */
const asExpected: Answer = (input, words) => {
  if (input.resume) return [toolResult("write_file", "wrote demo.txt"), ...say("Written."), SUCCESS];
  if (words.includes("tool")) return [...call("list_files", "main.yml"), SUCCESS];
  if (words.includes("permission")) return [...call("write_file"), INTERRUPT];
  return [...say(`This is a demo. You wrote: ${words}`), SUCCESS];
};

/** Holds the conversation with a stand-in service. */
async function converse(answer: Answer, check: (stage: Stage) => void, token?: string): Promise<void> {
  const inputs: JsonObject[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    if (token !== undefined && request.headers.get("authorization") !== `Bearer ${token}`) {
      await request.body?.cancel();
      return new Response("no", { status: 401 });
    }
    const input: JsonObject = await request.json();
    inputs.push(input);
    const messages = Array.isArray(input.messages) ? input.messages.filter(isObject) : [];
    const words = text(messages.findLast(({ role }) => role === "user")?.content) ?? "";
    const { threadId = "", runId = "" } = input;
    const body = [{ type: "RUN_STARTED" }, ...answer(input, words)].map((event: JsonObject) => {
      const isNamed = event.type === "RUN_STARTED" || event.type === "RUN_FINISHED";
      return `data: ${JSON.stringify({ ...event, ...(isNamed && { threadId, runId }) })}\n\n`;
    }).join("");
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  let printed = "";
  try {
    await holdConversation(`http://127.0.0.1:${server.addr.port}/`, {
      cwd: "/workspace",
      write: (piece) => printed += piece,
      colour: false,
      ...(token !== undefined && { token }),
    });
    check({ inputs, printed });
  } finally {
    await server.shutdown();
  }
}

Deno.test("the example talks, uses a tool, allows what it is asked, and talks again", async () => {
  await converse(asExpected, ({ inputs, printed }) => {
    assert.equal(inputs.length, 5);
    for (
      const part of ["Hello, who are you?", "list_files", "interrupt", "You: allow once", "demo.txt", "Thank you!"]
    ) {
      assert.ok(printed.includes(part), part);
    }
    assert.deepEqual(
      inputs[3]?.resume,
      ["i1", "i2"].map((interruptId) => ({
        interruptId,
        status: "resolved",
        payload: { decision: "allow_once" },
      })),
    );
  });
});

Deno.test("the example stays in one thread, and an answer keeps the invocation of its question", async () => {
  await converse(asExpected, ({ inputs }) => {
    assert.equal(new Set(inputs.map(({ threadId }) => threadId)).size, 1);
    assert.equal(new Set(inputs.map(({ runId }) => runId)).size, inputs.length);
    const props = inputs.map(({ forwardedProps }) => isObject(forwardedProps) ? forwardedProps.iacCode : undefined);
    const invocations = props.map((iacCode) => isObject(iacCode) ? iacCode.rosInvocationId : undefined);
    assert.equal(invocations[2], invocations[3]);
    assert.equal(new Set(invocations).size, 4);
    for (const iacCode of props) {
      assert.ok(isObject(iacCode));
      const { schemaVersion, cwd, runMode } = iacCode;
      assert.deepEqual({ schemaVersion, cwd, runMode }, { schemaVersion: 1, cwd: "/workspace", runMode: "normal" });
    }
  });
});

Deno.test("the example brings its token", async () => {
  await converse(asExpected, ({ inputs }) => assert.equal(inputs.length, 5), "secret");
});

const FAULTS: Readonly<Record<string, [answer: Answer, message: RegExp]>> = {
  "a run that fails": [() => [{ type: "RUN_ERROR", message: "It broke.", code: "A2A_UNAVAILABLE" }], /It broke/],
  "a run without an end": [() => say("demo"), /./],
  "an answer that is not the demo's": [() => [...say("Hi."), SUCCESS], /Expected an answer with “demo”/],
  "a tool without a result": [
    (input, words) => words.includes("tool") ? [...call("list_files"), SUCCESS] : asExpected(input, words),
    /Expected a tool result with “main.yml”/,
  ],
  "a permission that is not asked": [
    (input, words) => words.includes("permission") ? [...say("Done."), SUCCESS] : asExpected(input, words),
    /Expected a run that asks for a permission, got outcome success/,
  ],
  "an interrupt where none should be": [
    () => [...call("write_file"), INTERRUPT],
    /Expected a run that succeeds, got outcome interrupt/,
  ],
};

for (const [fault, [answer, message]] of Object.entries(FAULTS)) {
  Deno.test(`the example fails on ${fault}`, async () => {
    await assert.rejects(converse(answer, () => {}), message);
  });
}
