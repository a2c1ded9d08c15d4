import { basename } from "node:path/posix";
import { parse } from "content-disposition";

const maxCharacters = 200;

/** Headers arrive as Latin-1; many servers write UTF-8 into them all the same. */
const fromUtf8 = (text: string): string => {
  if (/[^\0-\xff]/.test(text)) return text;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(text, "latin1"));
  } catch {
    return text;
  }
};

const decodePercent = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Cuts the stem, so that the receiver's device still knows what the file is. */
const shorten = (name: string): string => {
  if (name.length <= maxCharacters) return name;
  const [extension = ""] = /\.[^.]{1,16}$/.exec(name) ?? [];
  // a cut may fall between the halves of a surrogate pair
  return name.slice(0, maxCharacters - extension.length).replace(/[\ud800-\udbff]$/, "") + extension;
};

/**
 * A name that is safe to store and to show: no folders, no control characters, none of the marks that turn
 * the direction of writing (`annex\u202efdp.exe` shows as `annexexe.pdf`), at most 200 characters.
 *
 * @returns undefined if nothing is left.
 */
export const sanitizeFileName = (name: string): string | undefined => {
  const plain = name
    .toWellFormed()
    .normalize("NFC")
    .replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu, "")
    .replaceAll("\\", "/");
  const last = basename(plain).trim();
  return /^\.*$/.test(last) ? undefined : shorten(last);
};

/**
 * What a downloaded file is called: by its Content-Disposition (RFC 6266: `filename*` before `filename`),
 * else by the last segment of its URL's path.
 */
export const findFileName = (disposition: string | undefined, url: URL): string | undefined =>
  (disposition && sanitizeFileName(fromUtf8(parse(disposition).parameters.filename ?? ""))) ||
  sanitizeFileName(url.pathname.endsWith("/") ? "" : decodePercent(url.pathname));
