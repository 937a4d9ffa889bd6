import assert from "node:assert/strict";
import { ERRORS, invalid, refusal, RunFailure } from "../src/errors.ts";
import { LANGUAGES, sentence } from "../src/language/messages.ts";

/** Code, status before a stream (0: never), whether it ends a run. Clients depend on this table: it does not change. */
const PINNED: readonly (readonly [code: string, status: number, run: boolean])[] = [
  ["INVALID_INPUT", 400, false],
  ["INVALID_JSON", 400, false],
  ["UNAUTHORIZED", 401, false],
  ["FORBIDDEN_HOST", 403, false],
  ["FORBIDDEN_ORIGIN", 403, false],
  ["EXECUTION_NOT_FOUND", 404, false],
  ["NOT_FOUND", 404, false],
  ["METHOD_NOT_ALLOWED", 405, false],
  ["REQUEST_TIMEOUT", 408, false],
  ["DUPLICATE_RUN_ID", 409, false],
  ["EXECUTION_EXPIRED", 409, false],
  ["EXECUTION_LOST", 409, true],
  ["RESUME_REQUIRED", 409, false],
  ["RUN_ID_CONFLICT", 409, false],
  ["THREAD_BINDING_CONFLICT", 409, false],
  ["THREAD_BUSY", 409, false],
  ["REQUEST_TOO_LARGE", 413, false],
  ["UNSUPPORTED_MEDIA_TYPE", 415, false],
  ["INTERNAL_ERROR", 500, true],
  ["SERVER_BUSY", 503, false],
  ["STATE_UNAVAILABLE", 503, false],
  ["A2A_EXECUTION_FAILED", 0, true],
  ["A2A_PROTOCOL_ERROR", 0, true],
  ["A2A_UNAVAILABLE", 0, true],
  ["CANCELLED", 0, true],
  ["INCOMPLETE_RESUME", 0, true],
  ["RESUME_ALREADY_APPLIED", 0, true],
  ["RESUME_PAYLOAD_INVALID", 0, true],
  ["SESSION_BACKUP_NOT_READY", 0, true],
  ["STATE_PERSISTENCE_FAILED", 0, true],
  ["UNKNOWN_INTERRUPT", 0, true],
];

Deno.test("every code has its place and its HTTP status, and no code is missing or new", () => {
  const actual = Object.entries(ERRORS).map(([code, row]) => {
    return [code, "status" in row ? row.status : 0, "run" in row && row.run];
  });
  const byCode = (rows: readonly (readonly unknown[])[]) =>
    [...rows].sort(([a], [b]) => String(a) < String(b) ? -1 : 1);
  assert.deepEqual(byCode(actual), byCode(PINNED));
});

Deno.test("no two codes tell the same sentence, in no language", () => {
  for (const language of LANGUAGES) {
    const sentences = Object.values(ERRORS).map(({ message }) => sentence(language, message));
    assert.equal(new Set(sentences).size, sentences.length, language);
  }
});

Deno.test("a refusal is its code with what makes it more precise", () => {
  assert.deepEqual(refusal("THREAD_BUSY"), { code: "THREAD_BUSY" });
  assert.deepEqual(refusal("RESUME_REQUIRED", { details: { a: 1 } }), { code: "RESUME_REQUIRED", details: { a: 1 } });
  assert.deepEqual(invalid("fieldTooLong", "runId", { limit: 5 }), {
    code: "INVALID_INPUT",
    message: "fieldTooLong",
    params: { field: "runId", limit: 5 },
  });
});

Deno.test("a run's failure carries code, reason and cause, and its own text is only the code", () => {
  const cause = new Error("disk");
  const failure = new RunFailure("STATE_PERSISTENCE_FAILED", "no space for secret-key", { cause });
  assert.ok(failure instanceof Error);
  assert.deepEqual([failure.name, failure.message, failure.code, failure.reason, failure.cause], [
    "RunFailure",
    "STATE_PERSISTENCE_FAILED",
    "STATE_PERSISTENCE_FAILED",
    "no space for secret-key",
    cause,
  ]);
});
