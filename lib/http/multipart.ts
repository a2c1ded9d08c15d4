import { isUtf8 } from "node:buffer";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { type MultipartRequest, parse } from "lambda-multipart-parser";
import { deadline } from "#lib/deadline.ts";
import { ApiError } from "#lib/errors/api-error.ts";
import { badRequest, invalidField, repeatedField } from "#lib/errors/invalid-input.ts";
import { badBoundary, uploadTooLarge } from "#lib/errors/table.ts";
import { isBlank, type Upload } from "#lib/routes/fields.ts";
import { findParameters } from "./multipart-headers.ts";
import { type Part, readStructure, type Structure } from "./multipart-structure.ts";

/** Limits of a file and of the whole body, which is 5.7 MB in base64: Lambda accepts 6 MB in all. */
export const maxUploadBytes = 4 * 1024 * 1024;
const maxBodyBytes = maxUploadBytes + 96 * 1024;

/** Parsing takes at most 10 ms, unless the parser waits for an event that never occurs. */
const timeoutMs = 2_000;

/** Each name occurs once, as a field or as a file. */
export interface MultipartForm {
  readonly fields: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, Upload>>;
}

export const fileTooLarge = uploadTooLarge(
  `The file is larger than ${maxUploadBytes} bytes. Send its URL in file_url or image_url instead.`,
);

/** @see https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1 */
const getBoundary = (contentType = ""): string => {
  const header = findParameters(contentType);
  const boundary = header?.parameters.get("boundary") ?? "";
  if (header?.value !== "multipart/form-data" || !/^(?!.* $)[\w'()+,./:=? -]{1,70}$/.test(boundary))
    throw new ApiError(badBoundary);
  return boundary;
};

/** Decodes the content of a part, which the parser leaves as it was sent. */
const decode = ({ name, content, isQuotedPrintable }: Part): Buffer => {
  if (!isQuotedPrintable) return content;
  const decoded = decodeQuotedPrintable(content);
  if (!decoded) throw invalidField(name, `${name} is not valid quoted-printable; send its bytes unencoded`);
  return decoded;
};

/** Rejects invalid UTF-8, for which the parser inserts replacement characters. */
const readText = ({ name, charset }: Part, content: Buffer): string => {
  if (charset === "utf8" && !isUtf8(content))
    throw invalidField(name, `${name} is not UTF-8 text; if it is a file, send it with a filename`);
  return content.toString(charset);
};

/** Passes a Buffer to the parser: it corrupts the UTF-8 of a string. */
const runParser = async ({ body }: Structure, boundary: string): Promise<MultipartRequest> => {
  const event: unknown = {
    headers: { "content-type": `multipart/form-data; boundary="${boundary}"` },
    body,
    isBase64Encoded: false,
  };
  try {
    return await deadline(parse(event as APIGatewayProxyEvent), timeoutMs);
  } catch (cause) {
    throw badRequest("The body is not valid multipart/form-data", { cause });
  }
};

/**
 * Builds the form, and rejects a body that the parser reads differently from the structure: such ambiguity is used to
 * bypass filters.
 */
const toForm = (parts: readonly Part[], parsed: MultipartRequest): MultipartForm => {
  const contents = new Map(parsed.files.map(({ fieldname, content }) => [fieldname, content]));
  const fields = new Map<string, string>();
  const files = new Map<string, Upload>();
  for (const part of parts) {
    const { name, fileName, contentType } = part;
    // the parser omits empty files
    const sent = contents.get(name) ?? Buffer.alloc(0);
    const isSame =
      fileName === undefined
        ? Object.hasOwn(parsed, name) && parsed[name] === readText(part, part.content)
        : sent.equals(part.content);
    if (!isSame)
      throw invalidField(name, `The part ${name} is ambiguous; let the HTTP client encode the form`);
    const content = decode(part);
    if (fileName === undefined) {
      const text = readText(part, content);
      if (!isBlank(text)) fields.set(name, text);
    } else if (fileName !== "" || content.length > 0) files.set(name, { content, fileName, contentType });
  }
  return { fields: Object.fromEntries(fields), files: Object.fromEntries(files) };
};

/**
 * Parses a multipart/form-data body. Requires lower-case header names. A blank field, `null`, `undefined` and a file
 * input without a file count as absent; an empty file with a name does not.
 *
 * @throws ApiError 500 bad_boundary for another Content-Type or an invalid boundary; 400 for a body that is empty, invalid
 * or ambiguous, and for a repeated or reserved name; 413 for a file over 4 MiB, a field over 64 KiB, or over 20 parts.
 */
export const parseMultipart = async ({
  headers,
  body,
  isBase64Encoded,
}: Pick<APIGatewayProxyEvent, "headers" | "body" | "isBase64Encoded">): Promise<MultipartForm> => {
  const boundary = getBoundary(headers["content-type"]);
  if (!body) throw badRequest("The body is empty; send the fields of the form as multipart/form-data");
  const encoding = isBase64Encoded ? "base64" : "utf8";
  if (Buffer.byteLength(body, encoding) > maxBodyBytes) throw new ApiError(fileTooLarge);
  const structure = readStructure(Buffer.from(body, encoding), boundary);
  if (structure.parts.some(({ content }) => content.length > maxUploadBytes))
    throw new ApiError(fileTooLarge);
  const names = structure.parts.map(({ name }) => name);
  const repeated = names.find((name, i) => names.indexOf(name) < i);
  if (repeated !== undefined) throw repeatedField(repeated);
  if (names.length === 0) return { fields: {}, files: {} };
  return toForm(structure.parts, await runParser(structure, boundary));
};

/** Decodes quoted-printable (RFC 2045, 6.7). Returns undefined for an invalid escape. */
const decodeQuotedPrintable = (content: Buffer): Buffer | undefined => {
  // control bytes, which this encoding escapes: the part is not what its header says
  if (content.some((byte) => byte < 32 && byte !== 9 && byte !== 10 && byte !== 13)) return undefined;
  const joined = content.toString("latin1").replace(/=[ \t]*\r?\n/g, "");
  if (/=(?![\da-f]{2})/i.test(joined)) return undefined;
  const decoded = joined.replace(/=(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(decoded, "latin1");
};
