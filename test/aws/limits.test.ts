import { expect, test } from "vitest";
import { apiKeyAuthorizer, basicAuthorizer, bearerAuthorizer } from "#lib/routes/authorizer.ts";
import { routes } from "#lib/routes/index.ts";
import { maintain } from "#lib/routes/internal.ts";
import type { Api } from "../../infra/aws/api.ts";
import { integrationApi } from "../../infra/aws/integration-api.ts";
import { messagingApi } from "../../infra/aws/messaging-api.ts";
import { composeWith } from "./composed-stage.ts";
import { readTemplate } from "./template.ts";

const perAddress = ({ firewall }: Api) =>
  Object.fromEntries(
    firewall.perAddress.limits.map((one) => [one.route?.fn ?? "all", one.requestsPerMinute]),
  );

/** The gateway's own responses: status, code and retry hint. */
const answersOf = ({ responses }: Api) =>
  Object.fromEntries(
    Object.entries(responses).map(([type, { status, body, headers }]) => {
      const hint = headers["retry-after"] ?? headers["www-authenticate"]?.split(" ")[0];
      return [type, [status, JSON.parse(body).code, hint].filter(Boolean).join(" ")];
    }),
  );

const answers = {
  ...{ MISSING_AUTHENTICATION_TOKEN: "404 not_found", RESOURCE_NOT_FOUND: "404 not_found" },
  ...{ UNAUTHORIZED: "401 unauthorized Bearer", INVALID_API_KEY: "401 unauthorized Bearer" },
  ...{ WAF_FILTERED: "403 forbidden", ACCESS_DENIED: "403 forbidden" },
  REQUEST_TOO_LARGE: "413 payload_too_large",
  ...{ THROTTLED: "429 too_many_requests 1", QUOTA_EXCEEDED: "429 too_many_requests 3600" },
  ...{ AUTHORIZER_FAILURE: "500 internal_error 2", AUTHORIZER_CONFIGURATION_ERROR: "500 internal_error" },
  ...{ INTEGRATION_FAILURE: "502 bad_gateway 2", INTEGRATION_TIMEOUT: "504 timeout" },
  ...{ DEFAULT_4XX: "request_refused", DEFAULT_5XX: "internal_error" },
};
const inCapitals = Object.fromEntries(
  Object.entries(answers).map(([type, text]) => [type, text.toUpperCase().replace("BEARER", "Basic")]),
);
const cacheTimes = [apiKeyAuthorizer, bearerAuthorizer, basicAuthorizer].map(
  ({ kind, identityHeaders, cacheSeconds }) => `${kind} in ${identityHeaders}: ${cacheSeconds} s`,
);
const plans = integrationApi.usagePlans;

// other tests compare the template with these definitions; this one has the agreed numbers
test.each<[string, unknown, unknown]>([
  ["all callers of integration", integrationApi.throttle, { requestsPerSecond: 1_000, burst: 1_250 }],
  ["all callers of messaging", messagingApi.throttle, { requestsPerSecond: 100, burst: 1_250 }],
  ["usage plans", [Object.keys(plans), messagingApi.usagePlans], [["standard", "trial", "portal"], {}]],
  ["plan standard", plans.standard, { requestsPerSecond: 10, burst: 50, requestsPerDay: 50_000 }],
  ["plan trial", plans.trial, { requestsPerSecond: 5, burst: 10, requestsPerDay: 10_000 }],
  ["plan portal", plans.portal, { requestsPerSecond: 100, burst: 1_000, requestsPerDay: 1_000_000 }],
  [
    "an address, in a minute, of integration",
    perAddress(integrationApi),
    { all: 6_000, "employee/login": 120, "employee/refresh": 300, "employee/ticket": 300 },
  ],
  ["an address, in a minute, of messaging", perAddress(messagingApi), { all: 1_200 }],
  [
    "cache time and identity header of each authorizer",
    cacheTimes,
    ["apiKey in apikey: 30 s", "bearer in authorization: 300 s", "basic in authorization: 30 s"],
  ],
  ["the gateway's own responses, of integration", answersOf(integrationApi), answers],
  ["the gateway's own responses, of messaging", answersOf(messagingApi), inCapitals],
])("%s: as agreed", (_, found, agreed) => expect(found).toEqual(agreed));

test.each([integrationApi, messagingApi])(
  "one address can take at most a fifth of what the callers of a method of the $name API share",
  ({ throttle, firewall }) => {
    const [all] = firewall.perAddress.limits;
    const share = (all?.requestsPerMinute ?? Number.POSITIVE_INFINITY) / (60 * throttle.requestsPerSecond);
    expect(share).toBeLessThanOrEqual(0.2);
  },
);

test("no route runs longer than API Gateway waits, and maintenance ends before its next run", () => {
  for (const { fn, timeoutSeconds } of routes) expect([fn, timeoutSeconds <= 28]).toEqual([fn, true]);
  expect(maintain.timeoutSeconds).toBeLessThan(60 * (maintain.everyMinutes ?? 0));
});

test("a deployment step may take 14 minutes, and the deployment waits a little longer", () => {
  const { resources, template } = readTemplate(composeWith({ stage: "prod" }).data);
  const timeoutOf = (fn: string) =>
    Object.entries(resources("Lambda::Function")).find(([id]) => id.includes(`${fn}Function`))?.[1].Properties
      .Timeout;
  expect(["migrate", "fillsecrets", "rotate"].map(timeoutOf)).toEqual([840, 840, 60]);
  const triggers = Object.values(template.findResources("Custom::Trigger"));
  expect(triggers.map(({ Properties }) => Properties.Timeout)).toEqual(["870000", "870000"]);
});
