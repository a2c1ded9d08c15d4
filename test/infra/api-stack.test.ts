import { Match, Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { upstreamUrls as urlsOf } from "../../infra/upstream-urls.ts";
import { composeWith } from "../steps/stage.ts";

const { apis, config } = composeWith({ stage: "test" });
const upstreamUrls = urlsOf(config);

describe.each(apis)("the $api.name API", (stack) => {
  const { api } = stack;
  const { routes, authorizers } = api;
  const template = Template.fromStack(stack);
  const all = (type: string) =>
    Object.values(template.findResources(`AWS::${type}`)).map(({ Properties }) => Properties);

  type Resources = Record<string, { Properties: Record<string, never> }>;
  const resources = (type: string) => template.findResources(`AWS::${type}`) as Resources;
  const idOf = (value: unknown) => /"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/.exec(JSON.stringify(value))?.[1] ?? "";

  /** The address of an API Gateway resource, from its parents. */
  const pathOf = (id: string): string => {
    const resource = resources("ApiGateway::Resource")[id];
    return resource ? `${pathOf(idOf(resource.Properties.ParentId))}/${resource.Properties.PathPart}` : "";
  };

  /** The function behind a method: its environment, limits and what its role may do. */
  const functionOf = (method: Record<string, unknown>) => {
    const called = JSON.stringify(method.Integration).match(/"(\w*Function\w*)","Arn"/)?.[1] ?? "";
    const { Properties } = resources("Lambda::Function")[called] ?? {
      Properties: {} as Record<string, never>,
    };
    const role = idOf(Properties.Role);
    const policies = Object.values(resources("IAM::Policy")).filter(
      ({ Properties: { Roles } }) => idOf(Roles) === role,
    );
    return { ...Properties, policies: policies.map((policy) => policy.Properties.PolicyDocument) } as Record<
      string,
      unknown
    >;
  };

  const secretsIn = (value: unknown) =>
    [
      ...new Set(
        [...JSON.stringify(value).matchAll(/municipal\/test\/([a-z/-]+?)(?=-\?|")/g)].map(([, name]) => name),
      ),
    ].toSorted();

  test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "%s has its own auth, function, limits and secrets",
    (place, route) => {
      const methods = all("ApiGateway::Method").filter(
        ({ HttpMethod, ResourceId }) => `${HttpMethod} ${pathOf(idOf(ResourceId))}` === place,
      );
      expect(methods.length).toBe(1);
      const [method = {}] = methods;
      const isPublic = route.auth.kind === "public";
      expect(method.AuthorizationType).toBe(isPublic ? "NONE" : "CUSTOM");
      expect(method.ApiKeyRequired ?? false).toBe(route.auth.kind === "apiKey");
      const { Timeout, MemorySize, Environment, policies } = functionOf(method);
      expect([Timeout, MemorySize]).toEqual([route.timeoutSeconds, route.memoryMb]);
      const secrets = Object.values(route.secrets).toSorted();
      expect(secretsIn(Environment)).toEqual(secrets);
      expect(secretsIn(policies)).toEqual(secrets);
      const told = Object.entries((Environment as { Variables: Record<string, string> }).Variables);
      expect(told.filter(([name]) => name in upstreamUrls)).toEqual(
        (route.upstreams ?? []).map((name) => [name, upstreamUrls[name]]),
      );
    },
  );

  test("every function runs a bundle of its own on Node 24, and its role reads secrets, writes its log and does nothing else", () => {
    const functions = all("Lambda::Function");
    expect(functions.length).toBe(routes.length + authorizers.length);
    expect(new Set(functions.map(({ Code }) => JSON.stringify(Code))).size).toBe(functions.length);
    for (const { Runtime, Architectures, Handler } of functions)
      expect([Runtime, Architectures, Handler]).toEqual(["nodejs24.x", ["arm64"], "index.handler"]);
    for (const { PolicyDocument } of all("IAM::Policy")) {
      const actions = PolicyDocument.Statement.flatMap(({ Action }: { Action: string | string[] }) => Action);
      const allowed =
        /^(secretsmanager:(DescribeSecret|GetSecretValue)|logs:(CreateLogStream|PutLogEvents))$/;
      expect(actions.filter((action: string) => !allowed.test(action))).toEqual([]);
    }
  });

  test("the gateway's own answers are those of the local gateway", () => {
    const responses = Object.fromEntries(
      all("ApiGateway::GatewayResponse").map(
        ({ ResponseType, StatusCode, ResponseTemplates, ResponseParameters }) => [
          ResponseType,
          [StatusCode && Number(StatusCode), ResponseTemplates["application/json"], ResponseParameters],
        ],
      ),
    );
    const mapped = (headers: Record<string, string>) =>
      Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          `gatewayresponse.header.${name}`,
          value === "$context.requestId" ? "context.requestId" : `'${value}'`,
        ]),
      );
    const expected = Object.entries(api.responses).map(([type, { status, body, headers }]) => [
      type,
      [status, body, mapped(headers)],
    ]);
    expect(responses).toEqual(Object.fromEntries(expected));
  });

  test("usage plans, throttles, binary types and the source of keys are those of the definition", () => {
    template.hasResourceProperties("AWS::ApiGateway::RestApi", {
      ApiKeySourceType: "AUTHORIZER",
      BinaryMediaTypes: ["multipart/form-data"],
    });
    template.resourceCountIs("AWS::ApiGateway::UsagePlan", Object.keys(api.usagePlans).length);
    for (const { requestsPerSecond, burst, requestsPerDay } of Object.values(api.usagePlans))
      template.hasResourceProperties("AWS::ApiGateway::UsagePlan", {
        Throttle: { RateLimit: requestsPerSecond, BurstLimit: burst },
        Quota: { Limit: requestsPerDay, Period: "DAY" },
      });
  });

  test.each(authorizers.map((authorizer) => [authorizer.fn, authorizer] as const))(
    "the authorizer %s is called and kept by the headers and for the time of the definition",
    (_, { kind, identityHeaders, cacheSeconds }) =>
      template.hasResourceProperties("AWS::ApiGateway::Authorizer", {
        Name: Match.stringLikeRegexp(kind),
        Type: "REQUEST",
        AuthorizerResultTtlInSeconds: cacheSeconds,
        IdentitySource: identityHeaders.map((name) => `method.request.header.${name}`).join(),
      }),
  );

  test("the gateway writes no execution log, in which a passphrase would stand", () => {
    for (const { MethodSettings } of all("ApiGateway::Stage"))
      for (const { LoggingLevel, DataTraceEnabled } of MethodSettings)
        expect([LoggingLevel, DataTraceEnabled]).toEqual(["OFF", false]);
    expect(all("ApiGateway::Stage").length).toBe(1);
  });
});
