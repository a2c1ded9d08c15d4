import { isUtf8 } from "node:buffer";
import type middy from "@middy/core";
import httpJsonBodyParser from "@middy/http-json-body-parser";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { ApiError } from "#lib/errors/api-error.ts";
import { badRequest, repeatedField } from "#lib/errors/invalid-input.ts";
import { bodyTooLarge } from "#lib/errors/table.ts";

/** Limit of JSON and form bodies, unless the route sets another: a search is under 1 KB. */
export const defaultMaxBytes = 64 * 1024;

/** Rejects a body over the limit before it is parsed. */
export const bodyLimit = (maxBytes = defaultMaxBytes): Middleware => ({
  before: ({ event: { body, isBase64Encoded } }) => {
    if (body && Buffer.byteLength(body, isBase64Encoded ? "base64" : "utf8") > maxBytes)
      throw new ApiError(bodyTooLarge(maxBytes));
  },
});

type Body = Pick<APIGatewayProxyEvent, "headers" | "body" | "isBase64Encoded">;

const utf8 = /^(?:utf-?8|us-ascii)$/i;
const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i;

/**
 * Returns the body as text, without a byte order mark, which .NET and PowerShell may write (RFC 8259, 8.1).
 *
 * @throws ApiError 400 for bytes that are not UTF-8: decoded leniently, they become other characters, and a name that is
 * stored, sent or compared is then wrong.
 */
const textOf = ({ headers, body, isBase64Encoded }: Body): string => {
  const declared = headers["content-type"]?.match(charset)?.[1] ?? "utf-8";
  const bytes = Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8");
  if (!utf8.test(declared) || !isUtf8(bytes))
    throw badRequest("The body is not valid UTF-8; encode it as UTF-8, and declare no other charset");
  return bytes.toString().replace(/^\uFEFF/, "");
};

/** Media types of JSON, with any parameters. `text/json` is what older clients send. */
const json = /^\s*(?:application|text)\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i;

/** Treats an empty body as `{}`, whatever its Content-Type. */
const normalizeText: Middleware = {
  before: ({ event }) => {
    const text = textOf(event);
    const isEmpty = text.trim() === "";
    event.body = isEmpty ? "{}" : text;
    event.isBase64Encoded = false;
    if (isEmpty || json.test(event.headers["content-type"] ?? ""))
      event.headers["content-type"] = "application/json";
  },
};

/** What each complaint of V8 about JSON usually comes from, and what to do. */
const causes: readonly [RegExp, string][] = [
  [/^Bad control/, "write a line break in a text as \\n and a tab as \\t"],
  [/^Bad (?:escaped|Unicode)/, "write a backslash in a text as \\\\"],
  [
    /^Expected (?:double-quoted )?property name|^Unexpected token '[\]}]'/,
    "use double quotes, and no comma after the last value",
  ],
  [/^Unterminated|^Unexpected end/, "it ends too early: send the whole body"],
];

/** Says where a body stops being JSON. It repeats nothing of the body, which V8's own message does. */
const invalidJson = (cause: unknown): ApiError => {
  const message = String((cause as { message?: unknown } | undefined)?.message);
  const [, line, column] = message.match(/\(line (\d+) column (\d+)\)$/) ?? [];
  const place = line === undefined ? "" : ` at line ${line}, column ${column}`;
  const advice = causes.find(([complaint]) => complaint.test(message))?.[1] ?? "let a JSON library write it";
  return badRequest(`The body is not valid JSON${place}; ${advice}`);
};

const toFault = (status: number, { message, cause }: Error): ApiError => {
  if (status === 415)
    return badRequest(
      "The Content-Type must be application/json; with curl: -H 'Content-Type: application/json'",
    );
  if (message.startsWith("Forbidden key"))
    return badRequest("The body must not have a key named __proto__ or constructor.prototype");
  return invalidJson(cause);
};

const isHttpError = (error: unknown): error is Error & { statusCode: number } =>
  error instanceof Error && "statusCode" in error && typeof error.statusCode === "number";

/** Replaces the parser's 415 and 422 by the contract's 400. Its error contains the body, so it is not set as a cause. */
const replaceParserErrors: Middleware = {
  onError: (request) => {
    if (isHttpError(request.error)) request.error = toFault(request.error.statusCode, request.error);
  },
};

/** Parses JSON. Requires lower-case header names. */
export const jsonBody = [normalizeText, replaceParserErrors, httpJsonBodyParser() as Middleware];

/** Longer names are truncated in error messages. */
const maxNameLength = 64;

const formType = "application/x-www-form-urlencoded";

/**
 * Replaces `event.body` by the fields of a form. A blank field counts as absent; a repeated one is rejected
 * (RFC 6749, 3.2).
 */
const parseForm: Middleware = {
  before: ({ event }) => {
    const text = textOf(event);
    const sent = event.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
    if (text.trim() !== "" && sent !== formType)
      throw badRequest(`The Content-Type must be ${formType}; with curl: --data-urlencode 'name=value'`);
    const fields = [...new URLSearchParams(text)].filter(([, value]) => value !== "");
    const seen = new Set<string>();
    const repeated = fields.find(([name]) => seen.size === seen.add(name).size)?.[0].slice(0, maxNameLength);
    if (repeated !== undefined) throw repeatedField(repeated);
    Object.assign(event, { body: Object.fromEntries(fields) });
  },
};

/** Leaves the body as its bytes, for a signature. */
export const rawBody: readonly Middleware[] = [
  {
    before: ({ event }) => {
      const { body, isBase64Encoded } = event;
      Object.assign(event, { body: Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8") });
    },
  },
];

/** Parses a form. Requires lower-case header names. */
export const formBody = [parseForm];

export type Middleware = middy.MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;
