/** The page's own sentences, in the language of the settings where there is a table for it, else in English. Pure. */
import { ADVICE_EN, type AdviceKey } from "./advice_en.ts";
import { ADVICE_ZH } from "./advice_zh.ts";
import type { LanguageTag } from "./fields.ts";
import { EN, type WordKey } from "./words_en.ts";
import { ZH } from "./words_zh.ts";

export type Say = (key: WordKey, params?: Readonly<Record<string, string | number>>) => string;

export interface Words {
  /** Language of the page, for `lang`. */
  readonly tag: "en" | "zh";
  readonly say: Say;
  /** What to do about an error code. */
  readonly advise: (code: string | undefined) => string;
}

/** The words for a language. */
export function wordsFor(language: LanguageTag): Words {
  const tag = language === "zh" ? "zh" : "en";
  const [table, advice] = tag === "zh" ? [ZH, ADVICE_ZH] : [EN, ADVICE_EN];
  return {
    tag,
    say: (key, params = {}) => fill(table[key], params),
    advise: (code = "") => advice[Object.hasOwn(advice, code) ? code as AdviceKey : "OTHER"],
  };
}

function fill(sentence: string, params: Readonly<Record<string, string | number>>): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole));
}
