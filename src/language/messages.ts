/** One table of sentences, seven languages. Codes are never translated (docs/protocol.md, "Languages"). */
import { ENGLISH, type MessageKey, type Messages } from "./english.ts";
import { CHINESE } from "./chinese.ts";
import { SPANISH } from "./spanish.ts";
import { FRENCH } from "./french.ts";
import { GERMAN } from "./german.ts";
import { JAPANESE } from "./japanese.ts";
import { PORTUGUESE } from "./portuguese.ts";

export type { MessageKey } from "./english.ts";

export const MESSAGES = {
  en: ENGLISH,
  zh: CHINESE,
  es: SPANISH,
  fr: FRENCH,
  de: GERMAN,
  ja: JAPANESE,
  pt: PORTUGUESE,
} as const satisfies Record<string, Messages>;

export type Language = keyof typeof MESSAGES;
export const LANGUAGES = Object.keys(MESSAGES) as readonly Language[];

/**
 * One sentence in one language, its `{placeholders}` filled from `params`; a placeholder without a value stays as it is.
 */
export function sentence(
  language: Language,
  key: MessageKey,
  params: Readonly<Record<string, string | number>> = {},
): string {
  return MESSAGES[language][key].replace(/\{(\w+)\}/g, (whole, name) => String(params[name] ?? whole));
}
