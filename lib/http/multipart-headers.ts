import { isUtf8 } from "node:buffer";
import { badRequest, invalidField } from "#lib/faults/invalid-input.ts";
import { findParameters } from "./header-parameters.ts";

const octetStream = "application/octet-stream";
const maxNameLength = 100;
/** What file systems take, and so what a phone can save. */
const maxFileNameLength = 255;

/** How the text of a field may be written; the parser would take `base64` for a charset too, and encode by it. */
const charsets = new Map<string, "utf8" | "latin1">([
  ["utf-8", "utf8"],
  ["utf8", "utf8"],
  // the parser reads it as latin1, so that bytes over 127, which are not ASCII, are refused as ambiguous
  ["us-ascii", "utf8"],
  ["iso-8859-1", "latin1"],
]);

/** What stands above one part's content. */
export interface PartHeaders {
  readonly name: string;
  readonly contentType: string;
  /** Blank where a file has none; absent in a field. */
  readonly fileName?: string;
  readonly charset: "utf8" | "latin1";
}

/** The headers by name in lower case. Folded lines, controls and repeats are refused: no client writes them. */
const readLines = (block: string, where: string): ReadonlyMap<string, string> => {
  const headers = new Map<string, string>();
  for (const line of block === "" ? [] : block.split("\r\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\P{Cc}\t]/u.test(line))
      throw badRequest(`${where} has a header line that is not of the form "Name: value"`);
    if (headers.has(name)) throw badRequest(`${where} has the header ${name} twice`);
    headers.set(name, line.slice(colon + 1).trim());
  }
  return headers;
};

/** `UTF-8''%e2%82%ac.png` of RFC 8187. */
const findExtended = (text: string): string | undefined => {
  const encoded = /^utf-8'[\w-]*'(.*)$/i.exec(text)?.[1];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
};

/** The three escapes that browsers write in a quoted name, and no other (WHATWG HTML, 4.10.21.8). */
const unquote = (quoted: string) => quoted.replace(/%(0A|0D|22)/gi, (code) => decodeURIComponent(code));

/** The name alone: the folders before it are the sender's business (RFC 7578, 4.2). */
const withoutFolders = (path: string) => path.replace(/^.*[/\\]/s, "").replace(/^\.{1,2}$/, "");

const readFileName = (parameters: ReadonlyMap<string, string>, where: string): string | undefined => {
  const plain = parameters.get("filename");
  const extended = parameters.get("filename*");
  if (plain === undefined && extended === undefined) return undefined;
  const path = extended === undefined ? unquote(plain ?? "") : findExtended(extended);
  if (path === undefined)
    throw badRequest(`${where} has a filename* that is not UTF-8''… in percent-encoding`);
  if (/\p{Cc}/u.test(path)) throw badRequest(`${where} has control characters in its filename`);
  const fileName = withoutFolders(path);
  if (fileName.length > maxFileNameLength)
    throw badRequest(`${where} has a filename of more than ${maxFileNameLength} characters`);
  return fileName;
};

/**
 * A name that the parser keeps as it is and can keep at all: it collects fields and the array `files` in one
 * plain object, where `files` crashes it and `__proto__` vanishes.
 */
const checkName = (name: string, where: string): void => {
  if (name === "" || name.length > maxNameLength || /["\\\p{Cc}]/u.test(name))
    throw badRequest(`${where} has a name that is not 1 to ${maxNameLength} plain characters`);
  if (name === "files" || name === "prototype" || name in {})
    throw invalidField(name, `The name ${name} is reserved; give the field another name`);
};

/**
 * Reads the headers of one part.
 *
 * @param where the part in words, for messages: "Part 2"
 * @throws Fault 400 for headers that are broken, that name no field, or that two readers could understand
 * differently
 */
export const readPartHeaders = (block: Buffer, where: string): PartHeaders => {
  if (!isUtf8(block)) throw badRequest(`${where} has headers that are not UTF-8`);
  const headers = readLines(block.toString(), where);
  const disposition = findParameters(headers.get("content-disposition") ?? "");
  const name = disposition?.parameters.get("name");
  if (disposition?.value !== "form-data" || name === undefined || disposition.parameters.has("name*"))
    throw badRequest(`${where} has no header like Content-Disposition: form-data; name="phone"`);
  checkName(name, where);

  if (!/^(7bit|8bit|binary)?$/i.test(headers.get("content-transfer-encoding") ?? ""))
    throw invalidField(name, `${name} has a Content-Transfer-Encoding; send its bytes as they are`);

  const typeHeader = headers.get("content-type") ?? "";
  const sent = typeHeader.split(";")[0]?.trim().toLowerCase() ?? "";
  const fileName = readFileName(disposition.parameters, where);
  if (fileName !== undefined || sent === octetStream) {
    const contentType = /^[\w!#$&^.+-]{1,80}\/[\w!#$&^.+-]{1,80}$/.test(sent) ? sent : octetStream;
    return { name, contentType, fileName: fileName ?? "", charset: "utf8" };
  }
  const type = findParameters(typeHeader);
  const charset = type && charsets.get(type.parameters.get("charset")?.toLowerCase() ?? "utf-8");
  if (!charset)
    throw invalidField(
      name,
      `${name} has a Content-Type that cannot be served; send text/plain in UTF-8, or no Content-Type`,
    );
  return { name, contentType: "text/plain", charset };
};
