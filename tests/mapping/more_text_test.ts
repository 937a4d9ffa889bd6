/** Texts of many pieces are mapped by their text alone (docs/performance.md): nobody may see a difference. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject } from "../../src/json.ts";
import { createFrameReader } from "../../src/kernel/frame_reader.ts";
import { type Frame, parseFrame } from "../../src/kernel/wire.ts";
import { CONTEXT, message, SESSION, TASK } from "../support/kernel_frames.ts";
import { mappedRun } from "../support/mapped_run.ts";

interface Update {
  readonly state?: string;
  readonly iac?: JsonObject;
  readonly said?: JsonObject;
  readonly contextId?: string;
}

function update({ state = "WORKING", iac = {}, said, contextId = CONTEXT }: Update): string {
  const status = { state: `TASK_STATE_${state}`, ...(said && { message: said }) };
  const metadata = { "iac_code": { iacCodeSessionId: SESSION, ...iac } };
  return JSON.stringify({ result: { statusUpdate: { taskId: TASK, contextId, status, metadata } } });
}

const words = fc.constantFrom(
  "The ",
  "stack",
  "\n",
  "",
  "\ud83d",
  "\ude00",
  '"',
  "a text of more than a few characters",
);
const piece = words.map((word) => update({ said: message(word) }));
/** What may come between the pieces of a text, or look like one. */
const other = fc.oneof(
  fc.constant(update({ iac: { thinking: { type: "raw_thinking", text: "Hm. " } } })),
  fc.constant(update({ iac: { tool: { toolUseId: "call_1", name: "list_files", status: "started" } } })),
  fc.constant(update({ iac: { usage: { inputTokens: 1, outputTokens: 1 } } })),
  words.map((word) => update({ said: message(word, "another") })),
  words.map((word) => update({ said: message(word, undefined, "ROLE_USER") })),
  words.map((word) => update({ said: message(word), iac: { assistantFinal: { complete: true } } })),
  words.map((word) => update({ said: message(word), iac: { input: { required: false, prompt: "stack" } } })),
  words.map((word) => update({ said: message(word), state: "INPUT_REQUIRED" })),
  words.map((word) => update({ said: message(word), contextId: "another" })),
);
const wire = fc.array(fc.oneof({ weight: 6, arbitrary: piece }, { weight: 1, arbitrary: other }), { maxLength: 40 });

/** All that a run does about its frames. */
function mapped(frames: readonly Frame[]): { done: string[]; events: JsonObject[] } {
  const run = mappedRun();
  run.accept(...frames);
  run.end({ cause: "error", code: "A2A_UNAVAILABLE" });
  return { done: run.done, events: run.events };
}

Deno.test("pieces that share their metadata are mapped as if each were a frame of its own", () => {
  fc.assert(
    fc.property(wire, (frames) => {
      const read = createFrameReader();
      assert.deepEqual(mapped(frames.map((data) => read(data))), mapped(frames.map(parseFrame)));
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("the pieces of a text that goes on are not looked at for anything else", () => {
  const read = createFrameReader();
  const run = mappedRun();
  run.accept(...["one ", "two ", "three "].map((word) => read(update({ said: message(word) }))));
  const last = read(update({ said: message("four") }));
  assert.ok(last.kind === "status");
  Object.defineProperty(last.status, "state", { get: () => assert.fail("its state was looked at") });
  run.accept(last);
  assert.deepEqual(run.events.at(-1)?.delta, "four");
});
