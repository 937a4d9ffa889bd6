import assert from "node:assert/strict";
import type { Interrupt } from "@ag-ui/core";
import {
  answerText,
  type Choice,
  detailsOf,
  formOf,
  payloadOf,
  questionOf,
} from "../../console/state/interrupt_form.ts";
import { announce } from "../../src/mapping/interrupt.ts";
import type { JsonObject } from "../../src/json.ts";

function interruptOf(responseSchema: JsonObject, more: Partial<Interrupt> = {}): Interrupt {
  return { id: "i", reason: "anything", responseSchema, ...more };
}

/** As the service announces a question of the kernel. */
function announced(value: JsonObject): Interrupt {
  return announce("i", { value, sideband: false, expiresAt: null }, "en") as Interrupt;
}

function choicesOf(interrupt: Interrupt): [label: string, fixed: JsonObject, fields: string[]][] {
  return formOf(interrupt).choices.map(({ label, fixed, fields }) => [label, fixed, fields.map(({ name }) => name)]);
}

function choice(interrupt: Interrupt, at = 0): Choice {
  const found = formOf(interrupt).choices[at];
  assert.ok(found);
  return found;
}

Deno.test("a permission becomes its two decisions", () => {
  const permission = announced({ kind: "permission", prompt: "Allow?", toolName: "write_file" });
  assert.deepEqual(choicesOf(permission), [
    ["allow_once", { decision: "allow_once" }, []],
    ["deny", { decision: "deny" }, []],
  ]);
  assert.deepEqual(payloadOf(choice(permission, 1), {}), { decision: "deny" });
});

Deno.test("a permission's options name its decisions", () => {
  const options = [{ id: "allow_once", label: "Go on", summary: "this time" }, { id: "deny", label: "No" }];
  const permission = announced({ kind: "permission", prompt: "Allow?", options });
  assert.deepEqual(formOf(permission).choices.map(({ label, detail }) => [label, detail]), [
    ["Go on", "this time"],
    ["No", undefined],
  ]);
});

Deno.test("a question becomes its options, and a field when it takes free text", () => {
  const question = announced({
    kind: "ask_user_question",
    prompt: "Where?",
    options: [{ id: "hz", label: "Hangzhou", summary: "cn-hangzhou" }, { id: "bj", label: "Beijing" }],
    allowFreeText: true,
    freeTextPrompt: "Somewhere else",
  });
  assert.deepEqual(choicesOf(question), [
    ["Hangzhou", { selectedId: "hz" }, []],
    ["Beijing", { selectedId: "bj" }, []],
    ["", {}, ["freeText"]],
  ]);
  assert.equal(choice(question).detail, "cn-hangzhou");
  assert.equal(choice(question, 2).fields[0]?.label, "Somewhere else");
  assert.deepEqual(payloadOf(choice(question, 2), { freeText: "Mars" }), { freeText: "Mars" });
  assert.equal(payloadOf(choice(question, 2), { freeText: "" }), undefined);
});

Deno.test("the question is shown without the options that follow it in the message", () => {
  const question = announced({
    kind: "ask_user_question",
    prompt: "Where?\nThink well.",
    options: [{ id: "hz", label: "Hangzhou" }, { id: "bj", label: "Beijing" }],
  });
  assert.match(question.message ?? "", /- hz: Hangzhou/);
  assert.equal(questionOf(formOf(question)), "Where?\nThink well.");
});

Deno.test("the reason decides nothing", () => {
  const schema = {
    type: "object",
    properties: { decision: { type: "string", enum: ["yes", "no"] } },
    required: ["decision"],
  };
  for (const reason of ["tool_call", "input_required", "other"]) {
    assert.deepEqual(choicesOf(interruptOf(schema, { reason })), [["yes", { decision: "yes" }, []], ["no", {
      decision: "no",
    }, []]]);
  }
});

Deno.test("fields of every type are asked for, and given back with their types", () => {
  const mixed = choice(interruptOf({
    type: "object",
    properties: {
      name: { type: "string", title: "Name" },
      count: { type: "integer" },
      size: { enum: ["small", 2] },
      public: { type: "boolean" },
      tags: { type: "array" },
      kind: { const: "vm" },
    },
    required: ["name", "count"],
  }));
  assert.deepEqual(mixed.fields.map(({ name, as }) => [name, as]), [
    ["name", "text"],
    ["count", "number"],
    ["size", "choice"],
    ["public", "switch"],
    ["tags", "json"],
  ]);
  const entered = { name: "web", count: "3", size: "2", public: "true", tags: '["a"]' };
  assert.deepEqual(payloadOf(mixed, entered), {
    kind: "vm",
    name: "web",
    count: 3,
    size: 2,
    public: true,
    tags: ["a"],
  });
  assert.deepEqual(payloadOf(mixed, { name: "web", count: "3" }), { kind: "vm", name: "web", count: 3, public: false });
});

Deno.test("an answer is not complete while a field is empty, no number, or no JSON", () => {
  const fields = choice(interruptOf({
    type: "object",
    properties: { count: { type: "number" }, more: { type: "object" } },
    required: ["count"],
  }));
  assert.equal(payloadOf(fields, {}), undefined);
  assert.equal(payloadOf(fields, { count: "many" }), undefined);
  assert.equal(payloadOf(fields, { count: "1", more: "{" }), undefined);
  assert.deepEqual(payloadOf(fields, { count: "1.5" }), { count: 1.5 });
});

Deno.test("a schema that says nothing, or nothing that can be shown, is answered with JSON", () => {
  for (const schema of [{}, { type: "array" }, { oneOf: [] }, { type: "object" }]) {
    const only = choice(interruptOf(schema));
    assert.deepEqual([only.fields.length, only.fields[0]?.as], [1, "json"]);
    assert.deepEqual(payloadOf(only, { "": '{"a":[1]}' }), { a: [1] });
  }
  const { responseSchema: _, ...bare } = interruptOf({});
  assert.equal(choice(bare).fields[0]?.as, "json");
});

Deno.test("names of prototypes are names as any other", () => {
  const odd = choice(
    interruptOf(JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}},"required":[]}')),
  );
  assert.deepEqual(odd.fields.map(({ name }) => name), ["__proto__"]);
});

Deno.test("what the metadata says is listed, but not what the message says already", () => {
  const interrupt = interruptOf({}, {
    message: "Change a file Allow once?",
    metadata: {
      title: "Change a file",
      purpose: "Needed",
      effect: 3,
      safeSummary: { path: "a" },
      toolName: "",
      kind: "x",
    },
  });
  assert.deepEqual(detailsOf(interrupt), [
    { name: "purpose", value: "Needed" },
    { name: "effect", value: "3" },
    { name: "safeSummary", value: '{\n  "path": "a"\n}' },
  ]);
});

Deno.test("an answer can be read afterwards", () => {
  const question = announced({
    kind: "ask_user_question",
    prompt: "?",
    options: [{ id: "a", label: "A" }],
    allowFreeText: true,
  });
  assert.equal(answerText(choice(question), {}), "A");
  assert.equal(answerText({ ...choice(question, 1), label: "Own answer" }, { freeText: "B" }), "Own answer: B");
});
