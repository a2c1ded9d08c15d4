import { expect, test } from "vitest";
import { words } from "#lib/notification/value.ts";

const read = (text: string, maxLength: number) => words(maxLength).parse(text);

test.each([
  ["a family", "👨‍👩‍👧‍👦"],
  ["a person with a skin tone and a profession", "👩🏽‍⚕️"],
  ["a flag of two letters", "🇮🇩"],
  ["a flag of tags", "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}"],
  ["a Thai letter with its vowel and tone", "ที่"],
  ["a letter with a combining accent", "e\u0301"],
  ["a Persian letter with a joiner", "ی\u200c"],
])("%s counts as one character and is not divided", (_, sign) => {
  const rest = "خانه";
  const kept = read(`${sign}${rest}`, 5);
  expect(kept.startsWith(sign)).toBe(true);
  expect(read(`${sign}${rest}${rest}`, 2)).toBe(`${sign}…`);
});

test.each([
  ["a zero-width space", "Si\u200bti", "Siti"],
  ["a joiner between Latin letters", "Si\u200dti\u200c", "Siti"],
  ["a joiner without a neighbour", "Siti \u200d😀\u200d", "Siti 😀"],
  ["a mark of direction", "\u202eSiti\u202c", "Siti"],
  ["tags without a flag", "Siti\u{e0041}", "Siti"],
])("%s is removed", (_, text, kept) => expect(read(text, 20)).toBe(kept));
