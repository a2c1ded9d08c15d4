import { basename } from "node:path/posix";

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

/** `UTF-8''na%C3%AFve.txt` (RFC 8187); undefined for anything else. */
const decodeExtended = (value: string): string | undefined => {
  const [, charset = "", encoded = ""] = /^([\w-]+)'[^']*'(.*)$/.exec(value) ?? [];
  if (!/^(utf-8|iso-8859-1)$/i.test(charset)) return undefined;
  const bytes = Buffer.from(
    encoded.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
  return bytes.toString(/^utf/i.test(charset) ? "utf8" : "latin1");
};

/** A token, or a string in quotes within which a backslash makes the next character literal. */
const parameter = /;\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;"\s]*))/g;

const fromDisposition = (disposition: string): string | undefined => {
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, token = ""] of disposition.matchAll(parameter)) {
    const value = quoted === undefined ? token : quoted.replace(/\\(.)/g, "$1");
    if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value);
  }
  const extended = decodeExtended(parameters.get("filename*") ?? "");
  return extended ?? fromUtf8(parameters.get("filename") ?? "");
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
  (disposition && sanitizeFileName(fromDisposition(disposition) ?? "")) ||
  sanitizeFileName(url.pathname.endsWith("/") ? "" : decodePercent(url.pathname));
