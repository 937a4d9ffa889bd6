import assert from "node:assert/strict";
import { ENGLISH, type MessageKey } from "../../src/language/english.ts";
import { LANGUAGES, MESSAGES } from "../../src/language/messages.ts";

const KEYS = Object.keys(ENGLISH) as MessageKey[];

function placeholders(text: string): string[] {
  return (text.match(/\{[^}]*\}/g) ?? []).sort();
}

/** Words that a client or operator types as they are; a translation that changes one is wrong. */
function verbatim(text: string): string[] {
  return (text.match(
    /--[a-z-]+|X-Thread-Id|POST \/|application\/json|localhost|bearer|base64|JSON|UTF-8|HTTP|Unicode|RFC \d+|PNG|JPEG|GIF|WebP|iac-code/gi,
  ) ?? []).map((word) => word.toLowerCase()).sort();
}

Deno.test("the service speaks seven languages", () => {
  assert.deepEqual([...LANGUAGES].sort(), ["de", "en", "es", "fr", "ja", "pt", "zh"]);
});

for (const language of LANGUAGES) {
  const messages = MESSAGES[language];

  Deno.test(`${language} has every sentence and no other`, () => {
    assert.deepEqual(Object.keys(messages).sort(), [...KEYS].sort());
  });

  Deno.test(`${language} has no empty sentence`, () => {
    for (const key of KEYS) assert.match(messages[key], /^\S(.*\S)?$/, key);
  });

  Deno.test(`${language} has the placeholders of English in every sentence`, () => {
    for (const key of KEYS) assert.deepEqual(placeholders(messages[key]), placeholders(ENGLISH[key]), key);
  });

  Deno.test(`${language} leaves flags, names and formats untranslated`, () => {
    for (const key of KEYS) assert.deepEqual(verbatim(messages[key]), verbatim(ENGLISH[key]), key);
  });

  Deno.test(`${language} ends a sentence with a full stop exactly where English does`, () => {
    for (const key of KEYS) assert.equal(/[.。]$/.test(messages[key]), ENGLISH[key].endsWith("."), key);
  });

  Deno.test(`${language} leaves a2aExecutionFailed open for a reason to be appended`, () => {
    assert.match(messages.a2aExecutionFailed, /\p{L}$/u);
  });
}

Deno.test("no two languages share a sentence", () => {
  for (const key of KEYS) {
    const sentences = LANGUAGES.map((language) => MESSAGES[language][key]);
    assert.equal(new Set(sentences).size, LANGUAGES.length, `${key}: ${sentences.join(" | ")}`);
  }
});

Deno.test("no language has the same sentence for two keys", () => {
  for (const language of LANGUAGES) {
    const sentences = Object.values(MESSAGES[language]);
    assert.equal(new Set(sentences).size, sentences.length, language);
  }
});
