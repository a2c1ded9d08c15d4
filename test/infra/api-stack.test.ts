import { readFileSync } from "node:fs";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { authorizers, routes } from "#lib/routes/index.ts";
import { integrationApi } from "../../infra/api.ts";
import { ApiStack } from "../../infra/stacks/api.ts";

const { context } = JSON.parse(readFileSync("cdk.json", "utf8"));
const template = Template.fromStack(
  new ApiStack(new App({ context }), "Api", { stage: "test", api: integrationApi }),
);
const all = (type: string) =>
  Object.values(template.findResources(`AWS::${type}`)).map(({ Properties }) => Properties);

test("each route has its method with its own kind of auth", () => {
  const expected = routes.map(({ method, auth }) => [
    method,
    auth.kind === "public" ? "NONE" : "CUSTOM",
    auth.kind === "apiKey",
  ]);
  const methods = all("ApiGateway::Method").filter(({ HttpMethod }) => HttpMethod !== "OPTIONS");
  const actual = methods.map((method) => [
    method.HttpMethod,
    method.AuthorizationType,
    method.ApiKeyRequired ?? false,
  ]);
  expect(actual.toSorted()).toEqual(expected.toSorted());
});

test("each function has the time and memory of its row, and runs its own bundle on Node 24", () => {
  const rows = [...routes, ...authorizers];
  const functions = all("Lambda::Function");
  expect(functions.length).toBe(rows.length);
  for (const { Runtime, Architectures, Handler } of functions)
    expect([Runtime, Architectures, Handler]).toEqual(["nodejs24.x", ["arm64"], "index.handler"]);
  const limits = (list: { Timeout: number; MemorySize: number }[]) =>
    list.map(({ Timeout, MemorySize }) => `${Timeout} ${MemorySize}`).toSorted();
  expect(limits(functions)).toEqual(
    limits(rows.map(({ timeoutSeconds, memoryMb }) => ({ Timeout: timeoutSeconds, MemorySize: memoryMb }))),
  );
});

test("each function may read exactly the secrets that it is given, and do nothing else", () => {
  const policies = all("IAM::Policy");
  expect(policies.length).toBe(routes.length + authorizers.length);
  const secretsOf = (value: unknown) =>
    [...JSON.stringify(value).matchAll(/municipal\/test\/[\w/-]+?(?=-\?|")/g)].map(String);
  for (const { PolicyDocument } of policies) {
    const actions = PolicyDocument.Statement.flatMap(({ Action }: { Action: string | string[] }) => Action);
    expect([...new Set(actions)].toSorted()).toEqual([
      "secretsmanager:DescribeSecret",
      "secretsmanager:GetSecretValue",
    ]);
  }
  const granted = policies.map(({ PolicyDocument }) => secretsOf(PolicyDocument).toSorted().join());
  const given = all("Lambda::Function").map(({ Environment }) => secretsOf(Environment).toSorted().join());
  expect(granted.toSorted()).toEqual(given.toSorted());
});

test("the gateway's own answers are those of the local gateway", () => {
  const responses = Object.fromEntries(
    all("ApiGateway::GatewayResponse").map(({ ResponseType, StatusCode, ResponseTemplates }) => [
      ResponseType,
      [StatusCode && Number(StatusCode), ResponseTemplates["application/json"]],
    ]),
  );
  const expected = Object.entries(integrationApi.responses).map(([type, { status, body }]) => [
    type,
    [status, body],
  ]);
  expect(responses).toEqual(Object.fromEntries(expected));
});

test("usage plans, throttles, binary types and the source of keys are those of the definition", () => {
  template.hasResourceProperties("AWS::ApiGateway::RestApi", {
    ApiKeySourceType: "AUTHORIZER",
    BinaryMediaTypes: ["multipart/form-data"],
  });
  for (const { requestsPerSecond, burst, requestsPerDay } of Object.values(integrationApi.usagePlans))
    template.hasResourceProperties("AWS::ApiGateway::UsagePlan", {
      Throttle: { RateLimit: requestsPerSecond, BurstLimit: burst },
      Quota: { Limit: requestsPerDay, Period: "DAY" },
    });
  template.hasResourceProperties("AWS::ApiGateway::Authorizer", {
    Type: "REQUEST",
    AuthorizerResultTtlInSeconds: 0,
    IdentitySource: "",
  });
});
