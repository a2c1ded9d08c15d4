import * as z from "zod/mini";

/*
 * The values of templates. They come from the city's systems and from people: none may change what the text
 * around it looks like, or where its lines end.
 */

/** Marks that the platform reads as formatting, and characters that cannot be seen: there is no way to quote them. */
const unwanted = /[*_~`\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu;

const clean = (text: string): string => text.replace(/\s+/gu, " ").replace(unwanted, "").trim();

const limit = (text: string, maxLength: number): string => {
  const characters = [...text];
  return characters.length > maxLength
    ? `${characters
        .slice(0, maxLength - 1)
        .join("")
        .trimEnd()}…`
    : text;
};

/** A text on one line; what is longer ends in `…`. A blank one counts as missing. */
export const words = (maxLength: number) =>
  z.pipe(
    z.pipe(
      z.string(),
      z.transform((text: string) => limit(clean(text), maxLength)),
    ),
    z.string().check(z.minLength(1)),
  );

/** A whole number from 0, also in digits. */
export const count = z.pipe(
  z.union([z.int(), z.pipe(z.string().check(z.regex(/^\d{1,6}$/)), z.transform(Number))]),
  z.int().check(z.minimum(0), z.maximum(999_999)),
);

/** A code of digits or capitals, given as text: it arrives as it is or not at all. */
export const code = z.string().check(z.regex(/^[0-9A-Z]{4,12}$/));

/** A day `YYYY-MM-DD`, spelled out: `Senin, 2 November 2026`. */
export const day = z.pipe(
  z.string().check(
    z.regex(/^\d{4}-\d\d-\d\d$/),
    z.refine((text) => !Number.isNaN(Date.parse(text))),
  ),
  z.transform((text: string) =>
    new Date(text).toLocaleDateString("id-ID", {
      ...{ weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" },
    }),
  ),
);

/** A time of day `HH:MM`, as Indonesian writes it: `09.30`. */
export const clock = z.pipe(
  z.string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/)),
  z.transform((text: string) => text.replace(":", ".")),
);

/** Where a file is to be fetched from. */
export const address = z.string().check(
  z.maxLength(2_048),
  z.refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text)),
);
