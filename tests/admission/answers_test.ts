import assert from "node:assert/strict";
import { type Answer, checkAnswers, missesLater } from "../../src/admission/answers.ts";
import { answerDigest } from "../../src/digest.ts";
import type { Json, JsonObject } from "../../src/json.ts";
import type { ResumeEntry } from "../../src/request/run_request.ts";
import type { AppliedResume } from "../../src/thread/thread.ts";
import { EXECUTION, pendingOf, permission, question, threadOf } from "../support/threads.ts";

const ALLOW = { decision: "allow_once" };

function answer(interruptId: string, payload?: Json): ResumeEntry {
  return { interruptId, status: "resolved", ...(payload !== undefined && { payload }) };
}

function giveUp(interruptId: string): ResumeEntry {
  return { interruptId, status: "cancelled" };
}

function applied(interruptId: string, payload: Json = ALLOW, executionId = EXECUTION): AppliedResume {
  return { executionId, interruptId, digest: answerDigest("resolved", payload) };
}

/** The code of a resume that is wrong, or the answers that are to be sent. */
function check(
  entries: ResumeEntry[],
  values: JsonObject[],
  before: readonly AppliedResume[] = [],
): string | readonly Answer[] {
  const pending = pendingOf(values);
  const checked = checkAnswers(entries, pending, threadOf({ execution: { pending }, applied: before }));
  return "code" in checked ? checked.code : checked.answers;
}

/** What the kernel gets for one answer: a decision, a text, or a cancel. */
function said(value: JsonObject, entry: Omit<ResumeEntry, "interruptId">): string {
  const id = String(value.inputId);
  const checked = check([{ ...entry, interruptId: id }], [value]);
  if (typeof checked === "string") return checked;
  assert.equal(checked.length, 1);
  const [only] = checked;
  assert.ok(only);
  assert.equal(only.interruptId, id);
  assert.equal(only.pending.value, value);
  assert.equal(only.digest, answerDigest(entry.status, entry.payload));
  return only.kind === "permission" ? only.decision : only.kind === "text" ? `text: ${only.text}` : only.kind;
}

const resolved = (payload?: Json) => ({ status: "resolved" as const, ...(payload !== undefined && { payload }) });

Deno.test("a permission takes allow_once or deny and nothing else; a cancel is a deny", () => {
  const value = permission("p");
  assert.equal(said(value, resolved({ decision: "allow_once" })), "allow_once");
  assert.equal(said(value, resolved({ decision: "deny" })), "deny");
  assert.equal(said(value, { status: "cancelled" }), "deny");
  assert.equal(said(value, { status: "cancelled", payload: { decision: "allow_once" } }), "deny");
  const wrong: (Json | undefined)[] = [
    undefined,
    null,
    "allow_once",
    {},
    [],
    { decision: "allow" },
    { decision: "ALLOW_ONCE" },
    { decision: true },
    { decision: null },
    { decision: ["allow_once"] },
    { decision: "allow_once", always: true },
    { Decision: "allow_once" },
  ];
  for (const payload of wrong) assert.equal(said(value, resolved(payload)), "RESUME_PAYLOAD_INVALID");
});

Deno.test("a question with options takes one of their ids, and says its label", () => {
  const value = question("q");
  assert.equal(said(value, resolved({ selectedId: "hz" })), "text: Hangzhou");
  assert.equal(said(value, resolved({ selectedId: "bj" })), "text: Beijing");
  for (
    const payload of [{ selectedId: "x" }, { selectedId: "" }, { freeText: "Shanghai" }, {}, null, {
      selectedId: "hz",
      freeText: "x",
    }, { selectedId: "Hangzhou" }] as Json[]
  ) {
    assert.equal(said(value, resolved(payload)), "RESUME_PAYLOAD_INVALID", JSON.stringify(payload));
  }
});

Deno.test("free text is taken where it is allowed, or where there are no options", () => {
  const both = question("q", { allowFreeText: true });
  const open = question("q", { options: [] });
  for (const value of [both, open]) {
    assert.equal(said(value, resolved({ freeText: " Shanghai \n" })), "text:  Shanghai \n");
    assert.equal(said(value, resolved({ freeText: "" })), "RESUME_PAYLOAD_INVALID");
    assert.equal(said(value, resolved({ freeText: 5 })), "RESUME_PAYLOAD_INVALID");
  }
  assert.equal(said(both, resolved({ selectedId: "hz" })), "text: Hangzhou");
  assert.equal(said(open, resolved({ selectedId: "hz" })), "RESUME_PAYLOAD_INVALID");
});

Deno.test("options with the same id can still be told apart", () => {
  const value = question("q", { options: [{ id: "a", label: "One" }, { id: "a", label: "Two" }, { label: "Three" }] });
  assert.equal(said(value, resolved({ selectedId: "a" })), "text: One");
  assert.equal(said(value, resolved({ selectedId: "a-2" })), "text: Two");
  assert.equal(said(value, resolved({ selectedId: "Three" })), "text: Three");
});

Deno.test("half a surrogate pair in free text, which the kernel would refuse, becomes U+FFFD", () => {
  assert.equal(said(question("q", { options: [] }), resolved({ freeText: "cut \ud83d" })), "text: cut \ufffd");
});

Deno.test("a question that is given up cancels", () => {
  assert.equal(said(question("q"), { status: "cancelled" }), "cancel");
});

Deno.test("all that is pending is answered, in the order of the resume", () => {
  const checked = check([answer("b", ALLOW), answer("c", { selectedId: "hz" }), giveUp("a")], [
    permission("a"),
    permission("b"),
    question("c"),
  ]);
  assert.ok(typeof checked !== "string");
  assert.deepEqual(checked.map(({ interruptId, kind }) => [interruptId, kind]), [["b", "permission"], ["c", "text"], [
    "a",
    "permission",
  ]]);
});

Deno.test("names that objects are born with are ids as any other", () => {
  assert.equal(check([answer("constructor", ALLOW)], [permission("a")]), "UNKNOWN_INTERRUPT");
  assert.equal(said(permission("__proto__"), resolved(ALLOW)), "allow_once");
});

Deno.test("what is wrong with a resume has one code, the first that applies", () => {
  const [a, b] = [permission("a"), permission("b")];
  const table: [name: string, code: string, entries: ResumeEntry[], values: JsonObject[], before?: AppliedResume[]][] =
    [
      ["an id twice", "INCOMPLETE_RESUME", [answer("a", ALLOW), answer("a", ALLOW)], [a]],
      ["an unknown id twice", "INCOMPLETE_RESUME", [answer("x", ALLOW), giveUp("x")], [a]],
      ["one of two", "INCOMPLETE_RESUME", [answer("a", ALLOW)], [a, b]],
      ["one of two, wrongly", "INCOMPLETE_RESUME", [answer("a", 5)], [a, b]],
      ["an unknown id", "UNKNOWN_INTERRUPT", [answer("x", ALLOW)], [a]],
      ["an unknown id beside the right one", "UNKNOWN_INTERRUPT", [answer("a", ALLOW), answer("x", ALLOW)], [a]],
      ["nothing pending, nothing applied", "UNKNOWN_INTERRUPT", [answer("a", ALLOW)], []],
      ["the same answer again", "RESUME_ALREADY_APPLIED", [answer("a", ALLOW)], [], [applied("a")]],
      ["another answer afterwards", "RESUME_ALREADY_APPLIED", [answer("a", { decision: "deny" })], [], [applied("a")]],
      ["the same answer while others wait", "RESUME_ALREADY_APPLIED", [answer("a", ALLOW)], [b], [applied("a")]],
      ["another answer beside an open one", "RESUME_ALREADY_APPLIED", [giveUp("a"), answer("b", ALLOW)], [b], [
        applied("a"),
      ]],
      ["applied in an older execution", "UNKNOWN_INTERRUPT", [answer("a", ALLOW)], [], [applied("a", ALLOW, "older")]],
      ["one payload of two", "RESUME_PAYLOAD_INVALID", [answer("a", ALLOW), answer("b", {})], [a, b]],
    ];
  for (const [name, code, entries, values, before] of table) assert.equal(check(entries, values, before), code, name);
});

Deno.test("an accepted answer that is repeated beside open ones is no mistake, and is not sent again", () => {
  const checked = check([answer("a", ALLOW), answer("b", ALLOW)], [permission("b")], [applied("a")]);
  assert.ok(typeof checked !== "string");
  assert.deepEqual(checked.map(({ interruptId }) => interruptId), ["b"]);
});

Deno.test("a repeat is recognized whatever the order of its payload's keys", () => {
  const payload = { x: 1, y: [{ b: 2, a: 3 }] };
  const turned = { y: [{ a: 3, b: 2 }], x: 1 };
  const checked = check([answer("a", turned), answer("b", ALLOW)], [permission("b")], [applied("a", payload)]);
  assert.ok(typeof checked !== "string");
});

Deno.test("a client that answers all that one run asked, and nothing of a later one's, has not heard of that", () => {
  const asked = (by: readonly (readonly [string, string?])[]) =>
    new Map(by.map(([id, askedBy]) => {
      const input = { value: permission(id), sideband: true, expiresAt: null };
      return [id, { ...input, ...(askedBy !== undefined && { askedBy }) }];
    }));
  const misses = (entries: readonly ResumeEntry[], pending: ReturnType<typeof asked>): boolean =>
    missesLater(entries, pending, "now");
  const two = asked([["a", "before.run-1"], ["b", "before.run-2"]]);
  assert.ok(misses([answer("a", ALLOW)], two));
  assert.ok(misses([giveUp("a")], two));
  assert.ok(misses([answer("a", ALLOW)], asked([["a"], ["b", "before.run-2"]])), "the Python adapter asked the first");
  assert.ok(!misses([answer("a", ALLOW), answer("b", ALLOW)], two), "nothing is missing");
  assert.ok(
    !misses([answer("a", ALLOW)], asked([["a", "before.run-1"], ["b", "before.run-1"]])),
    "both were told at once",
  );
  assert.ok(
    !misses([answer("a", ALLOW)], asked([["a", "before.run-1"], ["b", "before.run-2"], ["c", "before.run-1"]])),
  );
  assert.ok(!misses([answer("a", ALLOW)], asked([["a", "before.run-1"], ["b"]])), "nobody knows who asked the second");
  assert.ok(!misses([answer("x", ALLOW)], two), "it answers nothing that waits");
  const here = asked([["a", "before.run-1"], ["b", "now.run-2"]]);
  assert.ok(!misses([answer("a", ALLOW)], here), "this process has not died since it asked");
});
