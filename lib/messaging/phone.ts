/** Digits with country code: the form in which a number is stored and handed over. */
const digits = /^[1-9]\d{7,14}$/;

/** The platform's own way to write a person's address; a group's ends otherwise. */
const suffix = /@s\.whatsapp\.net$/i;

const rule =
  "phone must be a number with country code: 8 to 15 digits without + or leading 0, for example 6281234567890";

/** What people put between digits: spaces, dashes of any length, invisible marks of copied text. */
const mend = (text: string): string | undefined => {
  const bare = text
    .replace(suffix, "")
    .replace("(0)", "")
    .replace(/[\s\p{Pd}\p{Cf}()./]/gu, "")
    .replace(/^(\+|00)/, "");
  return digits.test(bare) ? bare : undefined;
};

/** Whether it is a number in the one form that is taken, with or without the platform's suffix. */
export const isPhone = (text: string, { suffixed }: { suffixed: boolean }): boolean =>
  digits.test(suffixed ? text.replace(suffix, "") : text);

export const withoutSuffix = (phone: string): string => phone.replace(suffix, "");

/** A number to be shown: the first four and the last two digits. What is no number shows nothing of itself. */
export const maskPhone = (phone: string): string =>
  digits.test(phone)
    ? `${phone.slice(0, 4)}${"•".repeat(phone.length - 6)}${phone.slice(-2)}`
    : "•".repeat(Math.min(phone.length, 15));

/** How to mend what was sent in place of a number. */
export const explainPhone = (input: unknown): string => {
  if (input === undefined) return `phone is missing: ${rule.replace("phone must be", "send")}`;
  if (typeof input === "number") return `${rule}, in quotes`;
  if (typeof input !== "string") return rule;
  const mended = mend(input);
  if (mended) return `${rule}; send ${mended}`;
  if (/@g\.us$/i.test(input)) return "phone must be the number of one person; groups are not served";
  if (input.includes("@") && !suffix.test(input)) return `${rule}; only @s.whatsapp.net may follow it`;
  return /^0/.test(input) ? `${rule}; put the country code in place of the leading 0` : rule;
};
