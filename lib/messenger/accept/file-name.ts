import { basename } from "node:path/posix";
import { parse } from "content-disposition";

const maxCharacters = 200;

/** Node decodes headers as Latin-1, but many servers send UTF-8. */
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

/** Truncates the stem, so that the extension still identifies the type. */
const shorten = (name: string): string => {
  if (name.length <= maxCharacters) return name;
  const [extension = ""] = /\.[^.]{1,16}$/.exec(name) ?? [];
  // the cut may split a surrogate pair
  return name.slice(0, maxCharacters - extension.length).replace(/[\ud800-\udbff]$/, "") + extension;
};

/**
 * Makes a file name safe to store and to show: removes folders, control characters and bidirectional formatting
 * (`annex\u202efdp.exe` is shown as `annexexe.pdf`), and shortens it to 200 characters.
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
 * Returns the name of a downloaded file, from its Content-Disposition (RFC 6266: `filename*` before `filename`) or the
 * last segment of its URL's path.
 */
export const findFileName = (disposition: string | undefined, url: URL): string | undefined =>
  (disposition && sanitizeFileName(fromUtf8(parse(disposition).parameters.filename ?? ""))) ||
  sanitizeFileName(url.pathname.endsWith("/") ? "" : decodePercent(url.pathname));
