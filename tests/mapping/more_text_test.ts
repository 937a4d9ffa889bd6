/** Texts of many pieces are mapped by their text alone (docs/performance.md): nobody may see a difference. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject } from "../../src/json.ts";
import { createFrameReader } from "../../src/kernel/frame_reader.ts";
import { type Frame, parseFrame } from "../../src/kernel/wire.ts";
import { CONTEXT, message, SESSION, TASK } from "../support/kernel_frames.ts";
import { type MappedRun, mappedRun } from "../support/mapped_run.ts";

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
/** What a piece of text may be, look like, or be interrupted by. */
const KINDS: ReadonlyArray<(word: string) => Update> = [
  (word) => ({ said: message(word) }),
  (word) => ({ said: message(word, "another") }),
  (word) => ({ said: message(word, undefined, "ROLE_USER") }),
  (word) => ({ said: message(word), iac: { assistantFinal: { complete: true } } }),
  (word) => ({ said: message(word), iac: { input: { required: false, prompt: "stack" } } }),
  (word) => ({ said: message(word), iac: { thinking: { type: "raw_thinking", text: "Hm. " } } }),
  (word) => ({ said: message(word), iac: { usage: { inputTokens: 1, outputTokens: 1 } } }),
  (word) => ({ said: message(word), iac: { tool: { toolUseId: "call_1", name: "list_files", status: "progress" } } }),
  (word) => ({ said: message(word), state: "DREAMING" }),
  (word) => ({ said: message(word), state: "INPUT_REQUIRED" }),
  (word) => ({ said: message(word), contextId: "another" }),
  () => ({ iac: { tool: { toolUseId: "call_2", name: "list_files", status: "started" } } }),
];
const [plain] = KINDS;
const kind = fc.oneof(fc.constant(plain), fc.constantFrom(...KINDS.slice(0, 9)), fc.constantFrom(...KINDS));
/** Several of a kind, one after the other. */
const several = fc.tuple(kind, fc.array(words, { minLength: 1, maxLength: 5 })).map(([make, all]) =>
  all.map((word) => update(make?.(word) ?? {}))
);
const wire = fc.array(several, { maxLength: 12 }).map((all) => all.flat());

/** All that a run does about its frames. */
function mapped(frames: readonly Frame[]): Pick<MappedRun, "done" | "events" | "notes"> {
  const run = mappedRun();
  run.accept(...frames);
  run.end({ cause: "error", code: "A2A_UNAVAILABLE" });
  return { done: run.done, events: run.events, notes: run.notes };
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
