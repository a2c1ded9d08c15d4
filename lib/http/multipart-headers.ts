import { isUtf8 } from "node:buffer";
import { badRequest, invalidField } from "#lib/errors/invalid-input.ts";

/** `; name=value` or `; name="value"` (RFC 9110, 5.6.6); a name may end in * (RFC 8187). Allows a `;` alone. */
const parameter = /;[ \t]*(?:([\w-]+\*?)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"\\]+)))?[ \t]*/y;

/** A header such as `form-data; name="photo"`: its value in lower case, and its parameters. */
interface ParameterizedValue {
  readonly value: string;
  /** By name in lower case, without quotes. */
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Parses a header value with parameters. Returns undefined for a value that parsers interpret differently, such as an
 * unclosed quote, text after a quote, or a repeated parameter.
 */
export const findParameters = (header: string): ParameterizedValue | undefined => {
  const semicolon = header.indexOf(";");
  const end = semicolon < 0 ? header.length : semicolon;
  const parameters = new Map<string, string>();
  parameter.lastIndex = end;
  for (let at = end; at < header.length; at = parameter.lastIndex) {
    const match = parameter.exec(header);
    if (!match) return undefined;
    const [, rawName, quoted, token = ""] = match;
    if (rawName === undefined) continue;
    const name = rawName.toLowerCase();
    if (parameters.has(name)) return undefined;
    parameters.set(name, quoted?.replace(/\\(["\\])/g, "$1") ?? token);
  }
  return { value: header.slice(0, end).trim().toLowerCase(), parameters };
};

const octetStream = "application/octet-stream";
const maxNameLength = 100;
/** The limit of most file systems, including those of phones. */
const maxFileNameLength = 255;

/** Charsets of text fields. The parser would accept `base64` as a charset and encode the text with it. */
const charsets = new Map<string, "utf8" | "latin1">([
  ["utf-8", "utf8"],
  ["utf8", "utf8"],
  // the parser decodes it as latin1, so bytes over 127, which are not ASCII, are rejected as ambiguous
  ["us-ascii", "utf8"],
  ["iso-8859-1", "latin1"],
]);

export interface PartHeaders {
  readonly name: string;
  readonly contentType: string;
  /** Blank for a file without a name; absent for a field. */
  readonly fileName?: string;
  readonly charset: "utf8" | "latin1";
  readonly isQuotedPrintable: boolean;
}

/** Rejects folded lines, control characters and repeated headers, which no client sends. */
const readLines = (block: string, where: string): ReadonlyMap<string, string> => {
  const headers = new Map<string, string>();
  for (const line of block === "" ? [] : block.split("\r\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\P{Cc}\t]/u.test(line))
      throw badRequest(`${where} has an invalid header line; use the form "Name: value"`);
    if (headers.has(name)) throw badRequest(`${where} repeats the header ${name}; send it once`);
    headers.set(name, line.slice(colon + 1).trim());
  }
  return headers;
};

/** Decodes `UTF-8''%e2%82%ac.png` (RFC 8187). */
const findExtended = (text = ""): string | undefined => {
  const encoded = /^utf-8'[\w-]*'(.*)$/i.exec(text)?.[1];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
};

/** Decodes the three escapes that browsers write in a quoted name, and no others (WHATWG HTML, 4.10.21.8). */
const unquote = (quoted: string) => quoted.replace(/%(0A|0D|22)/gi, (code) => decodeURIComponent(code));

/** Drops folders, which are meaningless to the recipient (RFC 7578, 4.2). */
const withoutFolders = (path: string) => path.replace(/^.*[/\\]/s, "").replace(/^\.{1,2}$/, "");

const readFileName = (parameters: ReadonlyMap<string, string>, where: string): string | undefined => {
  const plain = parameters.get("filename");
  const extended = parameters.get("filename*");
  if (plain === undefined && extended === undefined) return undefined;
  // plain is the fallback for an extended one that cannot be decoded (RFC 6266, 4.3)
  const path = findExtended(extended) ?? (plain === undefined ? undefined : unquote(plain));
  if (path === undefined)
    throw badRequest(`${where} has an invalid filename*; use UTF-8'' and percent-encoding`);
  if (/\p{Cc}/u.test(path)) throw badRequest(`${where} has control characters in its filename; remove them`);
  const fileName = withoutFolders(path);
  if (fileName.length > maxFileNameLength)
    throw badRequest(`${where} has a filename of more than ${maxFileNameLength} characters; shorten it`);
  return fileName;
};

/**
 * Rejects names that the parser changes or loses. It stores fields and the array `files` in one plain object: a field
 * `files` makes it crash, `__proto__` is lost.
 */
const checkName = (name: string, where: string): void => {
  if (name === "" || name.length > maxNameLength || /["\\\p{Cc}]/u.test(name))
    throw badRequest(
      `${where} has an invalid name; use 1 to ${maxNameLength} characters without quotes and backslashes`,
    );
  if (name === "files" || name === "prototype" || name in {})
    throw invalidField(name, `The name ${name} is reserved; rename the field`);
};

/**
 * Parses the headers of one part.
 *
 * @param where identifies the part in error messages, such as "Part 2".
 * @throws ApiError 400 for headers that are invalid, lack a name, or are ambiguous.
 */
export const readPartHeaders = (block: Buffer, where: string): PartHeaders => {
  if (!isUtf8(block)) throw badRequest(`${where} has headers that are not UTF-8; encode them as UTF-8`);
  const headers = readLines(block.toString(), where);
  const disposition = findParameters(headers.get("content-disposition") ?? "");
  const name = disposition?.parameters.get("name");
  if (disposition?.value !== "form-data" || name === undefined || disposition.parameters.has("name*"))
    throw badRequest(`${where} lacks a header such as Content-Disposition: form-data; name="phone"`);
  checkName(name, where);

  const encoding = headers.get("content-transfer-encoding") ?? "";
  if (!/^(7bit|8bit|binary|quoted-printable)?$/i.test(encoding))
    throw invalidField(
      name,
      `${name} has an unsupported Content-Transfer-Encoding; send its bytes unencoded, or in quoted-printable`,
    );
  const isQuotedPrintable = /^q/i.test(encoding);

  const typeHeader = headers.get("content-type") ?? "";
  const sent = typeHeader.split(";")[0]?.trim().toLowerCase() ?? "";
  const fileName = readFileName(disposition.parameters, where);
  if (fileName !== undefined || sent === octetStream) {
    const contentType = /^[\w!#$&^.+-]{1,80}\/[\w!#$&^.+-]{1,80}$/.test(sent) ? sent : octetStream;
    return { name, contentType, fileName: fileName ?? "", charset: "utf8", isQuotedPrintable };
  }
  const type = findParameters(typeHeader);
  const charset = type && charsets.get(type.parameters.get("charset")?.toLowerCase() ?? "utf-8");
  if (!charset)
    throw invalidField(
      name,
      `${name} has an unsupported Content-Type; send text/plain in UTF-8, or no Content-Type`,
    );
  return { name, contentType: "text/plain", charset, isQuotedPrintable };
};
