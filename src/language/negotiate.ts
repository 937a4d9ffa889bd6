/** Which language a client gets its sentences in (docs/protocol.md, "Languages"). */
import { type Language, LANGUAGES } from "./messages.ts";

/** Ranges of an Accept-Language header that are looked at; a longer header is an attack, not a wish. */
const MAX_RANGES = 64;

/**
 * The language for a request: `preferred` (iacCode.preferredLanguage) when it names one of ours, else the best of the
 * `Accept-Language` header by q-value, else English. Case and `_` are forgiven, a region falls back to its language.
 */
export function negotiate(preferred: string | undefined, acceptLanguage: string | null): Language {
  return known(preferred) ?? fromHeader(acceptLanguage ?? "") ?? "en";
}

function known(tag: string | undefined): Language | undefined {
  const primary = tag?.trim().toLowerCase().split(/[-_]/, 1)[0];
  return LANGUAGES.find((language) => language === primary);
}

function fromHeader(header: string): Language | undefined {
  const ranges = header.split(",", MAX_RANGES).map((range) => {
    const [tag = "", ...params] = range.split(";");
    return { language: known(tag), quality: qualityOf(params) };
  });
  return ranges
    .filter(({ language, quality }) => language !== undefined && quality > 0)
    .sort((a, b) => b.quality - a.quality)[0]?.language;
}

/** The q-value among a range's parameters, 1 without one; 0, which ignores the range, when it is no number from 0 to 1. */
function qualityOf(params: readonly string[]): number {
  const given = params.map((param) => param.split("=")).find(([name = ""]) => name.trim().toLowerCase() === "q");
  if (!given) return 1;
  const value = given.slice(1).join("=").trim();
  const quality = /^(\d+(\.\d*)?|\.\d+)$/.test(value) ? Number(value) : 0;
  return quality <= 1 ? quality : 0;
}
