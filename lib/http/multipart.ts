import { isUtf8 } from "node:buffer";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { type MultipartRequest, parse } from "lambda-multipart-parser";
import { deadline } from "#lib/deadline.ts";
import { Fault } from "#lib/faults/fault.ts";
import { badRequest, invalidField, repeatedField } from "#lib/faults/invalid-input.ts";
import { badBoundary, uploadTooLarge } from "#lib/faults/table.ts";
import type { Upload } from "#lib/routes/upload.ts";
import { findParameters } from "./header-parameters.ts";
import { type Part, readStructure, type Structure } from "./multipart-structure.ts";

/** Largest file, and largest body with the fields beside it: 5.7 MB in base64, where Lambda takes 6 MB in all. */
const maxUploadBytes = 4 * 1024 * 1024;
const maxBodyBytes = maxUploadBytes + 96 * 1024;

/** A parse takes 10 ms at most; a parser that waits for an event that never comes, for ever. */
const timeoutMs = 2_000;

/** No name stands twice, neither in one nor in both. */
export interface MultipartForm {
  readonly fields: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, Upload>>;
}

export const fileTooLarge = uploadTooLarge(
  `The file is larger than ${maxUploadBytes} bytes. Give its address in file_url or image_url instead.`,
);

/** @see https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1 */
const getBoundary = (contentType = ""): string => {
  const header = findParameters(contentType);
  const boundary = header?.parameters.get("boundary") ?? "";
  if (header?.value !== "multipart/form-data" || !/^(?!.* $)[\w'()+,./:=? -]{1,70}$/.test(boundary))
    throw new Fault(badBoundary);
  return boundary;
};

/** Text of a field; where it is not what it says it is, the parser would put replacement characters. */
const readText = ({ name, content, charset }: Part): string => {
  if (charset === "utf8" && !isUtf8(content))
    throw invalidField(name, `${name} is not UTF-8 text; if it is a file, send it with a filename`);
  return content.toString(charset);
};

/** What the parser makes of a body that is sound. It gets a Buffer: of a string it would garble UTF-8. */
const runParser = async ({ body }: Structure, boundary: string): Promise<MultipartRequest> => {
  const event: unknown = {
    headers: { "content-type": `multipart/form-data; boundary="${boundary}"` },
    body,
    isBase64Encoded: false,
  };
  try {
    return await deadline(parse(event as APIGatewayProxyEvent), timeoutMs);
  } catch (cause) {
    throw badRequest("The body cannot be read as multipart/form-data", { cause });
  }
};

const isBlank = ({ fileName, content }: Part) =>
  fileName === undefined ? content.toString().trim() === "" : fileName === "" && content.length === 0;

/**
 * The form that the parser read, where it read what the structure says. Where the two differ the body can be
 * read in two ways, and a form that one reader checks and another sends is how filters are passed.
 */
const toForm = (parts: readonly Part[], parsed: MultipartRequest): MultipartForm => {
  const contents = new Map(parsed.files.map(({ fieldname, content }) => [fieldname, content]));
  const fields = new Map<string, string>();
  const files = new Map<string, Upload>();
  for (const part of parts) {
    const { name, fileName, contentType } = part;
    const text = fileName === undefined ? readText(part) : undefined;
    // the parser leaves out a file without a byte
    const content = contents.get(name) ?? Buffer.alloc(0);
    const agreed =
      text === undefined
        ? content.equals(part.content)
        : Object.hasOwn(parsed, name) && parsed[name] === text;
    if (!agreed) throw invalidField(name, `The part ${name} can be read in more than one way`);
    if (isBlank(part)) continue;
    if (text !== undefined) fields.set(name, text);
    else files.set(name, { content, fileName: fileName ?? "", contentType });
  }
  return { fields: Object.fromEntries(fields), files: Object.fromEntries(files) };
};

/**
 * Reads the multipart/form-data body of a request. Wants header names in lower case.
 *
 * A blank field counts as absent, and so does a file input that nothing was chosen in; a file without a byte
 * that has a name is a file. Which names are fields and which files is for the caller to judge.
 *
 * @throws Fault 500 bad_boundary for another Content-Type or one without a usable boundary; 400
 * invalid_request for a body that is empty, broken or ambiguous, and for a name that is repeated or reserved;
 * 413 payload_too_large for a file over 4 MiB, a field over 64 KiB, or more than 20 parts
 */
export const parseMultipart = async ({
  headers,
  body,
  isBase64Encoded,
}: Pick<APIGatewayProxyEvent, "headers" | "body" | "isBase64Encoded">): Promise<MultipartForm> => {
  const boundary = getBoundary(headers["content-type"]);
  if (!body) throw badRequest("The body is empty; send the fields of the form as multipart/form-data");
  const encoding = isBase64Encoded ? "base64" : "utf8";
  if (Buffer.byteLength(body, encoding) > maxBodyBytes) throw new Fault(fileTooLarge);
  const structure = readStructure(Buffer.from(body, encoding), boundary);
  if (structure.parts.some(({ content }) => content.length > maxUploadBytes)) throw new Fault(fileTooLarge);
  const names = structure.parts.map(({ name }) => name);
  const repeated = names.find((name, i) => names.indexOf(name) < i);
  if (repeated !== undefined) throw repeatedField(repeated);
  if (names.length === 0) return { fields: {}, files: {} };
  return toForm(structure.parts, await runParser(structure, boundary));
};
