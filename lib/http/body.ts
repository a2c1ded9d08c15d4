import httpJsonBodyParser from "@middy/http-json-body-parser";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { Fault } from "#lib/faults/fault.ts";
import { badRequest, repeatedField } from "#lib/faults/invalid-input.ts";
import { bodyTooLarge } from "#lib/faults/table.ts";
import type { Middleware } from "./middleware.ts";

/** Limit of JSON and form bodies, unless the route sets another: a search is under 1 KB. */
export const defaultMaxBytes = 64 * 1024;

/** Rejects a body over the limit before it is parsed. */
export const bodyLimit = (maxBytes = defaultMaxBytes): Middleware => ({
  before: ({ event: { body, isBase64Encoded } }) => {
    if (body && Buffer.byteLength(body, isBase64Encoded ? "base64" : "utf8") > maxBytes)
      throw new Fault(bodyTooLarge(maxBytes));
  },
});

const textOf = ({ body, isBase64Encoded }: Pick<APIGatewayProxyEvent, "body" | "isBase64Encoded">): string =>
  Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8").toString();

/**
 * Treats an empty body as `{}`, whatever its Content-Type, and drops a byte order mark, which .NET and PowerShell may
 * write (RFC 8259, 8.1).
 */
const normalizeText: Middleware = {
  before: ({ event }) => {
    const text = textOf(event).replace(/^\uFEFF/, "");
    const isEmpty = text.trim() === "";
    event.body = isEmpty ? "{}" : text;
    event.isBase64Encoded = false;
    if (isEmpty) event.headers["content-type"] = "application/json";
  },
};

const toFault = (status: number, message: string): Fault => {
  if (status === 415)
    return badRequest(
      "The Content-Type must be application/json; with curl: -H 'Content-Type: application/json'",
    );
  if (message.startsWith("Forbidden key"))
    return badRequest("The body must not have a key named __proto__ or constructor.prototype");
  return badRequest("The body is not valid JSON");
};

const isHttpError = (error: unknown): error is Error & { statusCode: number } =>
  error instanceof Error && "statusCode" in error && typeof error.statusCode === "number";

/** Replaces the parser's 415 and 422 by the contract's 400. Its error contains the body, so it is not set as a cause. */
const replaceParserErrors: Middleware = {
  onError: (request) => {
    if (isHttpError(request.error)) request.error = toFault(request.error.statusCode, request.error.message);
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
