/** Soft hyphen, zero-width characters, marks of direction. */
const invisible = "\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\ufeff";
const invisibleMarks = new RegExp(`[${invisible}]`, "g");
const padding = new RegExp(`[\\s${invisible}]`);

const trimPadding = (text: string): string => {
  let [start, end] = [0, text.length];
  while (start < end && padding.test(text.charAt(start))) start += 1;
  while (end > start && padding.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
};

/** ASCII without surrounding blanks or a leading `=`: most cells are, and this test takes a tenth of the time. */
const clean = /^([!-<>-~]([ -~]*[!-~])?)?$/;

/** Cleans what surrounds a value: blanks, invisible marks, and `="…"`, with which exports make text of a number. */
export const cleanCell = (text: string): string => {
  if (clean.test(text)) return text;
  const value = trimPadding(text.normalize("NFC"));
  return value.startsWith('="') && value.endsWith('"') ? trimPadding(value.slice(2, -1)) : value;
};

/** Removes invisible marks everywhere. */
export const visibleText = (text: string): string => cleanCell(text).replace(invisibleMarks, "");

/** What exports write where there is no value. */
const none = /^([-–—]+|0|NULL|\\N)$/;

/** Reads what exports write for "none" as blank. */
export const blankIfNone = (value: string): string => (none.test(value) ? "" : value);

/** An error of a spreadsheet's formula, or a number too wide for its column. */
export const isSpreadsheetError = (value: string): boolean =>
  value.startsWith("#") && /^#(N\/A|REF!|VALUE!|NAME\?|DIV\/0!|NUM!|NULL!|SPILL!|CALC!|#+)$/.test(value);

/** Removes what spreadsheets add to a whole number: marks of text, invisible marks, `.0`. */
export const cleanInteger = (value: string): string =>
  visibleText(value.normalize("NFKC"))
    .replace(/^['’‘`]+|['’‘`]+$/g, "")
    .replace(/^(\d+)[.,]0+$/, "$1");

/**
 * Reads an identity number of this length as exports write it: also in groups, with blanks, dots, commas or hyphens. One
 * separator, or a short last group, is not removed: it may be that of decimals.
 */
export const cleanIdentityNumber = (value: string, length: number): string => {
  if (value.length === length && /^\d+$/.test(value)) return value;
  const text = cleanInteger(value);
  const digits = text.replace(/[\s.,-]/g, "");
  const isGrouped = /^\d+(\s+\d+)*$/.test(text) || /^\d+([\s.,-]\d{2,})+[\s.,-]\d{3,}$/.test(text);
  return digits.length === length && isGrouped ? digits : text;
};
