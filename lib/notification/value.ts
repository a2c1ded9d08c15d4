import * as z from "zod/mini";

/*
 * Schemas for template values. Values come from other systems and from people, so they must not change the formatting
 * or the lines of the surrounding text.
 */

/** Joiners of emoji and of letters that are not Latin, and the tags of a flag: without them, one sign becomes several. */
const joiner =
  /(?<=[[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]--\p{Script=Latin}])[\u200c\u200d](?=[[\p{L}\p{M}\p{Extended_Pictographic}]--\p{Script=Latin}])|(?<=\u{1f3f4}[\u{e0020}-\u{e007f}]*)[\u{e0020}-\u{e007f}]/v;

/** WhatsApp formatting characters, which cannot be escaped, and other invisible characters. */
const unwanted = new RegExp(`(?!${joiner.source})[*_~\`\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}]`, "gv");

const graphemes = new Intl.Segmenter("id", { granularity: "grapheme" });

/** What a value must be, for the operator, and one that is right. */
export const valueRules = z.registry<{ readonly rule: string; readonly example: string }>();

const clean = (text: string): string => text.replace(/\s+/gu, " ").replace(unwanted, "").trim();

const limit = (text: string, maxLength: number): string => {
  const characters = Array.from(graphemes.segment(text), ({ segment }) => segment);
  return characters.length > maxLength
    ? `${characters
        .slice(0, maxLength - 1)
        .join("")
        .trimEnd()}…`
    : text;
};

/** Text on one line, truncated with `…` after a character as people see it. Blank text is invalid. */
export const words = (maxLength: number) =>
  z
    .pipe(
      z.pipe(
        z.string(),
        z.transform((text: string) => limit(clean(text), maxLength)),
      ),
      z.string().check(z.minLength(1)),
    )
    .register(valueRules, { rule: `text of up to ${maxLength} characters`, example: "contoh" });

/** A whole number from 0, as a number or as digits. */
export const count = z
  .pipe(
    z.union([z.int(), z.pipe(z.string().check(z.regex(/^\d{1,6}$/)), z.transform(Number))]),
    z.int().check(z.minimum(0), z.maximum(999_999)),
  )
  .register(valueRules, { rule: "a whole number up to 999999", example: "3" });

/** A code of digits or capital letters, given as text and sent unchanged. */
export const code = z
  .string()
  .check(z.regex(/^[0-9A-Z]{4,12}$/))
  .register(valueRules, { rule: "4 to 12 digits or capital letters", example: "1234" });

/** A date `YYYY-MM-DD`, formatted as `Senin, 2 November 2026`. */
export const day = z
  .pipe(
    z.string().check(
      z.regex(/^\d{4}-\d\d-\d\d$/),
      z.refine((text) => !Number.isNaN(Date.parse(text))),
    ),
    z.transform((text: string) =>
      new Date(text).toLocaleDateString("id-ID", {
        weekday: "long",
        day: "numeric",
        month: "long",
        year: "numeric",
        timeZone: "UTC",
      }),
    ),
  )
  .register(valueRules, { rule: "a date YYYY-MM-DD", example: "2026-12-31" });

/** A time of day `HH:MM`, formatted the Indonesian way: `09.30`. */
export const clock = z
  .pipe(
    z.string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/)),
    z.transform((text: string) => text.replace(":", ".")),
  )
  .register(valueRules, { rule: "a time HH:MM", example: "08:30" });

export const address = z
  .string()
  .check(
    z.maxLength(2_048),
    z.refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text)),
  )
  .register(valueRules, { rule: "an http or https address", example: "https://example.org/" });
