/** Bodies of runs for the tests of what they may hold: whole, with members replaced. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/json.ts";
import { type Validated, validateRun } from "../../src/request/schema.ts";

export const IAC: JsonObject = { schemaVersion: 1, rosInvocationId: "invocation-1", cwd: "/work" };

/** A new run's body, with members replaced; `undefined` takes one away. */
export function body(change: Record<string, unknown> = {}, iac: Record<string, unknown> = {}): JsonObject {
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

/** JSON text as a value: an own member __proto__ cannot be written as a literal. */
export function parsed(text: string): JsonObject {
  return JSON.parse(text);
}

/** The sentence of a refusal with the field it names; undefined when the body is taken. */
export function problem(validated: Validated<unknown>): string | undefined {
  if (!("refusal" in validated)) return undefined;
  const { code, message, params, details } = validated.refusal;
  assert.equal(code, "INVALID_INPUT");
  assert.equal(details, undefined);
  assert.ok(message);
  return `${message} ${params?.field}`;
}

/** What is wrong with a run whose envelope, or whose iacCode, is changed. */
export function runProblem(change: Record<string, unknown>, iac?: Record<string, unknown>): string | undefined {
  return problem(validateRun(body(change, iac)));
}

/** What is wrong with a run whose iacCode is changed. */
export function iacProblem(iac: Record<string, unknown>): string | undefined {
  return runProblem({}, iac);
}
