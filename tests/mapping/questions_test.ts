/** docs/protocol.md, "Interrupts": the kernel's question as it is announced, and an answer as the kernel gets it. */
import assert from "node:assert/strict";
import { Validator } from "@cfworker/json-schema";
import { InterruptSchema } from "@ag-ui/core/schemas";
import type { Json, JsonObject } from "../../src/json.ts";
import { announce, answerText, isPermission, responseSchema } from "../../src/mapping/interrupt.ts";
import { createQuestions } from "../../src/mapping/questions.ts";
import type { PendingInput } from "../../src/thread/thread.ts";
import { permission } from "../support/kernel_frames.ts";

const question = (more: JsonObject): JsonObject => ({
  kind: "ask_user_question",
  required: true,
  inputId: "q",
  ...more,
});
const pending = (value: JsonObject, expiresAt: number | null = null): PendingInput => ({
  value,
  sideband: false,
  expiresAt,
});
const OPTIONS = [{ id: "hz", label: "Hangzhou" }, { id: "bj", label: "Beijing" }];

Deno.test("interrupt: a permission is a tool call's, with two decisions", () => {
  const value = permission("permission-1", "call-1", { title: "Write", purpose: "A file", effect: "file_change" });
  const interrupt = announce("permission-1", pending(value, Date.UTC(2026, 0, 2, 3, 4, 5)), "en");
  assert.deepEqual(interrupt, {
    id: "permission-1",
    reason: "tool_call",
    message: "Allow once?",
    toolCallId: "call-1",
    responseSchema: {
      type: "object",
      properties: { decision: { type: "string", enum: ["allow_once", "deny"] } },
      required: ["decision"],
      additionalProperties: false,
    },
    expiresAt: "2026-01-02T03:04:05.000Z",
    metadata: { ...value, schemaVersion: 1, standardOptions: [] },
  });
  assert.ok(InterruptSchema.safeParse(interrupt).success);
});

const MESSAGES: ReadonlyArray<[string, JsonObject, string]> = [
  ["the prompt", question({ prompt: "Where?", title: "Region", allowFreeText: true }), "Where?"],
  ["the title without a prompt", question({ title: "Region" }), "Region"],
  ["a sentence of ours without either", question({}), "Input is required."],
  ["a sentence of ours for a bare permission", { kind: "permission" }, "Permission is required."],
  ["a line for each option", question({ prompt: "Where?", options: OPTIONS }), "Where?\n- hz: Hangzhou\n- bj: Beijing"],
];

for (const [what, value, message] of MESSAGES) {
  Deno.test(`interrupt: its message is ${what}`, () => {
    const { language: _, ...told } = announce("q", pending(value), "en") as unknown as JsonObject;
    assert.equal(told.message, message);
    assert.equal(told.expiresAt, undefined);
  });
}

const IDS: ReadonlyArray<[string, Json[], string[]]> = [
  ["as they are", OPTIONS, ["hz: Hangzhou", "bj: Beijing"]],
  ["numbers as text", [{ id: 0, label: "A" }, { id: 1, label: "B" }], ["0: A", "1: B"]],
  ["made unique", [{ id: "a", label: "A" }, { id: "a", label: "B" }, { id: "a-2", label: "C" }], [
    "a: A",
    "a-2: B",
    "a-2-2: C",
  ]],
  ["the label without an id", [{ label: "A" }, { name: "B" }], ["A: A", "B: B"]],
  ["the place without either", [{}, { id: "" }], ["1: 1", "2: 2"]],
  ["nothing that is no option", ["A", null, { id: "b", label: "B" }], ["b: B"]],
];

for (const [what, options, named] of IDS) {
  Deno.test(`interrupt: options are named ${what}`, () => {
    const { metadata, responseSchema } = announce("q", pending(question({ options })), "en");
    const standard = metadata.standardOptions as JsonObject[];
    assert.deepEqual(standard.map(({ id, title }) => `${id}: ${title}`), named);
    const branches = responseSchema.oneOf as JsonObject[];
    assert.deepEqual(
      branches.map((branch) => JSON.stringify(branch.properties)),
      named.map((line) => JSON.stringify({ selectedId: { const: line.split(": ")[0] } })),
    );
  });
}

const ANSWERS: ReadonlyArray<[string, JsonObject, Json, boolean]> = [
  ["a decision", { kind: "permission" }, { decision: "allow_once" }, true],
  ["another decision", { kind: "permission" }, { decision: "deny" }, true],
  ["a decision that is none", { kind: "permission" }, { decision: "maybe" }, false],
  ["a decision and more", { kind: "permission" }, { decision: "deny", reason: "no" }, false],
  ["no decision", { kind: "permission" }, {}, false],
  ["an option", question({ options: OPTIONS }), { selectedId: "hz" }, true],
  ["an option that is none", question({ options: OPTIONS }), { selectedId: "sh" }, false],
  ["words where only options are asked for", question({ options: OPTIONS }), { freeText: "Rome" }, false],
  ["words beside options", question({ options: OPTIONS, allowFreeText: true }), { freeText: "Rome" }, true],
  ["words where there are no options", question({}), { freeText: "Rome" }, true],
  ["no words", question({}), { freeText: "" }, false],
  [
    "words and an option",
    question({ options: OPTIONS, allowFreeText: true }),
    { selectedId: "hz", freeText: "x" },
    false,
  ],
  ["a bare text", question({}), "Rome", false],
];

for (const [what, value, payload, fits] of ANSWERS) {
  Deno.test(`interrupt: ${what} ${fits ? "fits" : "does not fit"}`, () => {
    assert.equal(new Validator(responseSchema(value)).validate(payload).valid, fits);
  });
}

Deno.test("interrupt: an answer is what the user wrote, or the label of what was chosen", () => {
  const value = question({ options: [...OPTIONS, { id: "hz", label: "Hangzhou again" }] });
  assert.equal(answerText(value, { freeText: "near Rome" }), "near Rome");
  assert.equal(answerText(value, { selectedId: "bj" }), "Beijing");
  assert.equal(answerText(value, { selectedId: "hz-2" }), "Hangzhou again");
});

Deno.test("interrupt: the prompt for free text describes it", () => {
  assert.deepEqual(responseSchema(question({ freeTextPrompt: "A city" })), {
    oneOf: [{
      type: "object",
      properties: { freeText: { type: "string", minLength: 1, description: "A city" } },
      required: ["freeText"],
      additionalProperties: false,
    }],
  });
});

Deno.test("interrupt: metadata holds no nulls, no field that nobody listed, and its own version", () => {
  const value = question({ schemaVersion: 1.0, title: null, secret: "x", displayParameters: { a: null } });
  assert.deepEqual(announce("q", pending(value), "en").metadata, {
    schemaVersion: 1,
    kind: "ask_user_question",
    required: true,
    inputId: "q",
    displayParameters: { a: null },
    standardOptions: [],
  });
});

Deno.test("interrupt: only what asks for leave is a permission", () => {
  assert.ok(isPermission({ kind: "permission" }));
  assert.ok(!isPermission({ kind: "candidate_selection" }));
});

const input = (inputId: string, more: JsonObject = {}): JsonObject => ({ input: permission(inputId, "call", more) });

Deno.test("questions: each is asked once, waits until it is settled, and is not asked again", () => {
  const questions = createQuestions(new Map(), new Set(["old"]), "run");
  assert.equal(questions.note({}), "none");
  assert.equal(questions.note(input("one")), "asks");
  assert.equal(questions.note(input("old")), "answered");
  assert.equal(questions.pending.size, 0, "not before it is announced");
  assert.deepEqual([...questions.announced(5)].map(([id, { expiresAt }]) => [id, expiresAt]), [["one", 5]]);
  questions.settle("one");
  assert.equal(questions.note(input("one")), "answered");
  assert.ok(questions.isSettled("one") && questions.isSettled("old") && !questions.isSettled("two"));
});

Deno.test("questions: one whose answer is at hand is not asked; the others are", () => {
  const questions = createQuestions(new Map([["two", pending(permission("two"), 7)]]), new Set(), "run");
  questions.expect(["two"]);
  assert.equal(questions.note(input("two")), "answered");
  assert.equal(questions.note({ pendingPermissions: [permission("two"), permission("three")] }), "asks");
  questions.expect([]);
  assert.equal(questions.note(input("two")), "asks");
});

Deno.test("questions: those of parallel candidates are answered beside the stream, whichever frame said so", () => {
  const questions = createQuestions(new Map(), new Set(), "run");
  questions.note(input("one", { scope: "candidate_step" }));
  questions.note(input("two", { subPipelineId: "s" }));
  questions.note({ pendingPermissions: [permission("three")] });
  questions.note(input("four"));
  questions.note(input("three"));
  const beside = [...questions.announced(null)].filter(([, { sideband }]) => sideband).map(([id]) => id);
  assert.deepEqual(beside, ["one", "two", "three"]);
});

Deno.test("questions: what is pending is required, whether it says so or not", () => {
  const { required: _, ...bare } = permission("one", "call");
  assert.equal(createQuestions(new Map(), new Set(), "run").note({ pendingPermissions: [bare] }), "asks");
});

Deno.test("questions: what is told again of a question that waits changes nothing but how long it may be answered", () => {
  const questions = createQuestions(new Map([["one", pending(permission("one", "call"), 7)]]), new Set(), "run");
  questions.note(input("one", { title: "told later" }));
  assert.deepEqual(questions.announced(9).get("one"), {
    value: permission("one", "call"),
    sideband: false,
    expiresAt: 9,
  });
});

Deno.test("questions: each tells by which run it was asked first, where that is known", () => {
  const before: [string, PendingInput][] = [
    ["adapter's", pending(permission("adapter's", "call-1"))],
    ["older", { ...pending(permission("older", "call-2")), askedBy: "run before" }],
  ];
  const questions = createQuestions(new Map(before), new Set(), "run");
  for (const id of ["adapter's", "older", "new"]) questions.note(input(id));
  assert.deepEqual([...questions.announced(9)].map(([id, { askedBy }]) => [id, askedBy]), [
    ["adapter's", undefined],
    ["older", "run before"],
    ["new", "run"],
  ]);
});

Deno.test("questions: what is not required is none, what has no id cannot be answered", () => {
  const questions = createQuestions(new Map(), new Set(), "run");
  assert.equal(questions.note(input("one", { required: false })), "none");
  assert.equal(questions.note({ pendingPermissions: [permission("two", "call", { required: false })] }), "none");
  assert.equal(questions.note({ input: { kind: "permission", required: true } }), "broken");
});
