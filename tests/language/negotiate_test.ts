import assert from "node:assert/strict";
import type { Language } from "../../src/language/messages.ts";
import { negotiate } from "../../src/language/negotiate.ts";

/** [preferred, Accept-Language, the language that is chosen] */
type Case = readonly [preferred: string | undefined, header: string | null, chosen: Language];

const unknown = (count: number): string[] => Array.from({ length: count }, () => "xx");

const TABLE: Readonly<Record<string, readonly Case[]>> = {
  "a request without any wish gets English": [
    [undefined, null, "en"],
    [undefined, "", "en"],
    ["", "", "en"],
    [" ", " ", "en"],
  ],
  "every language of the service can be asked for in either place": [
    ...(["en", "zh", "es", "fr", "de", "ja", "pt"] as const).flatMap((language): Case[] => [
      [language, null, language],
      [undefined, language, language],
    ]),
  ],
  "the preferred language wins over the header": [
    ["de", "fr", "de"],
    ["en", "fr, de;q=0.9", "en"],
    ["ja", "ja;q=0, fr", "ja"],
  ],
  "case, '_' and surrounding space are forgiven": [
    ["DE", null, "de"],
    ["zh_CN", null, "zh"],
    [" Fr_ca ", null, "fr"],
    [undefined, "PT_br", "pt"],
    [undefined, "  Ja  ", "ja"],
    [undefined, "fr;q=0.1, DE ; Q = 0.9", "de"],
  ],
  "an unknown preferred language falls through to the header, then to English": [
    ["xx", "es", "es"],
    ["it-IT", "xx, pt", "pt"],
    ["xx", "it, ko;q=0.9", "en"],
    ["xx", null, "en"],
  ],
  "a region, script or variant falls back to its language": [
    ["pt-BR", null, "pt"],
    ["zh-Hant-TW", null, "zh"],
    [undefined, "de-CH-1996", "de"],
    [undefined, "it-CH, fr-CH;q=0.8", "fr"],
  ],
  "a tag that only begins like a language is not that language": [
    ["deu", null, "en"],
    ["german", "fr", "fr"],
    [undefined, "esp, jap", "en"],
  ],
  "the highest q-value wins, wherever it stands": [
    [undefined, "fr;q=0.2, de;q=0.9, es;q=0.5", "de"],
    [undefined, "fr;q=0.999, de", "de"],
    [undefined, "fr;q=0.10,de;q=0.9", "de"],
    [undefined, "en;q=0.5, es;q=0.501", "es"],
    [undefined, "fr;level=1;q=0.3, de;q=0.4", "de"],
  ],
  "equal q-values keep the order of the header": [
    [undefined, "ja, zh", "ja"],
    [undefined, "zh;q=0.5, ja;q=0.5", "zh"],
    [undefined, "es;q=1.0, fr;q=1, de", "es"],
  ],
  "q=0 excludes a range": [
    [undefined, "de;q=0, fr;q=0.1", "fr"],
    [undefined, "de;q=0.000", "en"],
    [undefined, "xx, ja;q=0.0", "en"],
  ],
  "a range whose q-value is no number from 0 to 1 is ignored": [
    [undefined, "de;q=abc", "en"],
    [undefined, "de;q=-1", "en"],
    [undefined, "de;q=5, fr;q=0.1", "fr"],
    [undefined, "de;q=1.001, fr;q=0.1", "fr"],
    [undefined, "de;q=1e0, fr;q=0.1", "fr"],
    [undefined, "de;q=0x1, fr;q=0.1", "fr"],
    [undefined, "de;q=Infinity, fr;q=0.1", "fr"],
    [undefined, "de;q=, fr;q=0.1", "fr"],
    [undefined, "de;q, fr;q=0.1", "fr"],
    [undefined, "de;q==1, fr;q=0.1", "fr"],
    [undefined, 'de;q="1", fr;q=0.1', "fr"],
    [undefined, "de;q=abc;q=1, fr;q=0.1", "fr"],
    [undefined, "de;q=1.000, fr;q=0.9", "de"],
    [undefined, "de;q=1., fr;q=0.9", "de"],
    [undefined, "de;q=.5, fr;q=0.9", "fr"],
    [undefined, "de;qq=5, fr;q=0.9", "de"],
  ],
  "the wildcard names no language of its own": [
    [undefined, "*", "en"],
    [undefined, "*, de;q=0.1", "de"],
    [undefined, "xx, *;q=0.5", "en"],
  ],
  "garbage is passed over": [
    [undefined, ",,,;;;===", "en"],
    [undefined, ";q=1", "en"],
    [undefined, "-,_,-de", "en"],
    [undefined, ",; ,,fr,,", "fr"],
    [undefined, "de;q=1.2.3, fr;q=0.1", "fr"],
    [undefined, "de;q=..., fr;q=0.1", "fr"],
    [undefined, "__proto__, constructor, length, 0", "en"],
    ["__proto__", "\u0000\uffff\ud800", "en"],
    ["toString", "{}[]\"'<script>", "en"],
  ],
  "only the first 64 ranges of a header count": [
    [undefined, [...unknown(63), "fr"].join(), "fr"],
    [undefined, [...unknown(64), "fr"].join(), "en"],
    [undefined, ["de;q=0.1", ...unknown(63), "fr"].join(), "de"],
  ],
  "a very long header does no harm": [
    [undefined, ["de", ...unknown(500_000)].join(), "de"],
    [undefined, [...unknown(500_000), "de"].join(), "en"],
    [undefined, ",".repeat(1_000_000), "en"],
    [undefined, "de" + "-x".repeat(500_000), "de"],
    [undefined, "d".repeat(1_000_000), "en"],
    [undefined, `de;q=0.${"1".repeat(1_000_000)}`, "de"],
    [undefined, `de${";".repeat(1_000_000)}`, "de"],
    [undefined, `de;${" ".repeat(1_000_000)}`, "de"],
    [undefined, `xx;q=1${" ".repeat(1_000_000)}x, de`, "de"],
    ["x".repeat(1_000_000), "fr", "fr"],
  ],
};

for (const [behaviour, cases] of Object.entries(TABLE)) {
  Deno.test(behaviour, () => {
    for (const [preferred, header, chosen] of cases) {
      const wish = `preferred ${JSON.stringify(preferred)?.slice(0, 40)}, header ${
        JSON.stringify(header).slice(0, 80)
      }`;
      assert.equal(negotiate(preferred, header), chosen, wish);
    }
  });
}
