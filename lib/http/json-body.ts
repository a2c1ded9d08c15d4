import httpJsonBodyParser from "@middy/http-json-body-parser";
import type { Fault } from "#lib/faults/fault.ts";
import { badRequest } from "#lib/faults/invalid-input.ts";
import type { Middleware } from "./middleware.ts";

/** Reads an empty body as `{}`, whatever its Content-Type. */
const emptyAsObject: Middleware = {
  before: ({ event }) => {
    if (event.body?.trim()) return;
    event.body = "{}";
    event.isBase64Encoded = false;
    event.headers["content-type"] = "application/json";
  },
};

const refusal = (status: number, message: string): Fault => {
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

/** The parser's own 415 and 422 are 400 by contract. Its error holds the body: it goes no further. */
const respell: Middleware = {
  onError: (request) => {
    if (isHttpError(request.error)) request.error = refusal(request.error.statusCode, request.error.message);
  },
};

/** Replaces `event.body` by the JSON it holds. Wants header names in lower case. */
export const jsonBody = [emptyAsObject, respell, httpJsonBodyParser() as Middleware];
