/**
 * The default alphabet of 3GPP TS 23.038, 6.2.1, and its extension table, of which each character takes two septets.
 *
 * @see https://www.3gpp.org/dynareport/23038.htm
 */
const basic = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);
const extension = new Set("\f^{}\\[~]|€");

/** `ucs2` is what phones read as UTF-16. */
export type Alphabet = "gsm" | "ucs2";

/** How many septets or 16-bit units one message has, alone and as a part of several (3GPP TS 23.040, 9.2.3.24.1). */
const lengths: Readonly<Record<Alphabet, { readonly alone: number; readonly part: number }>> = {
  gsm: { alone: 160, part: 153 },
  ucs2: { alone: 70, part: 67 },
};

/** The units of each character; undefined if one is not of the GSM alphabet. */
const septetsOf = (characters: readonly string[]): number[] | undefined => {
  const septets = characters.map((character) =>
    basic.has(character) ? 1 : extension.has(character) ? 2 : 0,
  );
  return septets.includes(0) ? undefined : septets;
};

/** Counts the SMS of a text. No character is divided between two: an escape or a surrogate goes where its second half goes. */
export const countParts = (text: string): { readonly alphabet: Alphabet; readonly parts: number } => {
  const characters = [...text];
  const septets = septetsOf(characters);
  const alphabet = septets ? "gsm" : "ucs2";
  const { alone, part } = lengths[alphabet];
  const units = septets ?? characters.map((character) => character.length);
  if (units.reduce((sum, unit) => sum + unit, 0) <= alone) return { alphabet, parts: 1 };
  let parts = 1;
  let used = 0;
  for (const unit of units) {
    if (used + unit > part) {
      parts += 1;
      used = 0;
    }
    used += unit;
  }
  return { alphabet, parts };
};

/** What word processors write, and the letters of GSM for it. */
const marks: readonly (readonly [RegExp, string])[] = [
  [/[\u2018-\u201b\u2032]/g, "'"],
  [/[\u201c-\u201f\u2033«»]/g, '"'],
  [/[\u2010-\u2015\u2212\u2022]/g, "-"],
  [/\u2026/g, "..."],
  [/[\t\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "],
  [/[\u00ad\u200b\u2060\ufeff]/g, ""],
];

/** Replaces typographic marks if the text then needs fewer SMS. Letters stay, because they are parts of names. */
export const withGsmMarks = (text: string): string => {
  const plain = marks.reduce((changed, [mark, letter]) => changed.replace(mark, letter), text);
  return countParts(plain).parts < countParts(text).parts ? plain : text;
};
