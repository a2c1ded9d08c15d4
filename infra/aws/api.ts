import { ApiError, type ErrorRow } from "#lib/errors/api-error.ts";
import type { Envelope } from "#lib/errors/envelope.ts";
import * as errors from "#lib/errors/table.ts";
import type { PublishedApi } from "#lib/openapi/document.ts";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import type { Rate, Route } from "#lib/routes/route.ts";

/**
 * A response that API Gateway sends without calling a function. It replaces `$context.requestId` in each; the gateway's
 * construct replaces the placeholder addresses.
 */
export interface GatewayResponse {
  /** Undefined keeps the type's own status. Never set on a DEFAULT type: that rewrites every other one. */
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface UsagePlan extends Rate {
  readonly requestsPerDay: number;
}

/** Requests per minute that one client address may send to a route, or to all paths of the API together. */
export interface AddressLimit {
  readonly route?: Route;
  readonly requestsPerMinute: number;
}

/** What AWS WAF does in front of the gateway. The local gateway has the limits per address, and no other rule. */
export interface Firewall {
  readonly perAddress: { readonly limits: readonly AddressLimit[]; readonly refusal: GatewayResponse };
  /** Whether bodies may contain anything, such as a text about an exploit: none is blocked for its content. */
  readonly takesAnyBody: boolean;
}

/** One REST API. The AWS template and the local gateway are both built from it. */
export interface Api extends PublishedApi {
  readonly authorizers: readonly Authorizer[];
  readonly binaryMediaTypes: readonly string[];
  /** By API Gateway response type. A type without an entry uses DEFAULT_4XX or DEFAULT_5XX. */
  readonly responses: Readonly<Record<string, GatewayResponse>>;
  /** Shared by all callers of a method, unless its route sets another rate. */
  readonly throttle: Rate;
  readonly usagePlans: Readonly<Record<string, UsagePlan>>;
  readonly firewall: Firewall;
}

/** Makes an API's own responses in one envelope, each with the common headers. */
export const responder =
  (envelope: Envelope, headers: Record<string, string>) =>
  (row: ErrorRow, more: Record<string, string> = {}): GatewayResponse => ({
    status: row.status,
    headers: {
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": "$context.requestId",
      ...(row.retryAfterSeconds !== undefined && { "retry-after": String(row.retryAfterSeconds) }),
      ...headers,
      ...more,
    },
    body: JSON.stringify(envelope.body(new ApiError(row), "$context.requestId")),
  });

/** A 429, with what it is that limits. */
const limited = (respond: ReturnType<typeof responder>, row: ErrorRow, by: "plan" | "address") =>
  respond(row, { ratelimit: `"${by}";r=0;t=${row.retryAfterSeconds}` });

/**
 * WAF's response to a rate-limited address. WAF answers before the gateway assigns a request id, so the fields
 * that hold the id are left out.
 */
export const tooManyFromAddress = (respond: ReturnType<typeof responder>): GatewayResponse => {
  const { status, headers, body } = limited(respond, errors.addressThrottled, "address");
  const isKnown = (value: unknown) => value !== "$context.requestId";
  const knownOf = <T>(fields: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => isKnown(value)));
  return {
    status: status ?? 429,
    headers: knownOf(headers),
    body: JSON.stringify(knownOf(JSON.parse(body))),
  };
};

const withoutStatus = ({ headers, body }: GatewayResponse): GatewayResponse => ({ headers, body });

/**
 * Every response that API Gateway may send by itself.
 *
 * @param notFound points to the list of endpoints. @param challenge is the 401 of the whole API: API Gateway
 * cannot set one for each route.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
export const gatewayResponses = (
  respond: ReturnType<typeof responder>,
  {
    notFound,
    challenge,
    takesFiles,
  }: { notFound: GatewayResponse; challenge: GatewayResponse; takesFiles: boolean },
): Api["responses"] => {
  const failed = respond(errors.internal);
  return {
    MISSING_AUTHENTICATION_TOKEN: notFound,
    RESOURCE_NOT_FOUND: notFound,
    UNAUTHORIZED: challenge,
    INVALID_API_KEY: challenge,
    WAF_FILTERED: respond(errors.firewall),
    ACCESS_DENIED: respond(errors.noAccess),
    REQUEST_TOO_LARGE: respond(errors.requestTooLarge(takesFiles)),
    THROTTLED: limited(respond, errors.throttled, "plan"),
    QUOTA_EXCEEDED: limited(respond, errors.overQuota, "plan"),
    // also when the authorizer gets no database connection; with a status of 503 it would hide that the database is down
    AUTHORIZER_FAILURE: respond(errors.internal, { "retry-after": String(errors.busy.retryAfterSeconds) }),
    AUTHORIZER_CONFIGURATION_ERROR: failed,
    INTEGRATION_FAILURE: respond(errors.serviceFailed),
    INTEGRATION_TIMEOUT: respond(errors.tookTooLong),
    DEFAULT_4XX: withoutStatus(respond(errors.unreadable)),
    DEFAULT_5XX: withoutStatus(failed),
  };
};
