import { basename } from "node:path/posix";
import { decodeExtended, parse } from "content-disposition";
import mime from "mime";

const maxCharacters = 200;

/** Node decodes headers as Latin-1, but many servers send UTF-8. */
export const fromUtf8 = (text: string): string => {
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

/** An encoded word of RFC 2047, which belongs into mail only. */
const encodedWord = /=\?([\w-]+)(?:\*[\w-]+)?\?([bq])\?([^?]*)\?=(?:\s+(?==\?))?/gi;

const decodeWord = (word: string, charset: string, encoding: string, text: string): string => {
  const toByte = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16));
  const quoted = text.replaceAll("_", " ").replace(/=([\da-f]{2})/gi, toByte);
  try {
    const bytes = /b/i.test(encoding) ? Buffer.from(text, "base64") : Buffer.from(quoted, "latin1");
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return word;
  }
};

/** Decodes what clients and servers do to a name: encoded words, percent-encoding, single quotes. */
const decodeName = (name: string): string =>
  decodePercent(
    name
      .trim()
      .replace(/^'(.+)'$/, "$1")
      .replace(/^utf-8'[\w-]*'/i, "")
      .replace(encodedWord, decodeWord),
  );

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
  const plain = decodeName(name)
    .toWellFormed()
    .normalize("NFC")
    .replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu, "")
    .replaceAll("\\", "/");
  const last = basename(plain).trim();
  return /^\.*$/.test(last) ? undefined : shorten(last);
};

/** What servers run to make a file; a phone has nothing that opens one. */
const script = /\.(?:action|ashx|aspx?|cfm|cgi|do|jsf|jspx?|php\d?|phtml|pl)$/i;
const anyExtension = /\.[a-z][a-z\d]{1,7}$/i;

/** Ends a name without an ending, or with that of a script, in that of the file's type: a phone opens a file by its name. */
export const withExtension = (name: string, contentType: string): string => {
  const extension = mime.getExtension(contentType);
  const isScript = script.test(name);
  const isNamed = mime.getType(name) !== null || anyExtension.test(name);
  if (contentType === "application/octet-stream" || !extension || (isNamed && !isScript)) return name;
  return shorten(`${name.replace(script, "")}.${extension}`);
};

/** Some servers quote `filename*`, which is then not decoded by the parser, or leave a `%` in it unencoded. */
const readDisposition = (disposition: string): string => {
  const { filename, "filename*": extended = "" } = parse(disposition).parameters;
  const decoded = decodeExtended(extended.replace(/%(?![\da-f]{2})/gi, "%25"));
  return decoded ?? filename ?? extended.replace(/^[\w-]*'[\w-]*'/, "");
};

/**
 * Returns the name of a downloaded file, from its Content-Disposition (RFC 6266: `filename*` before `filename`) or the
 * last segment of its URL's path.
 */
export const findFileName = (disposition: string | undefined, url: URL): string | undefined =>
  (disposition && sanitizeFileName(fromUtf8(readDisposition(disposition)))) ||
  sanitizeFileName(url.pathname.endsWith("/") ? "" : url.pathname);
