import { expect, test } from "vitest";
import { guideNames } from "../../infra/docs/guide.ts";
import { readGuideText } from "../steps/shell-lines.ts";

/** What the guides do not say, and what they say instead. */
const synonyms: readonly (readonly [RegExp, string])[] = [
  [/\brekaman\b/i, "data"],
  [/\bia\b/i, "the noun: ia is for people"],
  [/\bponsel\b/i, "telepon"],
  [/\bperamban\b/i, "browser"],
  [/\bpassphrase\b/i, "frasa sandi"],
  [/\busername\b/i, "nama pengguna"],
  [/(?<!idempotency[ -])\bkey\b/i, "kunci"],
  [/\brole\b/i, "peran"],
  [/\bfunctions?\b/i, "fungsi"],
  [/\bmaintenance\b/i, "pemeliharaan"],
  [/\basal\b/i, "origin"],
  [/\b(gateway|API) pesan\b/i, "API perpesanan"],
  [/\bsuasana hati\b/i, "mode"],
];

/** The text without code, targets of links and the tables of the bench, which are in English. */
const readProse = (name: string): string =>
  readGuideText("id", name)
    .replace(/<!-- npm run [\s\S]*?<!-- end[^>]*-->/g, "")
    .replace(/^```[\s\S]*?^```/gm, "")
    .replace(/`[^`]*`|\]\([^)]*\)/g, "");

test.each(guideNames)("the Indonesian guide %s uses one word for each term", (name) => {
  const prose = readProse(name);
  for (const [other, word] of synonyms) expect([other.exec(prose)?.[0], word]).toEqual([undefined, word]);
});
