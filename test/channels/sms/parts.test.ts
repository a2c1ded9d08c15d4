import { expect, test } from "vitest";
import { countParts, withGsmMarks } from "#lib/channels/sms/parts.ts";

const gsm = "gsm";
const ucs2 = "ucs2";

test.each([
  ["nothing", "", gsm, 1],
  ["160 characters of the default alphabet", "a".repeat(160), gsm, 1],
  ["one more", "a".repeat(161), gsm, 2],
  ["two whole parts", "a".repeat(306), gsm, 2],
  ["one more than two whole parts", "a".repeat(307), gsm, 3],
  ["every accent of the default alphabet", "£¥èéùìòÇØøÅåΔΦΓΛΩΠΨΣΘΞÆæßÉ¤¡ÄÖÑÜ§¿äöñüà@$_", gsm, 1],
  ["line ends", "a\r\n".repeat(53), gsm, 1],
  ["80 characters of the extension table, of two septets each", "€".repeat(80), gsm, 1],
  ["81 of them", "€".repeat(81), gsm, 2],
  // 76 escapes are 152 septets of 153: the 77th starts the next part
  ["153 of them: no escape is divided between two parts", "€".repeat(153), gsm, 3],
  [
    "152 characters, of which the last is followed by an escape",
    `${"a".repeat(152)}€${"a".repeat(152)}`,
    gsm,
    3,
  ],
  ["70 characters beyond the alphabet", "ы".repeat(70), ucs2, 1],
  ["71 of them", "ы".repeat(71), ucs2, 2],
  ["134 of them", "ы".repeat(134), ucs2, 2],
  ["135 of them", "ы".repeat(135), ucs2, 3],
  ["one such character among 69 others", `${"a".repeat(69)}ы`, ucs2, 1],
  ["one such character among 70 others", `${"a".repeat(70)}ы`, ucs2, 2],
  ["the small ç, which GSM has only as a capital", "ç", ucs2, 1],
  ["a backtick, which GSM has not", "`", ucs2, 1],
  ["a tab, which GSM has not", "\t", ucs2, 1],
  ["35 emoji, of two units each", "😀".repeat(35), ucs2, 1],
  ["36 emoji", "😀".repeat(36), ucs2, 2],
  // 33 are 66 units of 67: the 34th starts the next part
  ["67 emoji: no surrogate pair is divided between two parts", "😀".repeat(67), ucs2, 3],
])("%s", (_, text, alphabet, parts) => expect(countParts(text)).toEqual({ alphabet, parts }));

test("any text has as many parts as a phone gets that fills each part by whole characters", () => {
  const pool = ["a", "€", "é", "\n", "ы", "😀"];
  let seed = 20_261_123;
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  for (let run = 0; run < 300; run++) {
    const kinds = pool.slice(0, run % 2 === 0 ? 4 : 6);
    const text = Array.from({ length: next(500) }, () => kinds[next(kinds.length)]).join("");
    const { alphabet, parts } = countParts(text);
    const isWide = /[ы😀]/u.test(text);
    const widthOf = (character: string) => (isWide ? character.length : character === "€" ? 2 : 1);
    const [alone, each] = isWide ? [70, 67] : [160, 153];
    const total = [...text].reduce((sum, character) => sum + widthOf(character), 0);
    expect(alphabet).toBe(isWide ? ucs2 : gsm);
    expect(parts === 1).toBe(total <= alone);
    // a part wastes at most one unit
    if (parts > 1) expect(parts).toBeGreaterThanOrEqual(Math.ceil(total / each));
    if (parts > 1) expect(parts).toBeLessThanOrEqual(Math.ceil(total / (each - 1)));
  }
});

const long = "Yth. Siti, bayar di loket. ".repeat(7);
test.each([
  ["a curly apostrophe", "Jum\u2019at", "Jum'at"],
  ["curly quotation marks", "\u201cPajak\u201d \u201eBumi\u201c «A»", '"Pajak" "Bumi" "A"'],
  ["dashes and a minus", "08.00\u201309.00 \u2014 \u22121", "08.00-09.00 - -1"],
  ["an ellipsis and a bullet", "\u2022 Pajak\u2026", "- Pajak..."],
  ["a blank that does not break, and a tab", "Rp\u00a05.000\tlunas", "Rp 5.000 lunas"],
  ["characters without width", "Pa\u200bjak\u00ad \ufeffBumi", "Pajak Bumi"],
])("%s does not make a text need more SMS", (_, marked, plain) => {
  const text = withGsmMarks(`${long}${marked}`);
  expect(text).toBe(`${long}${plain}`);
  expect(countParts(text)).toEqual({ alphabet: gsm, parts: 2 });
});

test.each([
  ["a text of one SMS", "Jum\u2019at"],
  ["a name with a letter beyond GSM", `${long}Ma\u02bcruf \u0110\u1eb7ng\u2019`],
  ["a text with an emoji", `${long}\u2019😀`],
])("the marks of %s stay, because nothing is saved", (_, text) => expect(withGsmMarks(text)).toBe(text));
