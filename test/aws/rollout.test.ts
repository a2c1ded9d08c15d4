import { describe, expect, test } from "vitest";
import { liveAlias } from "../../infra/aws/constructs/node-function.ts";
import { functionName } from "../../infra/build/build.ts";
import { composeWith, synthesizeWith } from "./composed-stage.ts";
import { idOf, readTemplate } from "./template.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Properties = Record<string, any>;

const entriesOf = (found: Readonly<Record<string, { readonly Properties: Properties }>>) =>
  Object.entries(found).map(([id, { Properties }]) => ({ id, ...Properties }) as Properties);

test("each alarm of production either notifies the operators or takes a deployment back", () => {
  const { apis, data, messaging, jobs, network, operations } = composeWith({ stage: "prod" });
  for (const stack of [...apis, data, messaging, jobs, network, operations]) {
    const { resources, all } = readTemplate(stack);
    const rollback = JSON.stringify(
      all("CodeDeploy::DeploymentGroup").map(({ AlarmConfiguration }) => AlarmConfiguration),
    );
    for (const { id, AlarmActions } of entriesOf(resources("CloudWatch::Alarm")))
      expect([id, rollback.includes(`"Ref":"${id}"`) || AlarmActions?.length === 1]).toEqual([id, true]);
  }
});

describe.each(composeWith({ stage: "prod" }).apis)("the $api.name API of production", (stack) => {
  const { api } = stack;
  const { resources, all } = readTemplate(stack);
  const aliases = resources("Lambda::Alias");
  const groups = resources("CodeDeploy::DeploymentGroup");
  const alarms = resources("CloudWatch::Alarm");
  const callers = [
    ...all("ApiGateway::Method").flatMap(({ Integration }) =>
      Integration.Type === "MOCK" ? [] : [Integration.Uri],
    ),
    ...all("ApiGateway::Authorizer").map(({ AuthorizerUri }) => AuthorizerUri),
  ];

  test("the gateway invokes the alias of each function, and may invoke nothing else", () => {
    const ids = Object.keys(aliases);
    expect(ids.length).toBe(api.routes.length + api.authorizers.length);
    expect(new Set(callers.map(idOf))).toEqual(new Set(ids));
    const permissions = all("Lambda::Permission");
    expect(permissions.length).toBe(callers.length);
    expect(new Set(permissions.map(({ FunctionName }) => FunctionName.Ref))).toEqual(new Set(ids));
  });

  test("each authorizer may be invoked for itself by the alias that it names", () => {
    for (const { id, AuthorizerUri } of entriesOf(resources("ApiGateway::Authorizer"))) {
      const [permission] = all("Lambda::Permission").filter(({ SourceArn }) =>
        JSON.stringify(SourceArn).includes(`"Ref":"${id}"`),
      );
      expect(permission?.FunctionName.Ref).toBe(idOf(AuthorizerUri));
    }
  });

  test("an alias has nothing that could change together with its version, with which CodeDeploy fails", () => {
    for (const { FunctionName, FunctionVersion, Name, ...others } of all("Lambda::Alias")) {
      expect([Name, others]).toEqual([liveAlias, {}]);
      const [version, attribute] = FunctionVersion["Fn::GetAtt"];
      expect([resources("Lambda::Version")[version]?.Properties.FunctionName, attribute]).toEqual([
        FunctionName,
        "Version",
      ]);
    }
  });

  test("CodeDeploy shifts each alias by its own group, which exists before: 10 % for five minutes", () => {
    const [application] = Object.keys(resources("CodeDeploy::Application"));
    const used = Object.values(aliases).map((alias) => {
      const { CodeDeployLambdaAliasUpdate: update } = (alias as unknown as Properties).UpdatePolicy;
      expect(update.ApplicationName.Ref).toBe(application);
      expect(alias.DependsOn).toContain(update.DeploymentGroupName.Ref);
      return update.DeploymentGroupName.Ref;
    });
    expect(used.toSorted()).toEqual(Object.keys(groups).toSorted());
    for (const { ApplicationName, DeploymentConfigName, DeploymentStyle } of entriesOf(groups))
      expect([ApplicationName.Ref, DeploymentConfigName, DeploymentStyle.DeploymentType]).toEqual([
        ...[application, "CodeDeployDefault.LambdaCanary10Percent5Minutes", "BLUE_GREEN"],
      ]);
  });

  test("every group goes back when any alarm of the API starts, so that no release is half deployed", () => {
    for (const { AlarmConfiguration, AutoRollbackConfiguration } of entriesOf(groups)) {
      expect(AutoRollbackConfiguration).toEqual({
        Enabled: true,
        Events: ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"],
      });
      expect(AlarmConfiguration.Enabled).toBe(true);
      expect(AlarmConfiguration.Alarms.map(({ Name }: Properties) => Name.Ref)).toEqual(Object.keys(alarms));
    }
  });

  test("one crash of the new version of any route's function starts an alarm within a minute", () => {
    const crashes = entriesOf(alarms).filter(({ AlarmName }) => AlarmName.includes("-crashes-"));
    const watched = crashes.flatMap(({ Metrics: [{ Expression }, ...metrics] }) =>
      metrics.map(({ Id, MetricStat: { Metric, Period, Stat } }: Properties) => {
        expect(Expression.split(" + ")).toContain(`FILL(${Id}, 0)`);
        expect([Metric.Namespace, Metric.MetricName, Period, Stat]).toEqual([
          ...["AWS/Lambda", "Errors", 60, "Sum"],
        ]);
        return Object.fromEntries(Metric.Dimensions.map(({ Name, Value }: Properties) => [Name, Value]));
      }),
    );
    for (const { Threshold, EvaluationPeriods, Metrics } of crashes) {
      expect([Threshold, EvaluationPeriods]).toEqual([1, 1]);
      // Lambda's metrics of one alarm may be 10
      expect(Metrics.length).toBeLessThanOrEqual(11);
    }
    const guards = new Set(api.authorizers.map(({ fn }) => functionName(fn).replaceAll("-", "")));
    const routed = all("Lambda::Alias").filter(
      ({ FunctionName }) => ![...guards].some((name) => FunctionName.Ref.includes(`${name}Function`)),
    );
    expect(routed.length).toBe(api.routes.length);
    const byVersion = (one: Properties, other: Properties) =>
      JSON.stringify(one.ExecutedVersion).localeCompare(JSON.stringify(other.ExecutedVersion));
    expect(watched.toSorted(byVersion)).toEqual(
      routed
        .map(({ FunctionName, FunctionVersion }) => ({
          FunctionName,
          Resource: { "Fn::Join": ["", [FunctionName, ":live"]] },
          ExecutedVersion: FunctionVersion,
        }))
        .toSorted(byVersion),
    );
  });

  test("errors that functions answer themselves, and those of authorizers, start an alarm after two minutes", () => {
    const [{ Threshold, EvaluationPeriods, Metrics, TreatMissingData } = {} as Properties] = entriesOf(
      alarms,
    ).filter(({ AlarmName }) => AlarmName.endsWith("-rollout-5xx"));
    expect([Threshold, EvaluationPeriods, TreatMissingData]).toEqual([3, 2, "notBreaching"]);
    expect(Metrics[0].Expression).toMatch(/^FILL\(all, 0\)( - FILL\(known\d, 0\))+$/);
    expect(Metrics[1].MetricStat).toMatchObject({ Metric: { MetricName: "5XXError" }, Period: 60 });
  });
});

test.each([
  ["a stage that is not production", { stage: "test" }],
  ["production whose operator cannot wait", { stage: "prod", gradual: "false" }],
])("in %s, an alias goes to the new version at once, without CodeDeploy and its alarms", (_, changed) => {
  for (const stack of composeWith(changed).apis) {
    const { resources, all } = readTemplate(stack);
    expect(all("Lambda::Alias").length).toBeGreaterThan(0);
    for (const alias of Object.values(resources("Lambda::Alias")))
      expect(alias).not.toHaveProperty("UpdatePolicy");
    for (const type of ["CodeDeploy::Application", "CodeDeploy::DeploymentGroup", "CloudWatch::Alarm"])
      expect(all(type)).toEqual([]);
  }
});

test("functions that nobody calls at all times have no alias: a share of a job's runs says nothing", () => {
  const { list, apis } = synthesizeWith({ stage: "prod" });
  const called = apis.flatMap(({ api }) => [...api.routes, ...api.authorizers]);
  expect(list("Lambda::Alias").length).toBe(called.length);
});

/** Logical ids of the versions of the functions of an API, by function. */
const versionsOf = (changed: Properties) =>
  Object.fromEntries(
    composeWith({ stage: "test", ...changed }).apis.flatMap((stack) =>
      entriesOf(readTemplate(stack).resources("Lambda::Version")).map(({ id, FunctionName }) => [
        FunctionName.Ref.replace(/^Gateway(\w+?)Function.*/, "$1"),
        id,
      ]),
    ),
  );

describe("CloudFormation publishes a version", () => {
  const before = versionsOf({});
  const changedBy = (changed: Properties) => {
    const after = versionsOf(changed);
    return Object.keys(after).filter((name) => after[name] !== before[name]);
  };

  test("of the functions that call a system whose address changes", () => {
    const { upstream } = composeWith({ stage: "test" }).config;
    const employeeSystemUrl = "https://new.city.example";
    expect(changedBy({ upstream: { ...upstream, employeeSystemUrl } })).toEqual([
      "employeeticket",
      "employeeemployees",
    ]);
  });

  test("of none when only the reserved concurrency changes, which is the function's", () =>
    expect(changedBy({ functionConcurrency: 0 })).toEqual([]));
});
