import type { ApiError } from "#lib/errors/api-error.ts";
import { type MultipartForm, parseMultipart } from "#lib/http/multipart.ts";

/** One part as it is written down. */
export interface WrittenPart {
  /** Header lines, without their ends. */
  readonly headers: readonly string[];
  readonly content: Buffer | string;
}

export const field = (name: string, value: Buffer | string): WrittenPart => ({
  headers: [`Content-Disposition: form-data; name="${name}"`],
  content: value,
});

export const file = (
  name: string,
  fileName: string,
  content: Buffer | string,
  type = "image/png",
): WrittenPart => ({
  headers: [
    `Content-Disposition: form-data; name="${name}"; filename="${fileName}"`,
    ...(type && [`Content-Type: ${type}`]),
  ],
  content,
});

export const boundary = "XbX";

/** The body of a form, correct in every byte. */
export const write = (parts: readonly WrittenPart[], between = boundary): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ headers, content }) => [
      Buffer.from(`--${between}\r\n${headers.map((line) => `${line}\r\n`).join("")}\r\n`),
      Buffer.from(content),
      Buffer.from("\r\n"),
    ]),
    Buffer.from(`--${between}--\r\n`),
  ]);

/** Parses a body as the gateway hands it on: bytes in base64, a string as it is. */
export const parse = (
  body: Buffer | string | null,
  contentType: string | undefined = `multipart/form-data; boundary=${boundary}`,
): Promise<MultipartForm> =>
  parseMultipart({
    headers: { "content-type": contentType },
    body: Buffer.isBuffer(body) ? body.toString("base64") : body,
    isBase64Encoded: Buffer.isBuffer(body),
  });

/** Status and code of the error, or `parsed`. @throws errors that are not a ApiError */
export const outcome = async (parsing: Promise<unknown>): Promise<string> => {
  try {
    await parsing;
    return "parsed";
  } catch (error) {
    if ((error as Error).name !== "ApiError") throw error;
    return `${(error as ApiError).status} ${(error as ApiError).code}`;
  }
};
