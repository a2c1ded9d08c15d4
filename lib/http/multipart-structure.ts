import { ApiError } from "#lib/errors/api-error.ts";
import { badRequest } from "#lib/errors/invalid-input.ts";
import { uploadTooLarge } from "#lib/errors/table.ts";
import { type PartHeaders, readPartHeaders } from "./multipart-headers.ts";

/** A message has ten fields. */
const maxParts = 20;
const maxHeaderBytes = 4 * 1024;
const maxFieldBytes = 64 * 1024;

export interface Part extends PartHeaders {
  readonly content: Buffer;
}

export interface Structure {
  readonly parts: readonly Part[];
  /** The body without preamble and epilogue: from the first boundary to the end of the closing one. */
  readonly body: Buffer;
}

const hasTextAt = (body: Buffer, at: number, text: string) =>
  body.toString("latin1", at, at + text.length) === text;

const findStart = (body: Buffer, boundary: string): number => {
  if (hasTextAt(body, 0, `--${boundary}`)) return 0;
  const lineEnd = body.indexOf(`\r\n--${boundary}`);
  if (lineEnd >= 0) return lineEnd + 2;
  throw badRequest(
    "The body does not contain the boundary of its Content-Type; let the HTTP client set the Content-Type",
  );
};

/** Only blanks may follow the closing boundary on its line. */
const checkClosing = (body: Buffer, end: number): void => {
  let at = end;
  while (body[at] === 0x20 || body[at] === 0x09) at++;
  if (at < body.length && body[at] !== 0x0a && !hasTextAt(body, at, "\r\n"))
    throw badRequest("The closing boundary is followed by text on its line; remove the text");
};

const readPart = (block: Buffer, number: number): Part => {
  const where = `Part ${number}`;
  const blankLine = block.indexOf("\r\n\r\n");
  if (blankLine < 0) throw badRequest(`${where} lacks a blank line between its headers and its content`);
  if (blankLine > maxHeaderBytes)
    throw badRequest(`${where} has more than ${maxHeaderBytes} bytes of headers; shorten them`);
  const headers = readPartHeaders(block.subarray(2, Math.max(blankLine, 2)), where);
  const content = block.subarray(blankLine + 4);
  if (headers.fileName === undefined && content.length > maxFieldBytes)
    throw new ApiError(
      uploadTooLarge(`The field ${headers.name} is larger than ${maxFieldBytes} bytes. Send less text.`),
    );
  return { ...headers, content };
};

/**
 * Splits a body into its parts in one pass and rejects what the parser handles wrongly: it drops a part without a blank
 * line or name, crashes if the end is missing, and truncates content at a line that starts with the boundary.
 *
 * @throws ApiError 400 that names the invalid part; 413 for too many parts or too large a field.
 */
export const readStructure = (body: Buffer, boundary: string): Structure => {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const start = findStart(body, boundary);
  const parts: Part[] = [];
  let at = start + delimiter.length - 2;
  while (!hasTextAt(body, at, "--")) {
    const number = parts.length + 1;
    if (number > maxParts)
      throw new ApiError(uploadTooLarge(`The body has more than ${maxParts} parts. Send each field once.`));
    const truncated = `The body ends within part ${number}; send it whole, up to the closing boundary`;
    if (!hasTextAt(body, at, "\r\n"))
      throw badRequest(
        at + 2 > body.length ? truncated : `The boundary before part ${number} must end with CRLF`,
      );
    const next = body.indexOf(delimiter, at);
    if (next < 0) throw badRequest(truncated);
    parts.push(readPart(body.subarray(at, next), number));
    at = next + delimiter.length;
  }
  checkClosing(body, at + 2);
  return { parts, body: body.subarray(start, at + 2) };
};
