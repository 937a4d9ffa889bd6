import assert from "node:assert/strict";
import { ADVICE_EN } from "../../console/state/advice_en.ts";
import { ADVICE_ZH } from "../../console/state/advice_zh.ts";
import { wordsFor } from "../../console/state/words.ts";
import { EN } from "../../console/state/words_en.ts";
import { ZH } from "../../console/state/words_zh.ts";
import { ERRORS } from "../../src/errors.ts";

Deno.test("every sentence is there in both languages, with the same places to fill", () => {
  const places = (sentence: string): string[] => (sentence.match(/\{\w+\}/g) ?? []).sort();
  assert.deepEqual(Object.keys(ZH), Object.keys(EN));
  for (const [key, sentence] of Object.entries(EN)) {
    assert.deepEqual(places(ZH[key as keyof typeof ZH]), places(sentence), key);
  }
});

Deno.test("every error of the service comes with advice, in both languages", () => {
  for (const code of Object.keys(ERRORS)) {
    assert.ok(Object.hasOwn(ADVICE_EN, code) && Object.hasOwn(ADVICE_ZH, code), code);
  }
  assert.deepEqual(Object.keys(ADVICE_ZH), Object.keys(ADVICE_EN));
});

Deno.test("places are filled; languages without a table of the page are served in English", () => {
  assert.equal(wordsFor("en").say("timeLeft", { time: "1:00" }), "Time left: 1:00");
  assert.equal(wordsFor("ja").say("send"), EN.send);
  assert.equal(wordsFor("zh").say("send"), ZH.send);
});

Deno.test("a code that nobody knows gets general advice, whatever it is called", () => {
  for (const code of [undefined, "NEWS", "toString", "__proto__"]) {
    assert.equal(wordsFor("en").advise(code), ADVICE_EN.OTHER, String(code));
  }
});
