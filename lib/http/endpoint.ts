import middy from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { ApiError } from "#lib/errors/api-error.ts";
import { internal, tookTooLong } from "#lib/errors/table.ts";
import { log, takeWaits } from "#lib/log.ts";
import { type Encoding, PlainReply, type Route } from "#lib/routes/route.ts";
import { bodyLimit, formBody, jsonBody, type Middleware, rawBody } from "./body.ts";
import {
  type Account,
  authorize,
  findSender,
  getAccount,
  getPartner,
  getSender,
  type Partner,
  type Sender,
} from "./caller.ts";
import { check, lowerCaseNames, readHeaders } from "./input.ts";
import { readQuery } from "./query.ts";

/** A request with validated input. */
export interface Call<Q, B, P, H> {
  readonly params: P;
  readonly headers: H;
  readonly query: Q;
  readonly body: B;
  /** Not decoded. */
  readonly path: string;
  /** The partner of a route with `auth.kind: "apiKey"`. @throws ApiError 401 on any other route. */
  readonly partner: () => Partner;
  /** The account of a route with `auth.kind: "bearer"`. @throws ApiError 401 on any other route. */
  readonly account: () => Account;
  /** The backend of a route with `auth.kind: "basic"`. @throws ApiError 401 on any other route. */
  readonly sender: () => Sender;
  /** The caller's address, as seen by the gateway. */
  readonly sourceIp: string;
  /** Blank if the caller sends none. */
  readonly userAgent: string;
  readonly requestId: string;
}

/** Time reserved for answering 504 before Lambda times out. */
const timeoutReserveMs = 300;

const normalizeHeaders: Middleware = {
  before: ({ event }) => {
    event.headers = lowerCaseNames(event.headers);
  },
};

const respond = (
  route: Route,
  requestId: string,
  statusCode: number,
  body: string,
  retryAfterSeconds?: number,
): APIGatewayProxyResult => ({
  statusCode,
  headers: {
    "content-type": "application/json; charset=utf-8",
    "cache-control":
      route.cache && statusCode < 400 ? `public, max-age=${route.cache.maxAgeSeconds}` : "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": requestId,
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
    ...(route.cors && {
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "etag, retry-after, x-request-id",
    }),
  },
  body,
});

/** Logs status, duration, waits and error of each request; never the input. */
const accessLog = ({ fn, auth }: Route): Middleware => {
  const started = new WeakMap<object, number>();
  const write: middy.MiddlewareFn<APIGatewayProxyEvent, APIGatewayProxyResult> = ({
    event,
    response,
    error,
  }) => {
    const status = response?.statusCode ?? 500;
    const fields = {
      fn,
      request_id: event.requestContext.requestId,
      status,
      ms: Math.round(performance.now() - (started.get(event) ?? performance.now())),
      ...takeWaits(),
      ...(auth.kind === "basic" && { sender: findSender(event.requestContext.authorizer) }),
    };
    if (status >= 500) log.error("request failed", { ...fields, error });
    else log.info("request", error instanceof ApiError ? { ...fields, fault: error.code } : fields);
  };
  return {
    before: ({ event }) => {
      started.set(event, performance.now());
      // of a request before that ended early
      takeWaits();
    },
    after: write,
    onError: write,
  };
};

/** Converts any error to the route's error body. */
const errorBody = (route: Route): Middleware => ({
  onError: (request) => {
    const { requestId } = request.event.requestContext;
    const fault =
      request.error instanceof ApiError ? request.error : new ApiError(internal, { cause: request.error });
    request.response = respond(
      route,
      requestId,
      fault.status,
      JSON.stringify(route.errors.body(fault, requestId)),
      fault.retryAfterSeconds,
    );
  },
});

const requireCaller = ({ auth }: Route): Middleware => ({
  before: ({ event }) => authorize(auth, event.requestContext.authorizer),
});

/** Adds an ETag to cacheable 200s, and answers 304 to a caller who has the current one. */
const conditionalRequest = (route: Route): Middleware => ({
  after: ({ event, response }) => {
    if (!route.cache || response?.statusCode !== 200) return;
    const etag = entityTag(response.body);
    response.headers = { ...response.headers, etag };
    if (!matches(event.headers["if-none-match"], etag)) return;
    response.statusCode = 304;
    response.body = "";
  },
});

/** Without multipart, whose parser would be in every bundle. */
const bodyReaders = { json: jsonBody, form: formBody, raw: rawBody };

/** Like `endpoint`, with the middlewares that read the body. */
export const endpointReading = <Q, B, R, P, H>(
  route: Route<Q, B, R, Encoding, P, H>,
  readBody: readonly Middleware[],
) => ({
  handler: (handle: (call: Call<Q, B, P, H>) => Promise<R>) =>
    middy<APIGatewayProxyEvent, APIGatewayProxyResult>({
      timeoutEarlyInMillis: timeoutReserveMs,
      timeoutEarlyResponse: () => {
        throw new ApiError(tookTooLong);
      },
    })
      .use(normalizeHeaders)
      .use(accessLog(route))
      .use(errorBody(route))
      .use(requireCaller(route))
      .use(conditionalRequest(route))
      .use(route.body ? [...readBody] : [])
      .handler(async (event) => {
        const { authorizer, identity, requestId } = event.requestContext;
        const input = {
          params: route.params ? check(route.params, event.pathParameters ?? {}, "path") : (undefined as P),
          headers: route.headers ? check(route.headers, readHeaders(event), "headers") : (undefined as H),
          body: route.body
            ? check(route.body, event.body, route.encoding === "form" ? "form" : "body")
            : (undefined as B),
        };
        const sentQuery = readQuery(event, route);
        const query = route.query ? check(route.query, sentQuery, "query") : (undefined as Q);
        const reply = await handle({
          ...input,
          query,
          path: event.path,
          partner: () => getPartner(authorizer),
          account: () => getAccount(authorizer),
          sender: () => getSender(authorizer),
          sourceIp: identity.sourceIp,
          userAgent: identity.userAgent ?? "",
          requestId,
        });
        if (!(reply instanceof PlainReply)) return respond(route, requestId, 200, JSON.stringify(reply));
        const isBase64Encoded = typeof reply.content !== "string";
        const body = isBase64Encoded ? reply.content.toString("base64") : reply.content;
        const { headers, ...response } = respond(route, requestId, reply.status, body);
        return { ...response, isBase64Encoded, headers: { ...headers, ...reply.headers } };
      }),
});

/**
 * Creates a Lambda handler with the middlewares of all endpoints; `encoding: "multipart"` needs `multipartEndpoint`.
 *
 * Requests are checked for scope (403), size (413) and input (400), in this order, after the gateway's own checks.
 *
 * @example
 * export const handler = endpoint(listCategories).handler(async () => ({ data: await list() }));
 */
export const endpoint = <Q, B, R, P, H>(route: Route<Q, B, R, "json" | "form" | "raw", P, H>) =>
  endpointReading(route, [bodyLimit(route.maxBodyBytes), ...bodyReaders[route.encoding ?? "json"]]);

/** Returns the strong ETag of a body (RFC 9110, 8.8.3). Loads `node:crypto` here: 4 ms that a redirect does not need. */
const entityTag = (body: string): string => {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;
};

/** Whether `If-None-Match` contains the tag: weak comparison over a list, or `*` (RFC 9110, 13.1.2). */
const matches = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch?.trim() === "*" ||
  (ifNoneMatch ?? "").split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === tag);
