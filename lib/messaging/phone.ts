import { findSetting } from "#lib/config.ts";

/** Digits with country code: the form in which numbers are stored. */
const digits = /^[1-9]\d{7,14}$/;

/** The suffix of a person's address on the platform; groups have another one. */
const suffix = /@s\.whatsapp\.net$/i;

export const phoneRule =
  "phone must be a number with country code: 8 to 15 digits without + or leading 0, for example 6281234567890";

/** The country code of the stage, for which a leading 0 stands. */
export const homeCode = (): string => findSetting("COUNTRY_CODE");

/** Removes what people type or paste besides digits: separators, dashes, invisible characters, `+` or `00` in front. */
export const bareDigits = (text: string): string =>
  text
    .replace(suffix, "")
    .replace("(0)", "")
    .replace(/[\s\p{Pd}\p{Cf}()./]/gu, "")
    .replace(/^(\+|00)/, "");

/** Reads a number that a phone or a gateway has reported, or that is searched for. @returns any other text without separators. */
export const readLocalNumber = (text: string): string => bareDigits(text).replace(/^0/, homeCode());

/** A whole number with decimals, or more than one: without the mark in between it is another person's. */
const joined = /^\W*\d{9,}[.,]\d+$|\//;

const normalize = (text: string): string | undefined => {
  const home = homeCode();
  const bare = bareDigits(text).replace(new RegExp(`^${home}0`), home);
  return digits.test(bare) && !joined.test(text.replace(suffix, "")) ? bare : undefined;
};

export const isPhone = (text: string): boolean => digits.test(text);

export const withoutSuffix = (phone: string): string => phone.replace(suffix, "");

/** Masks all but the first four and last two digits; anything but a number is masked as a whole. */
export const maskPhone = (phone: string): string =>
  digits.test(phone)
    ? `${phone.slice(0, 4)}${"•".repeat(phone.length - 6)}${phone.slice(-2)}`
    : "•".repeat(Math.min(phone.length, 15));

export const explainPhone = (input: unknown): string => {
  if (input === undefined) return `phone is missing: ${phoneRule.replace("phone must be", "send")}`;
  if (typeof input === "number") return `${phoneRule}, in quotes`;
  if (typeof input !== "string") return phoneRule;
  const normalized = normalize(input);
  if (normalized) return `${phoneRule}; send ${normalized}`;
  if (/@g\.us$/i.test(input)) return "phone must be the number of one person; groups are not supported";
  if (/@(hosted\.)?lid$/i.test(input)) return `${phoneRule}; a LID is not a number`;
  if (input.includes("@") && !suffix.test(input)) return `${phoneRule}; only @s.whatsapp.net may follow it`;
  return /^0/.test(input) ? `${phoneRule}; replace the leading 0 with the country code` : phoneRule;
};
