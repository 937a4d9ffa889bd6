import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject } from "../../src/json.ts";
import { sentence } from "../../src/language/messages.ts";
import { ID_CHARS, INVOCATION_CHARS } from "../../src/limits.ts";
import { validateCancel, validateRun } from "../../src/request/schema.ts";
import { body, IAC, iacProblem, parsed, problem, runProblem } from "../support/run_bodies.ts";

Deno.test("the reference's minimal run is taken, with only what it says", () => {
  assert.deepEqual(validateRun(body()), {
    request: {
      threadId: "thread-1",
      runId: "run-1",
      iacCode: { rosInvocationId: "invocation-1", cwd: "/work", cleanupOnly: false, activeGuidance: false },
      message: { id: "message-1", parts: [{ kind: "text", text: "Create a VPC" }] },
    },
  });
});

Deno.test("state may be anything, but must be there", () => {
  for (const state of [null, 0, "", false, [], { a: { b: 1 } }]) assert.equal(runProblem({ state }), undefined);
  assert.equal(runProblem({ state: undefined }), "fieldRequired state");
});

Deno.test("a missing or mistyped field of the envelope is named", () => {
  for (const wrong of [null, [], "x", 5, true]) {
    assert.equal(problem(validateRun(wrong)), "fieldType $");
  }
  for (const name of ["threadId", "runId", "state", "messages", "tools", "context", "forwardedProps"]) {
    assert.equal(runProblem({ [name]: undefined }), `fieldRequired ${name}`);
  }
  for (const name of ["threadId", "runId", "parentRunId"]) {
    assert.equal(runProblem({ [name]: 7 }), `fieldType ${name}`);
    assert.equal(runProblem({ [name]: "" }), `fieldEmpty ${name}`);
  }
  for (const name of ["messages", "tools", "context", "resume"]) {
    assert.equal(runProblem({ [name]: {} }), `fieldType ${name}`);
  }
  for (const name of ["messages", "tools", "context", "forwardedProps"]) {
    assert.equal(runProblem({ [name]: null }), `fieldType ${name}`);
  }
  assert.equal(runProblem({ tools: [{ name: "x" }] }), "toolsNotSupported tools");
  assert.equal(runProblem({ forwardedProps: {} }), "fieldRequired forwardedProps.iacCode");
});

Deno.test("ids have 1 to 1,024 characters, an invocation 256, without half surrogate pairs", () => {
  const [id, invocation] = ["x".repeat(ID_CHARS), "x".repeat(INVOCATION_CHARS)];
  for (const name of ["threadId", "runId", "parentRunId"]) {
    assert.equal(runProblem({ [name]: id }), undefined);
    assert.equal(runProblem({ [name]: `${id}x` }), `fieldTooLong ${name}`);
    assert.equal(runProblem({ [name]: "a\ud800" }), `fieldText ${name}`);
    assert.equal(runProblem({ [name]: "😀".repeat(ID_CHARS) }), undefined, "an emoji is one character");
    assert.equal(runProblem({ [name]: "😀".repeat(ID_CHARS + 1) }), `fieldTooLong ${name}`);
  }
  assert.equal(iacProblem({ rosInvocationId: invocation }), undefined);
  assert.equal(
    iacProblem({ rosInvocationId: `${invocation}x` }),
    "fieldTooLong forwardedProps.iacCode.rosInvocationId",
  );
  assert.equal(iacProblem({ rosInvocationId: "" }), "fieldEmpty forwardedProps.iacCode.rosInvocationId");
  const message = (id: unknown) => runProblem({ messages: [{ id, role: "user", content: "x" }] });
  assert.equal(message(id), undefined);
  assert.equal(message(`${id}x`), "fieldTooLong messages[0].id");
  assert.equal(message(""), "fieldEmpty messages[0].id");
  assert.equal(message("\udc00"), "fieldText messages[0].id");
});

Deno.test("names that objects are born with are harmless as ids", () => {
  for (const name of ["__proto__", "constructor", "toString", "0", "..", "con.txt"]) {
    const resume = [{ interruptId: name, status: "cancelled" }];
    const valid = validateRun(body({ threadId: name, runId: name, resume }, { rosInvocationId: name }));
    assert.ok("request" in valid);
    assert.deepEqual([valid.request.threadId, valid.request.resume?.[0]?.interruptId], [name, name]);
  }
});

Deno.test("unknown fields of the standard envelope are taken: AG-UI grows", () => {
  const grown = parsed(`${JSON.stringify(body()).slice(0, -1)},"future":{"x":1},"__proto__":{"y":2}}`);
  assert.deepEqual(validateRun(grown), validateRun(body()));
  const resume = [{ interruptId: "i", status: "resolved", payload: 1, future: true }];
  assert.equal(runProblem({ resume }), undefined);
  assert.equal(runProblem({ messages: [{ id: "m", role: "user", content: "x", future: 1 }] }), undefined);
});

Deno.test("a resume needs no message, and messages beside it are ignored", () => {
  const resume = [{ interruptId: "i", status: "resolved", payload: { decision: "deny" } }];
  for (const messages of [[], [{ id: 5 }], [null], [{ id: "m", role: "user", content: [{ type: "audio" }] }]]) {
    const valid = validateRun(body({ resume, messages }));
    assert.ok("request" in valid);
    assert.equal(valid.request.message, undefined);
    assert.deepEqual(valid.request.resume, resume);
  }
  assert.equal(runProblem({ resume, messages: undefined }), "fieldRequired messages");
});

Deno.test("an empty resume is none", () => {
  assert.deepEqual(validateRun(body({ resume: [] })), validateRun(body()));
  assert.equal(runProblem({ resume: [], messages: [] }), "userMessageMissing messages");
});

Deno.test("an entry of a resume has an id and a status", () => {
  const entry = { interruptId: "i", status: "cancelled" };
  const table: [entry: unknown, expected: string | undefined][] = [
    [entry, undefined],
    [{ ...entry, payload: null }, undefined],
    [null, "fieldType resume[1]"],
    [{ ...entry, interruptId: undefined }, "fieldRequired resume[1].interruptId"],
    [{ ...entry, interruptId: "" }, "fieldEmpty resume[1].interruptId"],
    [{ ...entry, interruptId: "\ud800" }, "fieldText resume[1].interruptId"],
    [{ ...entry, interruptId: "x".repeat(ID_CHARS + 1) }, "fieldTooLong resume[1].interruptId"],
    [{ ...entry, status: undefined }, "fieldRequired resume[1].status"],
    [{ ...entry, status: "done" }, "fieldAllowed resume[1].status"],
  ];
  for (const [second, expected] of table) assert.equal(runProblem({ resume: [entry, second] }), expected);
});

Deno.test("every message of a new run has an id and a role", () => {
  const user = { id: "m", role: "user", content: "x" };
  const table: [other: unknown, expected: string | undefined][] = [
    [{ id: "a", role: "assistant" }, undefined],
    [{ id: "a", role: "future", anything: [] }, undefined],
    [null, "fieldType messages[0]"],
    [{ role: "assistant" }, "fieldRequired messages[0].id"],
    [{ id: 1, role: "assistant" }, "fieldType messages[0].id"],
    [{ id: "a" }, "fieldRequired messages[0].role"],
  ];
  for (const [other, expected] of table) assert.equal(runProblem({ messages: [other, user] }), expected);
});

Deno.test("the envelope is checked before iacCode, and iacCode before the message", () => {
  const noMessage = { messages: [] };
  assert.equal(runProblem({ ...noMessage, threadId: "" }, { extra: 1, cwd: 5 }), "fieldEmpty threadId");
  assert.equal(runProblem(noMessage, { cwd: 5 }), "fieldType forwardedProps.iacCode.cwd");
  assert.equal(runProblem(noMessage, { extra: 1 }), "fieldUnknown forwardedProps.iacCode.extra");
  assert.equal(runProblem(noMessage), "userMessageMissing messages");
});

Deno.test("a cancel names thread and invocation, and may grow", () => {
  const whole = { threadId: "thread-1", rosInvocationId: "invocation-1" };
  assert.deepEqual(validateCancel({ ...whole, future: 1 }), { request: whole });
  const table: [body: unknown, expected: string][] = [
    [null, "fieldType $"],
    [[], "fieldType $"],
    [{}, "fieldRequired threadId"],
    [{ ...whole, threadId: 7 }, "fieldType threadId"],
    [{ ...whole, threadId: "" }, "fieldEmpty threadId"],
    [{ ...whole, threadId: "x".repeat(ID_CHARS + 1) }, "fieldTooLong threadId"],
    [{ ...whole, threadId: "\ud800" }, "fieldText threadId"],
    [{ threadId: "t" }, "fieldRequired rosInvocationId"],
    [{ ...whole, rosInvocationId: "x".repeat(INVOCATION_CHARS + 1) }, "fieldTooLong rosInvocationId"],
  ];
  for (const [wrong, expected] of table) assert.equal(problem(validateCancel(wrong as JsonObject)), expected);
});

Deno.test("a refusal never repeats a value, and shortens a name that the client chose", () => {
  const mark = "value-that-is-secret";
  const changes: [Record<string, unknown>, Record<string, unknown>][] = [
    [{ threadId: { mark } }, {}],
    [{ tools: [mark] }, {}],
    [{}, { schemaVersion: mark }],
    [{}, { runMode: mark }],
    [{}, { model: [mark] }],
    [{}, { llmHeaders: { a: `${mark}\n` } }],
    [{}, { rosInvocationId: mark.repeat(20) }],
    [{ messages: [{ id: "m", role: "user", content: [{ type: mark, value: mark }] }] }, {}],
    [{ messages: [{ id: "m", role: "user", content: [{ type: "image", source: { type: "url", value: mark } }] }] }, {}],
  ];
  for (const [change, iac] of changes) {
    const validated = validateRun(body(change, iac));
    assert.ok("refusal" in validated);
    assert.ok(!JSON.stringify(validated.refusal).includes(mark));
  }
  const key = `\u001b[31m${"k".repeat(100_000)}`;
  for (const iac of [{ [key]: 1 }, { llmHeaders: { [key]: 1 } }]) {
    const validated = validateRun(body({}, iac));
    assert.ok("refusal" in validated && validated.refusal.message);
    const text = sentence("en", validated.refusal.message, validated.refusal.params);
    assert.ok(text.length < 250 && !text.includes("\u001b"), text.slice(0, 250));
  }
});

Deno.test("any JSON is taken or refused with a field's name, never thrown over", () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
    assert.ok(problem(validateRun(value as JsonObject)));
    problem(validateCancel(value as JsonObject));
  }));
  const name = fc.constantFrom(
    "threadId",
    "runId",
    "state",
    "messages",
    "tools",
    "context",
    "forwardedProps",
    "resume",
  );
  fc.assert(fc.property(name, fc.jsonValue({ maxDepth: 3 }), (field, value) => {
    problem(validateRun(body({ [field]: value })));
  }));
  const inner = fc.constantFrom(
    ...Object.keys(IAC),
    "thinking",
    "llmHeaders",
    "alibabaCloud",
    "runMode",
    "cleanupOnly",
  );
  fc.assert(fc.property(inner, fc.jsonValue({ maxDepth: 2 }), (field, value) => {
    problem(validateRun(body({}, { [field]: value })));
  }));
});
