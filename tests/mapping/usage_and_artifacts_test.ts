/** docs/protocol.md, "Ends of a run", "Text and tools": usage summed per provider and model, artifacts as they come. */
import assert from "node:assert/strict";
import type { Json, JsonObject } from "../../src/json.ts";
import { type Frame, toFrame } from "../../src/kernel/wire.ts";
import { artifact, asks, BEGUN, ENDED, permission, status, usage } from "../support/kernel_frames.ts";
import { mappedRun } from "../support/mapped_run.ts";

const record = (more: JsonObject): JsonObject => ({
  provider: "openai",
  model: "other",
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  cachedInputTokens: 0,
  ...more,
});

Deno.test("usage: records are summed per provider and model, in the order of their first use", () => {
  const run = mappedRun();
  run.accept(
    ...BEGUN,
    usage({ inputTokens: 1, outputTokens: 2, totalTokens: 3, cachedInputTokens: 4 }),
    usage({ model: "small", inputTokens: 10, outputTokens: 0, totalTokens: 10 }),
    usage({ inputTokens: 100, outputTokens: 200, totalTokens: 300, cachedInputTokens: 400 }),
    usage({ provider: "qwen" }),
    ENDED,
  );
  assert.deepEqual(run.events.at(-1)?.usage, [
    record({ inputTokens: 101, outputTokens: 202, totalTokens: 303, cachedInputTokens: 404 }),
    record({ model: "small", inputTokens: 10, totalTokens: 10 }),
    record({ provider: "qwen", inputTokens: 11, outputTokens: 7, totalTokens: 18 }),
  ]);
});

const COUNTS: ReadonlyArray<[unknown, number]> = [
  [11.0, 11],
  [-5, 0],
  [1.5, 0],
  ["7", 0],
  [null, 0],
  [1e300, 0],
  [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
];

for (const [told, counted] of COUNTS) {
  Deno.test(`usage: ${JSON.stringify(told)} tokens count as ${counted}`, () => {
    const run = mappedRun();
    run.accept(...BEGUN, usage({ inputTokens: told as never }), ENDED);
    assert.deepEqual(run.events.at(-1)?.usage, [
      record({ inputTokens: counted, outputTokens: 7, totalTokens: 18 }),
    ]);
  });
}

Deno.test("usage: a record counts without a provider or model, which stay left out; one that is none does not", () => {
  const run = mappedRun();
  const told = (record: Json): Frame => status("WORKING", { usage: record });
  run.accept(...BEGUN, told({ inputTokens: 3 }), told({ inputTokens: 4, provider: null, model: "" }));
  run.accept(told({ inputTokens: 5, model: "m" }), told("much"), ENDED);
  const { provider: _, model: __, ...counts } = record({});
  const usage = [{ ...counts, inputTokens: 7 }, { ...counts, model: "m", inputTokens: 5 }];
  assert.deepEqual(run.events.at(-1)?.usage, usage);
});

Deno.test("usage: names that look like another pair keep apart", () => {
  const run = mappedRun();
  run.accept(...BEGUN, usage({ provider: 'a","b', model: "c" }), usage({ provider: "a", model: 'b","c' }), ENDED);
  assert.equal((run.events.at(-1)?.usage as unknown[]).length, 2);
});

Deno.test("usage: a kernel that names ever new models fills no memory", () => {
  const run = mappedRun();
  run.accept(...BEGUN);
  for (let at = 0; at < 300; at++) run.accept(usage({ model: `model-${at}` }));
  run.accept(usage({ model: "model-0" }), ENDED);
  const sums = run.events.at(-1)?.usage as JsonObject[];
  assert.equal(sums.length, 256);
  assert.equal(sums[0]?.totalTokens, 36);
});

Deno.test("usage: every end tells it, and none tells it when nothing was used", () => {
  const failed = mappedRun();
  failed.accept(...BEGUN, usage(), status("FAILED"));
  assert.ok(failed.events.at(-1)?.usage);
  const asking = mappedRun();
  asking.accept(...BEGUN, usage(), asks(permission("question-1")));
  asking.end({ cause: "interrupt", expiresAt: null });
  assert.ok(asking.events.at(-1)?.usage);
  const idle = mappedRun();
  idle.accept(...BEGUN, ENDED);
  assert.equal(idle.events.at(-1)?.usage, undefined);
});

Deno.test("artifacts: an artifact is passed on whole, with the chunk that it is", () => {
  const run = mappedRun();
  run.accept(...BEGUN, artifact("one"), artifact("one", { append: true, lastChunk: false }), ENDED);
  assert.deepEqual(run.events.filter(({ name }) => name === "iac-code.artifact.v1").map(({ value }) => value), [
    { schemaVersion: 1, artifactId: "one", name: "a.txt" },
    { schemaVersion: 1, artifactId: "one", name: "a.txt", append: true, lastChunk: false },
  ]);
});

Deno.test("artifacts: one of another task is no business of this run", () => {
  const run = mappedRun();
  run.accept(...BEGUN, toFrame({ result: { artifactUpdate: { taskId: "another", artifact: { artifactId: "x" } } } }));
  assert.deepEqual(run.lines(), ["error A2A_PROTOCOL_ERROR A2A_PROTOCOL_ERROR"]);
});

Deno.test("artifacts: an update without its artifact is nonsense", () => {
  const run = mappedRun();
  run.accept(...BEGUN, toFrame({ result: { artifactUpdate: { taskId: "task-1" } } }));
  assert.deepEqual(run.lines(), ["error A2A_PROTOCOL_ERROR A2A_PROTOCOL_ERROR"]);
});
