import { type Envelope, integrationEnvelope } from "#lib/http/envelope.ts";
import { Fault } from "#lib/http/fault.ts";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import { authorizers, routes } from "#lib/routes/index.ts";
import type { Route } from "#lib/routes/route.ts";

/** How API Gateway answers by itself, without a function. `$context.requestId` is filled in for each answer. */
interface GatewayResponse {
  /** Absent: the type's own status. Never set on a DEFAULT type: that rewrites every other one. */
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface UsagePlan {
  readonly requestsPerSecond: number;
  readonly burst: number;
  readonly requestsPerDay: number;
}

/** One REST API. The AWS template and the local gateway are two readings of this. */
export interface Api {
  readonly name: string;
  readonly routes: readonly Route[];
  readonly authorizers: readonly Authorizer[];
  readonly binaryMediaTypes: readonly string[];
  /** By API Gateway's response type. A type that is not here falls to its DEFAULT_4XX or DEFAULT_5XX. */
  readonly responses: Readonly<Record<string, GatewayResponse>>;
  /** For all callers of a method together. */
  readonly throttle: Omit<UsagePlan, "requestsPerDay">;
  readonly usagePlans: Readonly<Record<string, UsagePlan>>;
}

const responder =
  (envelope: Envelope, headers: Record<string, string>) =>
  (status: number, code: string, message: string, more: Record<string, string> = {}): GatewayResponse => ({
    status,
    headers: { ...headers, ...more },
    body: JSON.stringify(envelope.body(new Fault(status, code, message), "$context.requestId")),
  });

const integration = responder(integrationEnvelope, {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-request-id": "$context.requestId",
  // a page that may read the answers of a public route must be able to read why it got none
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "retry-after, x-request-id",
});

const withoutStatus = ({ headers, body }: GatewayResponse): GatewayResponse => ({ headers, body });

const notFound = integration(
  404,
  "not_found",
  "There is no such endpoint; check the address and the method: each endpoint answers one method only",
);
/** One answer for every kind of credentials: API Gateway has no other challenge for each route. */
const challenge = integration(
  401,
  "unauthorized",
  "Employee endpoints need a valid access token in the header Authorization: Bearer, resident endpoints an active API key in the header apikey",
  { "www-authenticate": 'Bearer realm="municipal", ApiKey realm="municipal", header="apikey"' },
);
const tooMany = (message: string, seconds: number) =>
  integration(429, "too_many_requests", message, {
    "retry-after": String(seconds),
    ratelimit: `"plan";r=0;t=${seconds}`,
  });
const failed = integration(
  500,
  "internal_error",
  "Something went wrong on our side; quote the request id when you report it",
);

/**
 * Employee, resident and tourism services: everything under `/v1`.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
export const integrationApi: Api = {
  name: "integration",
  routes,
  authorizers,
  binaryMediaTypes: ["multipart/form-data"],
  throttle: { requestsPerSecond: 1_000, burst: 2_000 },
  usagePlans: {
    standard: { requestsPerSecond: 500, burst: 1_000, requestsPerDay: 5_000_000 },
    trial: { requestsPerSecond: 5, burst: 10, requestsPerDay: 10_000 },
  },
  responses: {
    MISSING_AUTHENTICATION_TOKEN: notFound,
    RESOURCE_NOT_FOUND: notFound,
    UNAUTHORIZED: challenge,
    INVALID_API_KEY: challenge,
    ACCESS_DENIED: integration(403, "forbidden", "These credentials do not open this endpoint"),
    REQUEST_TOO_LARGE: integration(413, "payload_too_large", "The request is larger than the gateway takes"),
    THROTTLED: tooMany("Too many requests at once; try again in a second", 1),
    QUOTA_EXCEEDED: tooMany(
      "Today's quota of the key's plan is used up; ask the operator for a larger plan",
      3_600,
    ),
    AUTHORIZER_FAILURE: failed,
    AUTHORIZER_CONFIGURATION_ERROR: failed,
    INTEGRATION_FAILURE: integration(
      502,
      "bad_gateway",
      "The service failed; quote the request id when you report it",
    ),
    INTEGRATION_TIMEOUT: integration(504, "timeout", "The request took too long; try again"),
    DEFAULT_4XX: withoutStatus(
      integration(400, "request_refused", "The gateway refused the request as malformed"),
    ),
    DEFAULT_5XX: withoutStatus(failed),
  },
};
