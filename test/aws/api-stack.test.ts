import { describe, expect, test } from "vitest";
import { methodsOf } from "#lib/routes/route.ts";
import { upstreamUrls as urlsOf } from "../../infra/aws/stage-names.ts";
import { functionName } from "../../infra/build/build.ts";
import { composeWith } from "./composed-stage.ts";
import { idOf, readTemplate } from "./template.ts";

const { apis, config } = composeWith({ stage: "test" });
const upstreamUrls = urlsOf(config);

const secretsIn = (value: unknown) =>
  [
    ...new Set(
      [...JSON.stringify(value).matchAll(/municipal\/test\/([a-z/-]+?)(?=-\?|")/g)].map(([, name]) => name),
    ),
  ].toSorted();

describe.each(apis)("the $api.name API", (stack) => {
  const { api } = stack;
  const { routes, authorizers } = api;
  const { template, resources, all, only, methodAt, functionOf, statements } = readTemplate(stack);

  test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "%s has its own function, limits and secrets",
    (place, route) => {
      const { Timeout, MemorySize, Environment, policies } = functionOf(methodAt(place));
      expect([Timeout, MemorySize]).toEqual([route.timeoutSeconds, route.memoryMb]);
      const secrets = Object.values(route.secrets).toSorted();
      expect(secretsIn(Environment)).toEqual(secrets);
      expect(secretsIn(policies)).toEqual(secrets);
      const variables = Object.entries(Environment.Variables);
      expect(variables.filter(([name]) => name in upstreamUrls)).toEqual(
        (route.upstreams ?? []).map((name) => [name, upstreamUrls[name]]),
      );
    },
  );

  test.each(authorizers.map((authorizer) => [authorizer.fn, authorizer] as const))(
    "the authorizer %s has the time and memory of its row",
    (fn, { timeoutSeconds, memoryMb }) => {
      const [found] = Object.entries(resources("Lambda::Function")).filter(([id]) =>
        id.includes(`${functionName(fn).replaceAll("-", "")}Function`),
      );
      const { Timeout, MemorySize } = found?.[1].Properties ?? {};
      expect([Timeout, MemorySize]).toEqual([timeoutSeconds, memoryMb]);
    },
  );

  test("every function runs its own bundle on Node 24 with its own role", () => {
    const functions = all("Lambda::Function");
    expect(functions.length).toBe(routes.length + authorizers.length);
    expect(new Set(functions.map(({ Code }) => JSON.stringify(Code))).size).toBe(functions.length);
    expect(new Set(functions.map(({ Role }) => idOf(Role))).size).toBe(functions.length);
    for (const { Runtime, Architectures, Handler } of functions)
      expect([Runtime, Architectures, Handler]).toEqual(["nodejs24.x", ["arm64"], "index.handler"]);
  });

  test("a function's role may only read secrets and write its log", () => {
    for (const { PolicyDocument } of all("IAM::Policy")) {
      const actions = PolicyDocument.Statement.flatMap(({ Action }: { Action: string | string[] }) => Action);
      const allowed =
        /^(secretsmanager:(DescribeSecret|GetSecretValue)|logs:(CreateLogStream|PutLogEvents))$/;
      expect(actions.filter((action: string) => !allowed.test(action))).toEqual([]);
    }
  });

  test("no policy allows an action by a wildcard", () =>
    expect(
      statements()
        .flatMap(({ Action }) => Action)
        .filter((action) => action.includes("*")),
    ).toEqual([]));

  test("the gateway may call a function only through its route, not from the console's test page", () => {
    const sources = all("Lambda::Permission").map(({ SourceArn }) => JSON.stringify(SourceArn));
    const methods = routes.flatMap(({ path, ...route }) =>
      methodsOf(route).map((method) => ({ method, path })),
    );
    expect(sources.length).toBe(methods.length + authorizers.length);
    expect(sources.filter((source) => source.includes("test-invoke-stage"))).toEqual([]);
    for (const { method, path } of methods)
      expect(
        sources.filter((source) => source.includes(`/${method}${path.replace(/\{\w+\+?\}/, "*")}"`)),
      ).toHaveLength(1);
  });

  test("the gateway may call the function of each method and authorizer, and nothing else", () => {
    const called = [
      ...all("ApiGateway::Method").map(({ Integration: { Type, Uri } }) => (Type === "MOCK" ? [] : [Uri])),
      ...all("ApiGateway::Authorizer").map(({ AuthorizerUri }) => [AuthorizerUri]),
    ].flat();
    const permitted = all("Lambda::Permission").map(({ FunctionName }) => FunctionName);
    expect(permitted.map(idOf).toSorted()).toEqual(called.map(idOf).toSorted());
  });

  test("the gateway is regional", () =>
    expect(only("ApiGateway::RestApi").EndpointConfiguration).toEqual({ Types: ["REGIONAL"] }));

  test("the gateway writes no execution log, which would contain passphrases", () => {
    for (const { LoggingLevel, DataTraceEnabled } of only("ApiGateway::Stage").MethodSettings)
      expect([LoggingLevel, DataTraceEnabled]).toEqual(["OFF", false]);
  });

  // "url": "https://example.com/dev?username=demo&message=hellofromdemo/"
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-understanding-xray-traces.html
  test("no trace is recorded, because that of a gateway contains the query", () => {
    expect(only("ApiGateway::Stage").TracingEnabled ?? false).toBe(false);
    for (const { TracingConfig } of all("Lambda::Function")) expect(TracingConfig).toBeUndefined();
  });

  test("the access log describes a request without its content and sender", () => {
    const { Format, DestinationArn } = only("ApiGateway::Stage").AccessLogSetting;
    const noted = Object.values(JSON.parse(Format)) as string[];
    expect(noted).toEqual(
      expect.arrayContaining(["$context.requestId", "$context.resourcePath", "$context.status"]),
    );
    const revealing =
      /query|override|context\.path|identity\.(?!apiKeyId$)|authorizer|error\.message|domainName/i;
    expect(noted.filter((variable) => revealing.test(variable))).toEqual([]);
    const [, , group] = JSON.stringify(DestinationArn).match(/(log-group:.*?"Ref":"(\w+)")/) ?? [];
    expect(resources("Logs::LogGroup")[group ?? ""]?.Properties.RetentionInDays).toBe(config.logRetention);
  });

  test("every log has a retention time", () => {
    for (const { RetentionInDays } of all("Logs::LogGroup"))
      expect(RetentionInDays).toBe(config.logRetention);
  });

  test("the account's role for access logs is set before the stage is created, and is kept when the stack is deleted", () => {
    const [[account, { Properties, DeletionPolicy }] = ["", { Properties: {}, DeletionPolicy: "" }]] =
      Object.entries(resources("ApiGateway::Account"));
    const role = resources("IAM::Role")[idOf(Properties.CloudWatchRoleArn)];
    expect([DeletionPolicy, role?.DeletionPolicy]).toEqual(["Retain", "Retain"]);
    expect(Object.values(resources("ApiGateway::Stage"))[0]?.DependsOn).toContain(account);
  });

  test("has a policy for the operator of its partners, if it counts any", () =>
    expect(all("IAM::ManagedPolicy").length).toBe(Object.keys(api.usagePlans).length > 0 ? 1 : 0));

  test("stays far below the 500 resources that a stack may have", () =>
    expect(Object.keys(template.toJSON().Resources).length).toBeLessThan(400));
});

/** An ARN with its references by name, such as `arn:<Partition>:apigateway:<Region>::/apikeys`. */
const shown = (arn: unknown): string =>
  JSON.stringify(arn)
    .replaceAll(/\{"Ref":"(?:AWS::)?(\w+)"\}/g, "<$1>")
    .replaceAll(/[^\w<>:/*?-]/g, "");

test("the partner operator's policy allows what the command does, for API keys and this stage's usage plans only", () => {
  const { PolicyDocument } = readTemplate(apis[0] ?? expect.fail()).only("IAM::ManagedPolicy");
  const granted = PolicyDocument.Statement.flatMap(
    ({ Action, Resource }: { Action: string | string[]; Resource: unknown }) =>
      [Action]
        .flat()
        .flatMap((action) =>
          [Resource].flat().map((arn) => `${action} ${/(?:::\/|secret:)(.*)$/.exec(shown(arn))?.[1]}`),
        ),
  ).map((line: string) => line.replaceAll(/<\w*?(standard|trial|portal)Plan\w*>/g, "<$1>"));
  const planKeys = ["standard", "trial", "portal"].map((plan) => `usageplans/<${plan}>/keys`);
  expect(granted.toSorted()).toEqual(
    [
      ...["apikeys", "usageplans", ...planKeys].map((path) => `apigateway:GET ${path}`),
      ...["apikeys", ...planKeys].map((path) => `apigateway:POST ${path}`),
      ...["apikeys", ...planKeys].map((path) => `apigateway:DELETE ${path}/*`),
      "apigateway:PATCH apikeys/*",
      "secretsmanager:DescribeSecret municipal/test/database/partner-admin-??????",
      "secretsmanager:GetSecretValue municipal/test/database/partner-admin-??????",
    ].toSorted(),
  );
});
