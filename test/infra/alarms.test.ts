import { expect, test } from "vitest";
import { authorizers, routes } from "#lib/routes/index.ts";
import { functionName } from "../../infra/build.ts";
import { examples } from "../../infra/config.ts";
import { composeWith } from "../steps/stage.ts";
import { nameReferences, readTemplate } from "../steps/template.ts";

interface Figure {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Value: string }[];
}

type Part =
  | { readonly Id: string; readonly ReturnData: true; readonly Expression: string }
  | {
      readonly Id: string;
      readonly ReturnData: false;
      readonly MetricStat: { readonly Metric: Figure; readonly Stat: string; readonly Period: number };
    };

interface Alarm {
  readonly AlarmName: string;
  readonly Metrics?: readonly Part[];
  readonly Statistic: string;
  readonly Period: number;
  readonly Threshold: number;
  readonly ComparisonOperator: string;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm?: number;
  readonly TreatMissingData: string;
}

const signs: Readonly<Record<string, string>> = {
  GreaterThanOrEqualToThreshold: ">=",
  LessThanThreshold: "<",
};

/** Such as `Sum 5 min AWS/Lambda Errors of maintainFunction`. */
const figure = ({ Namespace, MetricName, Dimensions = [] }: Figure, statistic: string, seconds: number) => {
  const of = Dimensions.length > 0 ? ` of ${Dimensions.map(({ Value }) => Value).join(" ")}` : "";
  return `${statistic} ${seconds / 60} min ${Namespace} ${MetricName}${of}`;
};

const part = (one: Part) =>
  one.ReturnData
    ? one.Expression
    : `${one.Id}: ${figure(one.MetricStat.Metric, one.MetricStat.Stat, one.MetricStat.Period)}`;

/** The alarm as a line of the tables below. */
const row = (alarm: Alarm & Figure): string =>
  [
    alarm.AlarmName.replace("municipal-test-", ""),
    `${signs[alarm.ComparisonOperator] ?? alarm.ComparisonOperator} ${alarm.Threshold}`,
    `${alarm.DatapointsToAlarm ?? alarm.EvaluationPeriods} of ${alarm.EvaluationPeriods}`,
    alarm.TreatMissingData,
    alarm.Metrics?.map(part).join("; ") ?? figure(alarm, alarm.Statistic, alarm.Period),
  ].join(" | ");

const rowsOf = (changed: Readonly<Record<string, unknown>>) =>
  readTemplate(composeWith({ stage: "test", ...changed }).operations)
    .all("CloudWatch::Alarm")
    .map((alarm) => row(nameReferences(alarm) as Alarm & Figure));

/** The rows of a table, without the spaces that align its columns. */
const read = (table: string) =>
  table
    .trim()
    .split("\n")
    .map((line) => line.trim().replaceAll(/ +/g, " "));

const [aurora, instance] = examples.database;
const ofAurora = rowsOf({ database: aurora });
const isOfFunction = (line: string) => line.includes("AWS/Lambda Throttles");

test("what an alarm watches, when it rings, and what silence means to it", () =>
  expect(ofAurora.filter((line) => !isOfFunction(line))).toEqual(
    read(`
      integration-api-fails    | >= 5     | 2 of 2 | notBreaching | FILL(all, 0) - FILL(known0, 0) - FILL(known1, 0); all: Sum 5 min AWS/ApiGateway 5XXError of municipal-test-integration test; known0: Sum 5 min municipal/test UpstreamFailures-LEGACY_AUTH_URL; known1: Sum 5 min municipal/test UpstreamFailures-EMPLOYEE_SYSTEM_URL
      messaging-api-fails      | >= 5     | 2 of 2 | notBreaching | FILL(all, 0) - FILL(known0, 0); all: Sum 5 min AWS/ApiGateway 5XXError of municipal-test-messaging test; known0: Sum 5 min municipal/test BadBoundaries
      authorizers-fail         | >= 3     | 1 of 1 | notBreaching | Sum 5 min municipal/test AuthorizerFailures
      legacy-login-system-down | >= 5     | 2 of 2 | notBreaching | Sum 5 min municipal/test UpstreamFailures-LEGACY_AUTH_URL
      employee-system-down     | >= 5     | 2 of 2 | notBreaching | Sum 5 min municipal/test UpstreamFailures-EMPLOYEE_SYSTEM_URL
      database-unreachable     | >= 5     | 1 of 1 | notBreaching | Sum 5 min municipal/test DatabaseFailures
      database-silent          | < 1      | 1 of 1 | breaching    | Maximum 5 min AWS/RDS DatabaseConnections of DatabaseCluster
      database-busy            | >= 90    | 3 of 3 | notBreaching | Average 5 min AWS/RDS ACUUtilization of DatabaseCluster
      database-connections     | >= 600   | 2 of 2 | notBreaching | Maximum 5 min AWS/RDS DatabaseConnections of DatabaseCluster
      session-silent           | < 1      | 1 of 1 | breaching    | SampleCount 5 min municipal/test Session-connected
      phone-unlinked           | >= 1     | 1 of 1 | notBreaching | Maximum 5 min municipal/test Session-unlinked
      session-disconnected     | >= 1     | 3 of 3 | notBreaching | 1 - connected - unlinked; connected: Maximum 5 min municipal/test Session-connected; unlinked: Maximum 5 min municipal/test Session-unlinked
      number-limited           | >= 1     | 1 of 1 | notBreaching | Maximum 5 min municipal/test Session-limited
      queue-old                | >= 600   | 1 of 1 | notBreaching | Minimum 5 min municipal/test Session-oldest_urgent_seconds
      queue-long               | >= 86400 | 1 of 1 | notBreaching | Minimum 60 min municipal/test Session-oldest_seconds
      sending-paused           | >= 1     | 2 of 2 | notBreaching | Minimum 60 min municipal/test Session-paused
      sends-fail               | >= 1     | 1 of 1 | notBreaching | IF(failed >= 10 AND failed > FILL(sent, 0), 1, 0); failed: Sum 15 min municipal/test Session-failed; sent: Sum 15 min municipal/test Session-sent
      maintenance-fails        | >= 2     | 1 of 1 | notBreaching | Sum 15 min AWS/Lambda Errors of maintainFunction
      maintenance-missing      | < 1      | 2 of 2 | breaching    | Sum 15 min AWS/Lambda Invocations of maintainFunction
      notifications-fail       | >= 1     | 1 of 1 | notBreaching | Sum 5 min municipal/test RequestFailures
      dead-letters             | >= 1     | 1 of 1 | notBreaching | Maximum 5 min AWS/SQS ApproximateNumberOfMessagesVisible of DeadLettersQueue
    `),
  ));

test("what differs with a single instance of 2 GiB and 50 GiB of disk, and with a certificate", () => {
  const lines = rowsOf({ database: instance, domain: examples.domain[0] });
  const certificate =
    "arn:aws:acm:ap-southeast-3:111122223333:certificate/0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9";
  expect(lines.filter((line) => !ofAurora.includes(line))).toEqual(
    read(`
      database-silent      | < 1                   | 1 of 1 | breaching    | Maximum 5 min AWS/RDS DatabaseConnections of DatabaseInstance
      database-busy        | >= 90                 | 3 of 3 | notBreaching | Average 5 min AWS/RDS CPUUtilization of DatabaseInstance
      database-connections | >= 150                | 2 of 2 | notBreaching | Maximum 5 min AWS/RDS DatabaseConnections of DatabaseInstance
      database-storage     | < ${0.07 * 50 * 1024 ** 3} | 1 of 1 | notBreaching | Minimum 5 min AWS/RDS FreeStorageSpace of DatabaseInstance
      certificate-expires  | < 30                  | 1 of 1 | notBreaching | Minimum 1440 min AWS/CertificateManager DaysToExpiry of ${certificate}
    `),
  );
});

test("a function that callers use rings at three failures, one that a deployment starts at the first", () => {
  const throttles = (id: string) => `Sum 5 min AWS/Lambda Throttles of ${id}`;
  const failures = (id: string) =>
    `FILL(errors, 0) + FILL(throttles, 0); errors: Sum 5 min AWS/Lambda Errors of ${id}; throttles: ${throttles(id)}`;
  const expected = (scope: string, least: number, watched: typeof failures) => (fn: string) => {
    const name = functionName(fn);
    const id = `${scope}${name.replaceAll("-", "")}Function`;
    return `${name}-fails | >= ${least} | 1 of 1 | notBreaching | ${watched(id)}`;
  };
  expect(ofAurora.filter(isOfFunction).toSorted()).toEqual(
    [
      ...routes.map(({ fn }) => fn).map(expected("Gateway", 3, failures)),
      // an authorizer's error is how it refuses a caller
      ...authorizers.map(({ fn }) => fn).map(expected("Gateway", 3, throttles)),
      expected("Migration", 1, failures)("migrate"),
      expected("Filling", 1, failures)("fill-secrets"),
      expected("Rotation", 1, failures)("rotate"),
    ].toSorted(),
  );
});
