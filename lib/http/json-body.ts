import httpJsonBodyParser from "@middy/http-json-body-parser";
import type { Fault } from "#lib/faults/fault.ts";
import { badRequest } from "#lib/faults/invalid-input.ts";
import type { Middleware } from "./middleware.ts";

/** Treats an empty body as `{}`, whatever its Content-Type. */
const emptyAsObject: Middleware = {
  before: ({ event }) => {
    if (event.body?.trim()) return;
    event.body = "{}";
    event.isBase64Encoded = false;
    event.headers["content-type"] = "application/json";
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
export const jsonBody = [emptyAsObject, replaceParserErrors, httpJsonBodyParser() as Middleware];
