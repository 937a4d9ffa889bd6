import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject } from "../../src/json.ts";
import { sentence } from "../../src/language/messages.ts";
import { ID_CHARS, INVOCATION_CHARS, TEXT_FIELD_CHARS } from "../../src/limits.ts";
import { validateCancel, type Validated, validateRun } from "../../src/request/schema.ts";

const IAC: JsonObject = { schemaVersion: 1, rosInvocationId: "invocation-1", cwd: "/work" };

/** A new run's body, with members replaced; `undefined` takes one away. */
function body(change: Record<string, unknown> = {}, iac: Record<string, unknown> = {}): JsonObject {
  const whole = {
    threadId: "thread-1",
    runId: "run-1",
    state: {},
    messages: [{ id: "message-1", role: "user", content: "Create a VPC" }],
    tools: [],
    context: [],
    forwardedProps: { iacCode: { ...IAC, ...iac } },
    ...change,
  };
  return parsed(JSON.stringify(whole));
}

function parsed(text: string): JsonObject {
  return JSON.parse(text);
}

/** The sentence of a refusal with the field it names; undefined when the body is taken. */
function problem(validated: Validated<unknown>): string | undefined {
  if (!("refusal" in validated)) return undefined;
  const { code, message, params, details } = validated.refusal;
  assert.equal(code, "INVALID_INPUT");
  assert.equal(details, undefined);
  assert.ok(message);
  return `${message} ${params?.field}`;
}

const runProblem = (change: Record<string, unknown>, iac?: Record<string, unknown>) =>
  problem(validateRun(body(change, iac)));
const iacProblem = (iac: Record<string, unknown>) => runProblem({}, iac);

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

Deno.test("every field of iacCode comes through as it was given", () => {
  const all = {
    rosInvocationId: "invocation-1",
    cwd: "/work",
    model: "qwen",
    llmApiKey: "key",
    llmHeaders: { "x-route": "a", authorization: "b ü" },
    thinking: { enabled: true, effort: "high", budget: 1000 },
    userId: "u",
    channel: "c",
    preferredLanguage: "zh-CN",
    candidatePresentation: "rich",
    runMode: "pipeline",
    pipelineName: "selling",
    cleanupOnly: true,
    activeGuidance: true,
    alibabaCloud: { accessKeyId: "i", accessKeySecret: "s", securityToken: "t", regionId: "r" },
  };
  const valid = validateRun(body({ parentRunId: "run-0" }, all));
  assert.ok("request" in valid);
  assert.deepEqual(valid.request.iacCode, all);
  assert.equal(valid.request.parentRunId, "run-0");
});

Deno.test("null is absent where a field is optional, and only there", () => {
  const optional = [
    "model",
    "llmApiKey",
    "llmHeaders",
    "thinking",
    "userId",
    "channel",
    "preferredLanguage",
    "candidatePresentation",
    "runMode",
    "pipelineName",
    "alibabaCloud",
  ];
  const nulls = Object.fromEntries(optional.map((name) => [name, null]));
  assert.deepEqual(validateRun(body({ parentRunId: null, resume: null }, nulls)), validateRun(body()));
  const inner = { thinking: { effort: null, budget: null }, alibabaCloud: { regionId: null } };
  const valid = validateRun(body({}, inner));
  assert.ok("request" in valid);
  assert.deepEqual([valid.request.iacCode.thinking, valid.request.iacCode.alibabaCloud], [{ enabled: false }, {}]);
  for (const name of ["schemaVersion", "rosInvocationId", "cwd", "cleanupOnly", "activeGuidance"]) {
    assert.ok(iacProblem({ [name]: null }), name);
  }
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

Deno.test("unknown fields are refused in forwardedProps, iacCode, thinking and alibabaCloud, whatever their name", () => {
  const iac = { ...IAC, thinking: { enabled: true }, alibabaCloud: { regionId: "r" } };
  const places: [path: string, object: JsonObject][] = [
    ["forwardedProps", { iacCode: iac }],
    ["forwardedProps.iacCode", iac],
    ["forwardedProps.iacCode.thinking", iac.thinking],
    ["forwardedProps.iacCode.alibabaCloud", iac.alibabaCloud],
  ];
  const whole = JSON.stringify(body({}, iac));
  for (const [path, object] of places) {
    const inside = JSON.stringify(object);
    assert.equal(whole.split(inside).length, 2, path);
    for (const name of ["extra", "__proto__", "constructor", "toString", "hasOwnProperty", "cwd ", ""]) {
      // As text: an own member __proto__ cannot be written as a literal.
      const grown = whole.replace(inside, `${inside.slice(0, -1)},${JSON.stringify(name)}:{"a":1}}`);
      assert.equal(problem(validateRun(parsed(grown))), `fieldUnknown ${path}.${name}`);
    }
  }
});

Deno.test("unknown fields of the standard envelope are taken: AG-UI grows", () => {
  const grown = parsed(`${JSON.stringify(body()).slice(0, -1)},"future":{"x":1},"__proto__":{"y":2}}`);
  assert.deepEqual(validateRun(grown), validateRun(body()));
  const resume = [{ interruptId: "i", status: "resolved", payload: 1, future: true }];
  assert.equal(runProblem({ resume }), undefined);
  assert.equal(runProblem({ messages: [{ id: "m", role: "user", content: "x", future: 1 }] }), undefined);
});

Deno.test("a missing or mistyped field of iacCode is named", () => {
  const at = (name: string) => `forwardedProps.iacCode.${name}`;
  for (const name of ["schemaVersion", "rosInvocationId", "cwd"]) {
    assert.equal(iacProblem({ [name]: undefined }), `fieldRequired ${at(name)}`);
  }
  const table: [field: string, value: unknown, expected: string][] = [
    ["schemaVersion", 2, "fieldAllowed"],
    ["schemaVersion", "1", "fieldAllowed"],
    ["rosInvocationId", 5, "fieldType"],
    ["cwd", [], "fieldType"],
    ["model", 5, "fieldType"],
    ["llmHeaders", [], "fieldType"],
    ["llmHeaders", "x", "fieldType"],
    ["thinking", true, "fieldType"],
    ["candidatePresentation", "poor", "fieldAllowed"],
    ["runMode", "Normal", "fieldAllowed"],
    ["cleanupOnly", "true", "fieldType"],
    ["activeGuidance", 1, "fieldType"],
    ["alibabaCloud", "x", "fieldType"],
  ];
  for (const [field, value, expected] of table) {
    assert.equal(iacProblem({ [field]: value }), `${expected} ${at(field)}`, JSON.stringify(value));
  }
  assert.equal(iacProblem({ thinking: { enabled: "yes" } }), `fieldType ${at("thinking.enabled")}`);
  assert.equal(iacProblem({ thinking: { effort: 1 } }), `fieldType ${at("thinking.effort")}`);
  assert.equal(iacProblem({ alibabaCloud: { accessKeyId: 1 } }), `fieldType ${at("alibabaCloud.accessKeyId")}`);
});

Deno.test("a thinking budget is a positive integer, however it is written", () => {
  const budget = (text: string) => {
    const source = JSON.stringify(body({}, { thinking: { budget: 1 } })).replace('"budget":1', `"budget":${text}`);
    return problem(validateRun(parsed(source)));
  };
  for (const text of ["1", "4096", "1.0", "2e3", String(Number.MAX_SAFE_INTEGER)]) {
    assert.equal(budget(text), undefined, text);
  }
  for (const text of ["0", "-1", "1.5", "1e400", "9007199254740993", '"1"', "true", "[]"]) {
    assert.ok(budget(text)?.endsWith("forwardedProps.iacCode.thinking.budget"), text);
  }
});

Deno.test("texts of iacCode have at most 16 KiB characters and no half surrogate pairs", () => {
  const long = "x".repeat(TEXT_FIELD_CHARS);
  const own = ["cwd", "model", "llmApiKey", "userId", "channel", "preferredLanguage", "pipelineName"];
  const nested = [
    "thinking.effort",
    "llmHeaders.x",
    ...["accessKeyId", "accessKeySecret", "securityToken", "regionId"].map((name) => `alibabaCloud.${name}`),
  ];
  for (const name of [...own, ...nested]) {
    const [outer = "", inner] = name.split(".");
    const change = (value: string) => ({ [outer]: inner === undefined ? value : { [inner]: value } });
    assert.equal(iacProblem(change(long)), undefined, name);
    assert.equal(iacProblem(change(`${long}x`)), `fieldTooLong forwardedProps.iacCode.${name}`);
    assert.equal(iacProblem(change("\ud83d")), `fieldText forwardedProps.iacCode.${name}`);
  }
});

Deno.test("headers for the model's provider are valid header names and values", () => {
  const good = [{}, { "X-Key": "a" }, { a: "" }, { "!#$%&'*+.^_`|~": "\t ü😀" }];
  const bad = [{ "": "x" }, { "a b": "x" }, { "a:": "x" }, { "ä": "x" }, { a: "x\r\ny: z" }, { a: "\u0000" }, {
    a: "\x7f",
  }];
  for (const llmHeaders of good) assert.equal(iacProblem({ llmHeaders }), undefined, JSON.stringify(llmHeaders));
  for (const llmHeaders of bad) {
    assert.equal(iacProblem({ llmHeaders }), "fieldHeaderName forwardedProps.iacCode.llmHeaders");
  }
  assert.equal(iacProblem({ llmHeaders: { a: 5 } }), "fieldType forwardedProps.iacCode.llmHeaders.a");
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
