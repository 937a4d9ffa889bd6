/** The tally that knows a text again without keeping it (docs/protocol.md, "Thread files"). */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { createTally, repeatedLength } from "../../src/mapping/tally.ts";
import type { ShownText } from "../../src/thread/thread.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const shownOf = (text: string): ShownText => ({ length: text.length, digest: sha256(text) });
/** More than a tally keeps as it is. */
const LONG = "The quick brown fox. ".repeat(5_000);

Deno.test("tally: nothing added is nothing shown, and begins every text", () => {
  assert.equal(createTally().shown(), undefined);
  assert.ok(createTally().startsOff("anything"));
  assert.ok(createTally().startsOff(""));
});

const TEXTS: ReadonlyArray<[string, readonly string[]]> = [
  ["short", ["Hello ", "there."]],
  ["long", [LONG, "the end"]],
  ["long in small pieces", LONG.match(/.{1,997}/g) ?? []],
  ["a pair cut in two where the kept part ends", ["x".repeat(65_535), "\ud83d", "\ude00", "y".repeat(70_000)]],
];

for (const [what, pieces] of TEXTS) {
  Deno.test(`tally: ${what} text is known by what it begins with`, () => {
    const tally = createTally();
    pieces.forEach((piece) => tally.add(piece));
    const all = pieces.join("");
    assert.deepEqual(tally.shown(), shownOf(all));
    assert.equal(tally.length, all.length);
    assert.ok(tally.startsOff(all));
    assert.ok(tally.startsOff(`${all} and more`));
    assert.ok(!tally.startsOff(all.slice(0, -1)));
    assert.ok(!tally.startsOff(`X${all.slice(1)}`));
    assert.ok(!tally.startsOff(`${all.slice(0, -1)}#more`));
  });
}

Deno.test("tally: however a text is cut into pieces, it is the same", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" }), { maxLength: 8 }), fc.string(), (pieces, more) => {
      const tally = createTally();
      pieces.forEach((piece) => tally.add(piece));
      const all = pieces.join("");
      assert.deepEqual(tally.shown(), all === "" ? undefined : shownOf(all));
      assert.equal(tally.startsOff(more), more.startsWith(all));
      assert.ok(tally.startsOff(all + more));
    }),
    { seed: 7 },
  );
});

const REPEATS: ReadonlyArray<[string, string, readonly ShownText[], readonly string[], number]> = [
  ["no earlier text", "One.", [], [], 0],
  ["all earlier text", "One.Two.", [shownOf("One.")], [], 4],
  ["nothing but earlier text", "One.", [shownOf("One.")], [], 4],
  ["the text of several runs, in their order", "One.Two.Three.", [shownOf("One."), shownOf("Two.")], [], 8],
  ["the text of several runs in another order", "Two.One.", [shownOf("One."), shownOf("Two.")], [], 0],
  ["a part of the earlier text", "One", [shownOf("One.")], [], 0],
  ["the text of the first of two runs", "One.More.", [shownOf("One."), shownOf("Two.")], [], 0],
  ["another text of the same length", "Won.Two.", [shownOf("One.")], [], 0],
  ["a text that the Python adapter has shown", "One.Two.", [], [sha256("One.")], 4],
  ["the longest of several such texts", "One.Two.Three.", [], [sha256("One."), sha256("One.Two.")], 8],
  ["such a text with pairs in it", "a\ud83d\ude00b and more", [], [sha256("a\ud83d\ude00b")], 4],
  ["a text that it has not shown", "Two.", [], [sha256("One.")], 0],
  ["such a text beyond what is searched", `${"x".repeat(40_000)}!`, [], [sha256("x".repeat(40_000))], 0],
  ["digests beside texts of our own, which count alone", "One.Two.", [shownOf("One.")], [sha256("One.Two.")], 4],
];

for (const [what, text, earlier, digests, length] of REPEATS) {
  Deno.test(`repeat: ${what}`, () => assert.equal(repeatedLength(text, earlier, digests), length));
}
