/** Digits with country code: the form in which numbers are stored. */
const digits = /^[1-9]\d{7,14}$/;

/** The suffix of a person's address on the platform; groups have another one. */
const suffix = /@s\.whatsapp\.net$/i;

const rule =
  "phone must be a number with country code: 8 to 15 digits without + or leading 0, for example 6281234567890";

/** Removes what people type or paste besides digits: separators, dashes, invisible characters, `+` or `00` in front. */
const bareDigits = (text: string): string =>
  text
    .replace(suffix, "")
    .replace("(0)", "")
    .replace(/[\s\p{Pd}\p{Cf}()./]/gu, "")
    .replace(/^(\+|00)/, "");

/** Reads a number as people write it in Indonesia, where a leading 0 stands for 62. @returns any other text without separators. */
export const readLocalNumber = (text: string): string => bareDigits(text).replace(/^0/, "62");

const normalize = (text: string): string | undefined => {
  const bare = bareDigits(text);
  return digits.test(bare) ? bare : undefined;
};

export const isPhone = (text: string): boolean => digits.test(text);

export const withoutSuffix = (phone: string): string => phone.replace(suffix, "");

/** Masks all but the first four and last two digits; anything but a number is masked as a whole. */
export const maskPhone = (phone: string): string =>
  digits.test(phone)
    ? `${phone.slice(0, 4)}${"•".repeat(phone.length - 6)}${phone.slice(-2)}`
    : "•".repeat(Math.min(phone.length, 15));

export const explainPhone = (input: unknown): string => {
  if (input === undefined) return `phone is missing: ${rule.replace("phone must be", "send")}`;
  if (typeof input === "number") return `${rule}, in quotes`;
  if (typeof input !== "string") return rule;
  const normalized = normalize(input);
  if (normalized) return `${rule}; send ${normalized}`;
  if (/@g\.us$/i.test(input)) return "phone must be the number of one person; groups are not supported";
  if (/@(hosted\.)?lid$/i.test(input)) return `${rule}; a LID is not a number`;
  if (input.includes("@") && !suffix.test(input)) return `${rule}; only @s.whatsapp.net may follow it`;
  return /^0/.test(input) ? `${rule}; replace the leading 0 with the country code` : rule;
};
