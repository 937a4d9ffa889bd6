import assert from "node:assert/strict";
import type { JsonObject } from "../../src/json.ts";
import { TEXT_FIELD_CHARS } from "../../src/limits.ts";
import { validateRun } from "../../src/request/schema.ts";
import { body, IAC, iacProblem, parsed, problem } from "../support/run_bodies.ts";

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

Deno.test("every value of a field with few of them is taken", () => {
  for (const candidatePresentation of ["standard", "rich"]) {
    assert.equal(iacProblem({ candidatePresentation }), undefined);
  }
  for (const runMode of ["normal", "pipeline"]) assert.equal(iacProblem({ runMode }), undefined);
});

Deno.test("a refusal says what was expected", () => {
  const expected = (iac: Record<string, unknown>) => {
    const validated = validateRun(body({}, iac));
    assert.ok("refusal" in validated);
    return validated.refusal.params?.expected ?? validated.refusal.params?.allowed;
  };
  assert.equal(expected({ model: 5 }), "string");
  assert.equal(expected({ cleanupOnly: "x" }), "boolean");
  assert.equal(expected({ thinking: [] }), "object");
  assert.equal(expected({ llmHeaders: [] }), "object");
  assert.equal(expected({ thinking: { budget: 1.5 } }), "integer");
  assert.equal(expected({ runMode: "x" }), "normal, pipeline");
});

Deno.test("a thinking budget is a positive integer, however it is written", () => {
  const budget = (text: string) => {
    const source = JSON.stringify(body({}, { thinking: { budget: 1 } })).replace('"budget":1', `"budget":${text}`);
    return problem(validateRun(parsed(source)));
  };
  for (const text of ["1", "4096", "1.0", "2e3", String(Number.MAX_SAFE_INTEGER)]) {
    assert.equal(budget(text), undefined, text);
  }
  const at = "forwardedProps.iacCode.thinking.budget";
  for (const text of ["0", "-1", "9007199254740993"]) assert.equal(budget(text), `fieldPositive ${at}`, text);
  for (const text of ["1.5", "1e400", '"1"', "true", "[]"]) assert.equal(budget(text), `fieldType ${at}`, text);
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
