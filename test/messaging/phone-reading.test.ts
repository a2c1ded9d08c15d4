import { describe, expect, test } from "vitest";
import { explainPhone } from "#lib/messaging/phone.ts";
import { explainSubmitted, readPhone } from "#lib/messaging/phone-reading.ts";

/*
 * What a number is that people, spreadsheets and programs have written. Numbers are invented.
 */

const read = (text: string, countries?: string[]) => {
  const found = readPhone(text, countries);
  return "phone" in found ? found.phone : found.problem;
};

test.each([
  ["the leading 0", "081200000001", "6281200000001"],
  ["+", "+62 812-0000-0001", "6281200000001"],
  ["00", "006281200000001", "6281200000001"],
  ["the 0 behind the country code", "6281200000001".replace("62", "620"), "6281200000001"],
  ["the 0 behind + and the country code", "+62 0812-0000-001", "628120000001"],
  ["(0)", "+62 (0)812-0000-002", "628120000002"],
  ["the code in parentheses", "(+62) 0812 0000 003", "628120000003"],
  ["00 and 0", "00620812 0000 004", "628120000004"],
  ["the country code twice", "6262812 0000 005", "628120000005"],
  ["the country code behind a 0", "06281200000001", "6281200000001"],
  ["+ before the 0", "+0812 0000 0001", "6281200000001"],
  ["the 0 that Excel removed", "8123456789", "628123456789"],
  ["the 0 that Excel removed, where no country has the code", "85712345678", "6285712345678"],
  ["zero decimals", "6281200000001.0", "6281200000001"],
  ["zero decimals behind a comma", "081200000001,00", "6281200000001"],
  ["zero decimals, without the 0", "8123456789.0", "628123456789"],
  ["an apostrophe", "'081200000001", "6281200000001"],
  ["a formula", '="081200000001"', "6281200000001"],
  ["dots and slashes as separators", "0812.0000/0001", "6281200000001"],
  ["invisible marks", "\u202a081200000001\u202c\u00a0", "6281200000001"],
  ["a landline", "(021) 5550 1234", "622155501234"],
  ["+ of another country", "+81 3 1234 5678", "81312345678"],
  ["00 of a country that drops no 0", "0039 06 1234 5678", "390612345678"],
])("a number with %s has one meaning", (_, text, phone) => {
  expect(read(text)).toBe(phone);
});

test.each([
  ["two numbers between which a slash is", "08120000104/5", /two numbers in one cell/],
  ["a range", "08120000104-5", /two numbers in one cell/],
  ["two numbers with a blank", "081200000001 081200000002", /two numbers in one cell/],
  ["two numbers with words", "081200000001 atau 081200000002", /two numbers in one cell/],
  ["two grouped numbers", "0812-0000-0001, 0812-0000-0002", /two numbers in one cell/],
  ["other decimals than zeros", "6281200000001.5", /two numbers in one cell/],
  ["scientific notation", "6,28120E+12", /scientific notation: the last digits are lost/],
  ["scientific notation with a point", "8.12E11", /scientific notation/],
  ["a landline of Japan or a number without 0", "81312345678", /two meanings: .*Japan \(81\).*Excel removed/],
  ["another landline of Japan", "81234567890", /two meanings: .*Japan/],
  ["a mobile number of Korea", "82112345678", /two meanings: .*South Korea \(82\)/],
  ["too many digits", "81312345678901", /8 to 15 digits/],
  ["too few digits", "081234", /8 to 15 digits/],
  ["letters", "0812O0000001", /8 to 15 digits/],
  ["nothing", "", /phone is missing/],
])("a cell with %s is rejected, and the sentence names the cause without digits of it", (_, text, cause) => {
  expect(read(text)).toMatch(cause);
  expect(text && read(text)).not.toContain(text || "x");
});

test("the country that a line names decides between two meanings", () => {
  expect([read("81312345678", ["81"]), read("81312345678", ["62"])]).toEqual([
    "81312345678",
    "6281312345678",
  ]);
});

describe("a number of the API", () => {
  test.each(["6281200000001", "622155501234", "6591234567", "12025550123", "390612345678"])(
    "%s is sent to, because it is a number of its country and of no other",
    (phone) => {
      expect(explainSubmitted(phone, [])).toBeUndefined();
    },
  );

  test.each([
    ["81312345678", /81312345678 is a number of Japan \(81\), and 6281312345678 is one without/],
    ["82112345678", /82112345678 is a number of South Korea \(82\), and 6282112345678 is/],
    ["81200000001", /no number with this country code\. Send 6281200000001$/],
    ["6208120000001", /no number with this country code\. Send 628120000001$/],
    ["62812345", /a number that no country has/],
    ["628123456789012", /a number that no country has/],
    ["999123456789", /a number that no country has/],
  ])("%s is not sent to, and the answer says what it can be", (phone, words) => {
    expect(explainSubmitted(phone, [])).toMatch(words);
  });

  test("a number with two meanings is sent to in a country that the sender names, and in no other", () => {
    expect(explainSubmitted("81312345678", ["65", "81"])).toBeUndefined();
    expect(explainSubmitted("81312345678", ["82"])).toMatch(/two meanings/);
    // a range that the library does not know yet
    expect(explainSubmitted("81200000001", ["81"])).toBeUndefined();
  });

  test.each(["6281200000001.0", "+6281200000001,0", "6281200000001/2", "628120000001.50"])(
    "the answer to %s suggests no other number",
    (phone) => {
      expect(explainPhone(phone)).not.toMatch(/; send \d/);
    },
  );

  test("the answer to a 0 behind the country code suggests the number without it", () => {
    expect(explainPhone("+62 0812-0000-001")).toMatch(/; send 628120000001$/);
  });
});
