import { parsePhoneNumberFromString } from "libphonenumber-js/max";
import { bareDigits, homeCode, phoneRule } from "./phone.ts";

/** A number as it can be dialled. */
export interface Reading {
  /** Digits with country code. */
  readonly phone: string;
  /** Its country code, without `+`. */
  readonly country: string;
  /** The country, as ISO 3166 has it; undefined where several share the code and the number does not tell. */
  readonly region: string | undefined;
  readonly isMobile: boolean;
}

/** Why a number is not used, without its digits, and what it may mean. */
export interface Unread {
  readonly problem: string;
  readonly readings: readonly Reading[];
}

/**
 * Reads a number with country code. Of a country that is named, each number of a possible length counts: new ranges may be
 * missing in the library.
 *
 * @returns undefined if no country has it, and if the library reads other digits: it drops the 0 of 6208….
 */
const readWithCode = (digits: string, countries: readonly string[]): Reading | undefined => {
  const parsed = parsePhoneNumberFromString(`+${digits}`);
  if (parsed?.number !== `+${digits}`) return undefined;
  const { countryCallingCode: country, country: region } = parsed;
  const isNamed = country !== homeCode() && countries.includes(country);
  if (!(isNamed ? parsed.isPossible() : parsed.isValid())) return undefined;
  const isMobile = /MOBILE/.test(parsed.getType() ?? "");
  return { phone: digits, country, region, isMobile };
};

/** Reads what follows the code of the stage's country: also with the 0 that stands for it, and with the code twice. */
const readHome = (rest: string, countries: readonly string[]): Reading | undefined => {
  const home = homeCode();
  const spellings = [`${home}${rest}`, `${home}${rest.replace(/^0/, "")}`, rest.startsWith(home) ? rest : ""];
  return spellings.map((digits) => readWithCode(digits, countries)).find((reading) => reading !== undefined);
};

/** Lists what the digits can mean. @param isMarked for a number behind `+`, which has its country code. */
const listReadings = (digits: string, isMarked: boolean, countries: readonly string[]): Reading[] => {
  const home = homeCode();
  const withCode = digits.startsWith(home)
    ? readHome(digits.slice(home.length), countries)
    : readWithCode(digits, countries);
  // a mobile number with the stage's code is complete; most numbers are, and reading one takes 40 µs
  const isComplete = isMarked || (withCode?.country === home && withCode.isMobile);
  const lost = isComplete ? undefined : readWithCode(`${home}${digits}`, countries);
  const readings = [withCode, lost?.isMobile ? lost : undefined].filter((one) => one !== undefined);
  const named = readings.filter(({ country }) => countries.includes(country));
  return named.length === 1 ? named : readings;
};

/** What a spreadsheet puts around or behind the digits: `'`, `="…"`, and the zero decimals of a value. */
const withoutSpreadsheet = (cell: string): string =>
  cell
    .trim()
    .replace(/^="(.*)"$/, "$1")
    .replace(/^'/, "")
    .replace(/^(\+?\d{9,15})[.,]0+$/, "$1");

/** More digits than a number with `00` and country code has, or a whole number with more digits behind it. */
const hasTwoNumbers = (text: string): boolean => {
  const groups = text.match(/\d+/g) ?? [];
  const isWhole = (group: string) =>
    group.length > 9 && listReadings(group.replace(/^0/, homeCode()), false, []).length > 0;
  return groups.join("").length > 17 || groups.slice(0, -1).some(isWhole);
};

const countryNames = new Intl.DisplayNames("en", { type: "region" });

export const nameCountry = ({ country, region }: Pick<Reading, "country" | "region">): string =>
  region ? `${countryNames.of(region)} (${country})` : `country code ${country}`;

const unread = (problem: string, readings: readonly Reading[] = []): Unread => ({ problem, readings });

const readDigits = (digits: string, isMarked: boolean, countries: readonly string[]): Reading | Unread => {
  const readings = listReadings(digits, isMarked, countries);
  const [first, second] = readings;
  if (first && second)
    return unread(
      `phone has two meanings: a number of ${nameCountry(first)}, or one from which Excel removed the leading 0. ` +
        `Write the number with ${homeCode()}, or name its country in the column country`,
      readings,
    );
  return first ?? unread(phoneRule);
};

/**
 * Reads a number as people and spreadsheets write it: with 0, `+` or `00`, with separators, without the 0 that Excel removed.
 *
 * @param countries the country codes that it may have according to its writer; they decide between two meanings.
 */
export const readPhone = (cell: string, countries: readonly string[] = []): Reading | Unread => {
  const text = withoutSpreadsheet(cell);
  if (text === "") return unread(`phone is missing: ${phoneRule.replace("phone must be", "send")}`);
  if (/^\+?\d+([.,]\d+)?e\+?\d+$/i.test(text))
    return unread("phone is in scientific notation: the last digits are lost. Format the column as text");
  if (hasTwoNumbers(text)) return unread("phone has two numbers in one cell. Write one number per line");
  const bare = bareDigits(text);
  if (!/^\d+$/.test(bare)) return unread(phoneRule);
  if (bare.startsWith("0")) return readDigits(`${homeCode()}${bare.slice(1)}`, true, countries);
  return readDigits(bare, /^\W*(\+|00)/.test(text), countries);
};

/**
 * Explains why a number with country code is not sent to, for its sender: it is no number, or has two meanings.
 *
 * @param countries the country codes that the sender is known to mean.
 */
export const explainSubmitted = (phone: string, countries: readonly string[]): string | undefined => {
  const readings = listReadings(phone, false, countries);
  const [first, second] = readings;
  if (first && second)
    return (
      `phone has two meanings: ${first.phone} is a number of ${nameCountry(first)}, and ${second.phone} is one without its ` +
      `country code. Send ${second.phone}; for the other, the operator adds ${first.country} to the sender's countries`
    );
  if (first?.phone === phone) return undefined;
  return first
    ? `phone is no number with this country code. Send ${first.phone}`
    : "phone is a number that no country has. Check its length and its first digits";
};
