import { expect, test } from "vitest";
import { apiKeyAuthorizer, basicAuthorizer, bearerAuthorizer } from "#lib/routes/authorizer.ts";
import { routes } from "#lib/routes/index.ts";
import { maintain } from "#lib/routes/internal.ts";
import type { Api } from "../../infra/aws/api.ts";
import { integrationApi } from "../../infra/aws/integration-api.ts";
import { messagingApi } from "../../infra/aws/messaging-api.ts";
import { composeWith } from "./composed-stage.ts";
import { readTemplate } from "./template.ts";

// other tests compare the template with these definitions; this one has the agreed numbers

test("request limits for all callers together, and for a partner of each plan", () => {
  expect([integrationApi.throttle, messagingApi.throttle]).toEqual([
    { requestsPerSecond: 1_000, burst: 1_250 },
    { requestsPerSecond: 100, burst: 1_250 },
  ]);
  expect(integrationApi.usagePlans).toEqual({
    standard: { requestsPerSecond: 10, burst: 50, requestsPerDay: 50_000 },
    trial: { requestsPerSecond: 5, burst: 10, requestsPerDay: 10_000 },
    portal: { requestsPerSecond: 100, burst: 1_000, requestsPerDay: 1_000_000 },
  });
  expect(messagingApi.usagePlans).toEqual({});
});

test("requests per address and minute: on all paths together, and of login attempts", () => {
  const limits = (api: Api) =>
    api.firewall.perAddress.limits.map(({ route, requestsPerMinute }) => [route?.fn, requestsPerMinute]);
  expect(limits(integrationApi)).toEqual([
    [undefined, 6_000],
    ["employee/login", 120],
    ["employee/refresh", 300],
    ["employee/ticket", 300],
  ]);
  expect(limits(messagingApi)).toEqual([[undefined, 1_200]]);
});

test("one address can take at most a fifth of what the callers of a method share", () => {
  for (const { name, throttle, firewall } of [integrationApi, messagingApi]) {
    const [all] = firewall.perAddress.limits;
    const share = (all?.requestsPerMinute ?? Number.POSITIVE_INFINITY) / (60 * throttle.requestsPerSecond);
    expect([name, share <= 0.2]).toEqual([name, true]);
  }
});

test("cache time and identity header of each authorizer", () =>
  expect(
    [apiKeyAuthorizer, bearerAuthorizer, basicAuthorizer].map((row) => [
      row.kind,
      row.cacheSeconds,
      row.identityHeaders,
    ]),
  ).toEqual([
    ["apiKey", 30, ["apikey"]],
    ["bearer", 300, ["authorization"]],
    ["basic", 30, ["authorization"]],
  ]));

test("no route runs longer than API Gateway waits, and maintenance ends before its next run", () => {
  for (const { fn, timeoutSeconds } of routes) expect([fn, timeoutSeconds <= 28]).toEqual([fn, true]);
  expect(maintain.timeoutSeconds).toBeLessThan(60 * (maintain.everyMinutes ?? 0));
});

/** A response of the gateway: status, code and retry hint. */
const answersOf = ({ responses }: Api) =>
  Object.fromEntries(
    Object.entries(responses).map(([type, { status, body, headers }]) => [
      type,
      [status, JSON.parse(body).code, headers["retry-after"] ?? headers["www-authenticate"]?.split(" ")[0]],
    ]),
  );

const shared = (unauthorized: readonly unknown[], code: (code: string) => string) => ({
  MISSING_AUTHENTICATION_TOKEN: [404, code("not_found"), undefined],
  RESOURCE_NOT_FOUND: [404, code("not_found"), undefined],
  UNAUTHORIZED: unauthorized,
  INVALID_API_KEY: unauthorized,
  WAF_FILTERED: [403, code("forbidden"), undefined],
  ACCESS_DENIED: [403, code("forbidden"), undefined],
  REQUEST_TOO_LARGE: [413, code("payload_too_large"), undefined],
  THROTTLED: [429, code("too_many_requests"), "1"],
  QUOTA_EXCEEDED: [429, code("too_many_requests"), "3600"],
  AUTHORIZER_FAILURE: [500, code("internal_error"), "2"],
  AUTHORIZER_CONFIGURATION_ERROR: [500, code("internal_error"), undefined],
  INTEGRATION_FAILURE: [502, code("bad_gateway"), "2"],
  INTEGRATION_TIMEOUT: [504, code("timeout"), undefined],
  DEFAULT_4XX: [undefined, code("request_refused"), undefined],
  DEFAULT_5XX: [undefined, code("internal_error"), undefined],
});

test("the gateway's own responses: status, code and retry hint", () => {
  expect(answersOf(integrationApi)).toEqual(shared([401, "unauthorized", "Bearer"], (code) => code));
  expect(answersOf(messagingApi)).toEqual(
    shared([401, "UNAUTHORIZED", "Basic"], (code) => code.toUpperCase()),
  );
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
