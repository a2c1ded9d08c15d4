import { Fault } from "#lib/faults/fault.ts";
import { badRequest } from "#lib/faults/invalid-input.ts";
import { uploadTooLarge } from "#lib/faults/table.ts";
import { type PartHeaders, readPartHeaders } from "./multipart-headers.ts";

/** A message has ten fields. */
const maxParts = 20;
const maxHeaderBytes = 4 * 1024;
const maxFieldBytes = 64 * 1024;

export interface Part extends PartHeaders {
  readonly content: Buffer;
}

/** A body whose every part is whole. */
export interface Structure {
  readonly parts: readonly Part[];
  /** The body without preamble and epilogue: from the first boundary to the end of the closing one. */
  readonly body: Buffer;
}

const holdsAt = (body: Buffer, at: number, text: string) =>
  body.toString("latin1", at, at + text.length) === text;

const findStart = (body: Buffer, boundary: string): number => {
  if (holdsAt(body, 0, `--${boundary}`)) return 0;
  const lineEnd = body.indexOf(`\r\n--${boundary}`);
  if (lineEnd >= 0) return lineEnd + 2;
  throw badRequest(
    "The body does not hold the boundary that its Content-Type names; " +
      "let the HTTP client write body and Content-Type together",
  );
};

/** After the closing boundary there may be blanks, and then a line end and anything. */
const checkClosing = (body: Buffer, end: number): void => {
  let at = end;
  while (body[at] === 0x20 || body[at] === 0x09) at++;
  if (at < body.length && body[at] !== 0x0a && !holdsAt(body, at, "\r\n"))
    throw badRequest("The line of the closing boundary goes on after it");
};

const readPart = (block: Buffer, number: number): Part => {
  const where = `Part ${number}`;
  const blankLine = block.indexOf("\r\n\r\n");
  if (blankLine < 0) throw badRequest(`${where} has no blank line between its headers and its content`);
  if (blankLine > maxHeaderBytes)
    throw badRequest(`${where} has more than ${maxHeaderBytes} bytes of headers`);
  const headers = readPartHeaders(block.subarray(2, Math.max(blankLine, 2)), where);
  const content = block.subarray(blankLine + 4);
  if (headers.fileName === undefined && content.length > maxFieldBytes)
    throw new Fault(
      uploadTooLarge(`The field ${headers.name} is larger than ${maxFieldBytes} bytes. Send less text.`),
    );
  return { ...headers, content };
};

/**
 * Finds the parts of a body in one pass, before any parser sees it.
 *
 * What it refuses is what the parser gets wrong: a part without a blank line or name is dropped in silence, an
 * end that is missing crashes it, and a boundary that is the prefix of a line cuts content short.
 *
 * @throws Fault 400 that says which part is broken and how; 413 for too many parts or too large a field
 */
export const readStructure = (body: Buffer, boundary: string): Structure => {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const start = findStart(body, boundary);
  const parts: Part[] = [];
  let at = start + delimiter.length - 2;
  while (!holdsAt(body, at, "--")) {
    const number = parts.length + 1;
    if (number > maxParts)
      throw new Fault(uploadTooLarge(`The body has more than ${maxParts} parts. Send each field once.`));
    const breaksOff = `The body breaks off in part ${number}: its closing boundary is missing`;
    if (!holdsAt(body, at, "\r\n"))
      throw badRequest(
        at + 2 > body.length ? breaksOff : `The boundary before part ${number} does not end with CRLF`,
      );
    const next = body.indexOf(delimiter, at);
    if (next < 0) throw badRequest(breaksOff);
    parts.push(readPart(body.subarray(at, next), number));
    at = next + delimiter.length;
  }
  checkClosing(body, at + 2);
  return { parts, body: body.subarray(start, at + 2) };
};
