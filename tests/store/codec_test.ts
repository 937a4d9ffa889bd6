import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject } from "../../src/json.ts";
import { decodeThread, encodeThread } from "../../src/store/codec.ts";
import { CorruptThread } from "../../src/store/corrupt_thread.ts";
import type { Thread } from "../../src/thread/thread.ts";
import { contextIdOf } from "../../src/thread/thread.ts";
import { EXECUTION, pendingOf, permission, question, TASK, threadOf } from "../support/threads.ts";

const HEX = "9c5e1b4d3b1a1f0f0d5b6b2d6ac9a2c5d8e1c6a7f3e4d5c6b7a8990011223344";

/** A file as the Python adapter 0.16 leaves it at a permission. */
function peerFile(): JsonObject & { execution: JsonObject } {
  return {
    schemaVersion: 1,
    threadId: "thread-1",
    contextId: contextIdOf("thread-1"),
    cwd: "/work",
    userId: null,
    iacCodeSessionId: "session-1",
    execution: {
      executionId: EXECUTION,
      rosInvocationId: "invocation-1",
      taskId: TASK,
      pipelineSequence: 0,
      pipelineOpenSteps: [],
      textSnapshotDigests: [HEX],
      pending: { "permission-1": { value: permission("permission-1"), sideband: false } },
    },
    runDigests: { "run-1": "1".repeat(64) },
    appliedResumeDigests: [],
    terminalExecutionIds: [],
  };
}

function decode(file: unknown, fallbackExpiry: number | null = null): Thread {
  return decodeThread(JSON.stringify(file), "thread-1", fallbackExpiry);
}

/** A thread with everything in an order that can be compared: a Map's equality does not look at its order. */
function ordered({ runs, execution, ...thread }: Thread): unknown {
  return { ...thread, runs: [...runs], execution: { ...execution, pending: [...execution.pending] } };
}

Deno.test("a file that the Python adapter wrote at an interrupt is read, with a full term for its question", () => {
  const expected = threadOf({
    execution: { textDigests: [HEX], pending: pendingOf([permission("permission-1")], { expiresAt: 5000 }) },
  });
  assert.deepEqual(ordered(decode(peerFile(), 5000)), ordered(expected));
});

Deno.test("the fields of schema 1 are written under their names, ours beside them", () => {
  const thread = threadOf({
    userId: "u",
    applied: [{ executionId: EXECUTION, interruptId: "p-1", digest: HEX }],
    terminal: ["older"],
    execution: {
      pipelineSequence: 7,
      openSteps: ["step:plan", "candidate:c-1:deploy"],
      textDigests: [HEX],
      shownText: [{ length: 5, digest: HEX }],
      pending: pendingOf([permission("p-2")], { sideband: true, expiresAt: 9000 }),
    },
  });
  assert.deepEqual(JSON.parse(encodeThread(thread)), {
    schemaVersion: 1,
    threadId: "thread-1",
    contextId: contextIdOf("thread-1"),
    cwd: "/work",
    userId: "u",
    iacCodeSessionId: "session-1",
    execution: {
      executionId: EXECUTION,
      rosInvocationId: "invocation-1",
      taskId: TASK,
      pipelineSequence: 7,
      pipelineOpenSteps: ["step:plan", "candidate:c-1:deploy"],
      textSnapshotDigests: [HEX],
      shownText: [{ length: 5, digest: HEX }],
      pending: { "p-2": { value: permission("p-2"), sideband: true, expiresAt: 9000 } },
    },
    runDigests: { "run-1": "1".repeat(64) },
    appliedResumeDigests: [{ executionId: EXECUTION, interruptId: "p-1", digest: HEX }],
    terminalExecutionIds: ["older"],
  });
});

Deno.test("of a question only the announced fields are kept: tool arguments and texts are not", () => {
  const value = question("q", {
    toolInput: { secret: "x" },
    rawArguments: "x",
    metadata: {},
    displayParameters: { a: 1 },
  });
  const text = encodeThread(threadOf({ execution: { pending: pendingOf([value]) } }));
  const { toolInput: _input, rawArguments: _raw, metadata: _meta, ...kept } = value;
  assert.deepEqual(JSON.parse(text).execution.pending.q.value, kept);
});

Deno.test("whatever a thread holds comes back as it was, in its order", () => {
  const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { noNullPrototype: true });
  const id = fc.oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
    fc.constantFrom("__proto__", "constructor", "0", "1", "10", "4294967295", "01", "-1"),
  );
  const hex = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 64, maxLength: 64 });
  const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
  const pending = fc.uniqueArray(
    record({ id, sideband: fc.boolean(), expiresAt: nullable(fc.nat()), prompt: fc.string(), askedBy: fc.option(id) }),
    { selector: (entry) => entry.id, maxLength: 4 },
  );
  const arbitrary: fc.Arbitrary<Thread> = record({
    threadId: fc.constant("thread-1"),
    contextId: fc.constant(contextIdOf("thread-1")),
    cwd: id,
    userId: nullable(fc.string()),
    sessionId: nullable(id),
    runs: fc.uniqueArray(fc.tuple(id, hex), { selector: ([key]) => key }).map((entries) => new Map(entries)),
    applied: fc.array(record({ executionId: id, interruptId: id, digest: hex })),
    terminal: fc.array(id),
    execution: record({
      executionId: id,
      rosInvocationId: id,
      taskId: nullable(id),
      pipelineSequence: fc.nat(),
      openSteps: fc.array(id),
      textDigests: fc.array(hex),
      shownText: fc.array(record({ length: fc.nat(), digest: hex })),
      pending: pending.map((entries) =>
        new Map(entries.map(({ id, prompt, askedBy, ...rest }) => {
          const by = askedBy === null ? {} : { askedBy };
          return [id, { ...rest, ...by, value: permission(id, { prompt }) }];
        }))
      ),
    }),
  });
  fc.assert(fc.property(arbitrary, (thread) => {
    assert.deepEqual(ordered(decodeThread(encodeThread(thread), "thread-1", 5)), ordered(thread));
  }));
});

Deno.test("run ids and questions that look like numbers keep their order through fields of our own", () => {
  const runs = new Map(["run-b", "2", "1", "__proto__", "10"].map((id) => [id, HEX]));
  const pending = pendingOf([permission("2"), permission("a"), permission("1")]);
  const file = JSON.parse(encodeThread(threadOf({ runs, execution: { pending } })));
  assert.deepEqual(file.runOrder, ["run-b", "2", "1", "__proto__", "10"]);
  assert.deepEqual(file.execution.pendingOrder, ["2", "a", "1"]);
  const plain = JSON.parse(encodeThread(threadOf({ execution: { pending: pendingOf([permission("a")]) } })));
  assert.equal("runOrder" in plain || "pendingOrder" in plain.execution, false);
});

Deno.test("where the Python adapter added or dropped run ids, our order is kept for the rest", () => {
  const runDigests = { "3": HEX, "1": HEX, "2": HEX, new: HEX };
  const runOrder = ["2", "gone", "1", "2", "toString"];
  const { runs } = decode({ ...peerFile(), runDigests, runOrder });
  assert.deepEqual([...runs.keys()], ["2", "1", "3", "new"]);
});

Deno.test("of lists that are longer than ours, only the newest entries are known, and those of the current execution", () => {
  const names = Array.from({ length: 5000 }, (_, at) => `old-${at}`);
  const applied = names.map((name) => ({ executionId: name, interruptId: name, digest: HEX }));
  const current = { executionId: EXECUTION, interruptId: "p-1", digest: HEX };
  const thread = decode({
    ...peerFile(),
    runDigests: Object.fromEntries(names.map((name) => [name, HEX])),
    appliedResumeDigests: [current, ...applied],
    terminalExecutionIds: [EXECUTION, ...names],
  });
  assert.deepEqual([...thread.runs.keys()], names.slice(-4096));
  assert.deepEqual(thread.applied, [...applied.slice(-1023), current]);
  assert.deepEqual(thread.terminal, [...names.slice(-1023), EXECUTION]);
});

Deno.test("an interrupt with an expiry of its own keeps it, also when that is never", () => {
  const file = peerFile();
  const entry = { value: permission("p"), sideband: false };
  const expiry = (expiresAt: unknown) =>
    decode({ ...file, execution: { ...file.execution, pending: { p: { ...entry, expiresAt } } } }, 5000)
      .execution.pending.get("p")?.expiresAt;
  assert.deepEqual([expiry(7000), expiry(null), expiry(undefined)], [7000, null, 5000]);
});

Deno.test("a question that does not say so was not asked beside the stream", () => {
  const file = peerFile();
  const { pending } =
    decode({ ...file, execution: { ...file.execution, pending: { p: { value: permission("p") } } } }).execution;
  assert.equal(pending.get("p")?.sideband, false);
});

Deno.test("fields that are not known are passed over, fields of ours may be missing", () => {
  const file = peerFile();
  const { executionId, rosInvocationId, taskId } = file.execution;
  const grown = {
    ...file,
    future: { a: 1 },
    execution: { executionId, rosInvocationId, taskId, future: [] },
    appliedResumeDigests: [{ executionId: "e", interruptId: "i", digest: HEX, future: 1 }],
  };
  const thread = decode(grown);
  assert.deepEqual(
    ordered(thread),
    ordered(threadOf({ applied: [{ executionId: "e", interruptId: "i", digest: HEX }] })),
  );
});

Deno.test("a file of another schema, of another thread, or with a field that is wrong is damaged", () => {
  const file = peerFile();
  const { execution } = file;
  const within = (change: JsonObject) => ({ ...file, execution: { ...execution, ...change } });
  const entry = { value: permission("p"), sideband: false };
  const waiting = (pending: unknown) => within({ pending } as JsonObject);
  const table: [name: string, file: unknown, code: string | RegExp][] = [
    ["a list", [], "field "],
    ["null", null, "field "],
    ["schema 2", { ...file, schemaVersion: 2 }, "field schemaVersion"],
    ["schema as text", { ...file, schemaVersion: "1" }, "field schemaVersion"],
    ["no schema", { ...file, schemaVersion: undefined }, "field schemaVersion"],
    ["another thread", { ...file, threadId: "Thread-1" }, "the file of another thread"],
    ["another thread's context", { ...file, contextId: contextIdOf("Thread-1") }, "the file of another thread"],
    ["no thread", { ...file, threadId: undefined }, "field threadId"],
    ["no context", { ...file, contextId: "" }, "field contextId"],
    ["no workspace", { ...file, cwd: null }, "field cwd"],
    ["a user that is no text", { ...file, userId: 5 }, "field userId"],
    ["no execution", { ...file, execution: null }, "field execution"],
    ["no execution id", within({ executionId: "" }), "field execution.executionId"],
    ["a task that is no text", within({ taskId: 5 }), "field execution.taskId"],
    ["half a sequence", within({ pipelineSequence: 1.5 }), "field execution.pipelineSequence"],
    ["a sequence below 0", within({ pipelineSequence: -1 }), "field execution.pipelineSequence"],
    ["a step that is no text", within({ pipelineOpenSteps: [1] }), "field execution.pipelineOpenSteps.0"],
    ["a digest that is none", within({ textSnapshotDigests: ["x"] }), "field execution.textSnapshotDigests.0"],
    ["run ids as a list", { ...file, runDigests: [] }, "field runDigests"],
    ["a run digest that is none", { ...file, runDigests: { a: 5 } }, "field runDigests"],
    ["an empty run digest", { ...file, runDigests: { a: "" } }, "field runDigests"],
    ["an order that is none", { ...file, runOrder: [1] }, "field runOrder.0"],
    ["answers as an object", { ...file, appliedResumeDigests: {} }, "field appliedResumeDigests"],
    [
      "an answer without a digest",
      { ...file, appliedResumeDigests: [{ executionId: "e", interruptId: "i" }] },
      /^field app/,
    ],
    ["ended executions as text", { ...file, terminalExecutionIds: "x" }, "field terminalExecutionIds"],
    ["questions as a list", waiting([]), "field execution.pending"],
    ["a question that is none", waiting({ p: 5 }), "field execution.pending"],
    ["a question without a value", waiting({ p: { sideband: false } }), "field execution.pending"],
    ["a question under another id", waiting({ other: entry }), "field execution.pending"],
    ["a question past all time", waiting({ p: { ...entry, expiresAt: 1e300 } }), "field execution.pending"],
    ["a question before all time", waiting({ p: { ...entry, expiresAt: -1 } }), "field execution.pending"],
  ];
  for (const [name, damaged, code] of table) {
    assert.throws(() => decode(damaged), (error) => {
      assert.ok(error instanceof CorruptThread, name);
      if (typeof code === "string") assert.equal(error.code, code, name);
      else assert.match(error.code, code, name);
      return true;
    });
  }
});

Deno.test("text that is no JSON is damaged, and never quoted", () => {
  const whole = JSON.stringify(peerFile());
  for (
    const text of ["", "\0".repeat(100), whole.slice(0, whole.length / 2), `${whole}garbage`, `${whole}${whole}`, "x"]
  ) {
    assert.throws(() => decodeThread(text, "thread-1", null), { name: "CorruptThread", message: "not JSON" });
  }
});

Deno.test("any JSON is a thread or damaged", () => {
  const paths = ["threadId", "execution", "runDigests", "appliedResumeDigests", "terminalExecutionIds", "runOrder"];
  fc.assert(fc.property(fc.constantFrom(...paths), fc.jsonValue({ maxDepth: 3 }), (name, value) => {
    try {
      encodeThread(decode({ ...peerFile(), [name]: value }));
    } catch (error) {
      assert.ok(error instanceof CorruptThread, String(error));
    }
  }));
});
