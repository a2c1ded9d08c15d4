import type { Envelope } from "#lib/http/envelope.ts";
import { Fault } from "#lib/http/fault.ts";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import type { Rate, Route } from "#lib/routes/route.ts";

/** A response that API Gateway sends without calling a function. It replaces `$context.requestId` in each. */
export interface GatewayResponse {
  /** Undefined keeps the type's own status. Never set on a DEFAULT type: that rewrites every other one. */
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface UsagePlan extends Rate {
  readonly requestsPerDay: number;
}

/** Requests per minute that one client address may send to a route. */
export interface AddressLimit {
  readonly route: Route;
  readonly requestsPerMinute: number;
}

/** What AWS WAF does in front of the gateway. The local city has no WAF. */
export interface Firewall {
  readonly perAddress?: { readonly limits: readonly AddressLimit[]; readonly refusal: GatewayResponse };
  /** Whether bodies may contain anything, such as a text about an exploit: none is blocked for its content. */
  readonly takesAnyBody: boolean;
}

/** One REST API. The AWS template and the local gateway are both built from it. */
export interface Api {
  readonly name: "integration" | "messaging";
  readonly routes: readonly Route[];
  /** The error envelope of the gateway's own responses. */
  readonly envelope: Envelope;
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
  (status: number, code: string, message: string, more: Record<string, string> = {}): GatewayResponse => ({
    status,
    headers: {
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": "$context.requestId",
      ...headers,
      ...more,
    },
    body: JSON.stringify(envelope.body(new Fault(status, code, message), "$context.requestId")),
  });

/**
 * WAF's response to a rate-limited address. WAF answers before the gateway assigns a request id, so the fields
 * that hold the id are left out.
 */
export const tooManyFromAddress = (respond: ReturnType<typeof responder>): GatewayResponse => {
  const message = "Too many requests from this address; try again in a minute";
  const { status, headers, body } = respond(429, "too_many_requests", message, {
    "retry-after": "60",
    ratelimit: '"address";r=0;t=60',
  });
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
  { notFound, challenge }: { notFound: GatewayResponse; challenge: GatewayResponse },
): Api["responses"] => {
  const tooMany = (message: string, seconds: number) =>
    respond(429, "too_many_requests", message, {
      "retry-after": String(seconds),
      ratelimit: `"plan";r=0;t=${seconds}`,
    });
  const failed = respond(
    500,
    "internal_error",
    "Something went wrong on our side; quote the request id when you report it",
  );
  return {
    MISSING_AUTHENTICATION_TOKEN: notFound,
    RESOURCE_NOT_FOUND: notFound,
    UNAUTHORIZED: challenge,
    INVALID_API_KEY: challenge,
    WAF_FILTERED: respond(
      403,
      "forbidden",
      "The firewall refused this request; quote the request id if that is a mistake",
    ),
    ACCESS_DENIED: respond(403, "forbidden", "These credentials do not open this endpoint"),
    REQUEST_TOO_LARGE: respond(413, "payload_too_large", "The request is larger than the gateway takes"),
    THROTTLED: tooMany("Too many requests at once; try again in a second", 1),
    QUOTA_EXCEEDED: tooMany(
      "Today's quota of the key's plan is used up; ask the operator for a larger plan",
      3_600,
    ),
    AUTHORIZER_FAILURE: failed,
    AUTHORIZER_CONFIGURATION_ERROR: failed,
    INTEGRATION_FAILURE: respond(
      502,
      "bad_gateway",
      "The service failed; quote the request id when you report it",
    ),
    INTEGRATION_TIMEOUT: respond(504, "timeout", "The request took too long; try again"),
    DEFAULT_4XX: withoutStatus(
      respond(400, "request_refused", "The gateway refused the request as malformed"),
    ),
    DEFAULT_5XX: withoutStatus(failed),
  };
};
