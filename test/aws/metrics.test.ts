import { expect, test } from "vitest";
import { authorizers, routes } from "#lib/routes/index.ts";
import { metricsOf } from "../../infra/aws/operations/function-metrics.ts";
import { usedMetrics } from "../../infra/aws/operations/messenger-alarms.ts";
import { functionName, listFunctions } from "../../infra/build/build.ts";
import { composeWith } from "./composed-stage.ts";
import { nameReferences, readTemplate } from "./template.ts";

const { all, only } = readTemplate(composeWith({ stage: "test" }).operations);

const called = [...routes, ...authorizers].map(({ fn }) => fn as string);
const logOf = (fn: string) =>
  `${called.includes(fn) ? "Gateway" : ""}${functionName(fn).replaceAll("-", "")}Logs`;

test("each metric is read from the log that contains it, and stored where its alarm looks for it", () => {
  const filters = all("Logs::MetricFilter").map(({ LogGroupName, FilterPattern, MetricTransformations }) => [
    nameReferences(LogGroupName),
    FilterPattern,
    MetricTransformations,
  ]);
  const stored = (name: string, value: string) => [
    { MetricNamespace: "municipal/test", MetricName: name, MetricValue: value },
  ];
  const ofFunctions = listFunctions().flatMap((fn) =>
    metricsOf(fn).map(({ name, pattern, value }) => [logOf(fn), pattern, stored(name, value)]),
  );
  const ofMessenger = usedMetrics.map((figure) => [
    "MessengerLogs",
    `{ $.message = "metrics" && $.${figure} >= 0 }`,
    stored(`Messenger-${figure}`, `$.${figure}`),
  ]);
  expect(filters.toSorted()).toEqual([...ofFunctions, ...ofMessenger].toSorted());
});

interface Widget {
  readonly type: string;
  readonly properties: { readonly title: string; readonly metrics: readonly unknown[][] };
}

const readWidgets = (): Widget[] => {
  const [, parts] = nameReferences(only("CloudWatch::Dashboard").DashboardBody)["Fn::Join"];
  const text = parts.map((part: unknown) => (typeof part === "string" ? part : "reference")).join("");
  return JSON.parse(text).widgets;
};

/** Such as `Sum AWS/Lambda Errors maintainFunction`. */
const graphed = (metric: readonly unknown[]): string => {
  const { stat, expression } = metric.at(-1) as { stat?: string; expression?: string };
  const names = metric.filter((part) => typeof part === "string");
  return expression ?? [stat ?? "Average", ...names].join(" ");
};

test("the dashboard's graphs show what their titles say", () => {
  const graphs = readWidgets()
    .filter(({ type }) => type === "metric")
    .map(({ properties }) => [properties.title, properties.metrics.map(graphed)]);
  const gateway = (name: string, stat: string, metric: string) =>
    `${stat} AWS/ApiGateway ${metric} ApiName municipal-test-${name} Stage test`;
  const ofApi = (name: string, expression: string, explained: readonly string[]) => ({
    [`${name}: requests and errors`]: [
      ...[gateway(name, "Sum", "Count"), gateway(name, "Sum", "4XXError")],
      ...[expression, gateway(name, "Sum", "5XXError"), ...explained],
    ],
    [`${name}: milliseconds`]: ["p50", "p99"].map((stat) => gateway(name, stat, "Latency")),
  });
  expect(Object.fromEntries(graphs)).toEqual({
    ...ofApi("integration", "FILL(all, 0) - FILL(known0, 0) - FILL(known1, 0) - FILL(known2, 0)", [
      "Sum municipal/test MissingConnections",
      "Sum municipal/test UpstreamFailures-LEGACY_AUTH_URL",
      "Sum municipal/test UpstreamFailures-EMPLOYEE_SYSTEM_URL",
    ]),
    ...ofApi("messaging", "FILL(all, 0) - FILL(known0, 0)", ["Sum municipal/test BadBoundaries"]),
    "Requests that it failed": ["Sum municipal/test DatabaseFailures"],
    "CPU, per cent": ["Average AWS/RDS CPUUtilization DBClusterIdentifier DatabaseCluster"],
    "Capacity units": ["Average AWS/RDS ServerlessDatabaseCapacity DBClusterIdentifier DatabaseCluster"],
    Connections: ["Average AWS/RDS DatabaseConnections DBClusterIdentifier DatabaseCluster"],
    "Connected, paused, limited": [
      "Minimum municipal/test Messenger-connected",
      "Maximum municipal/test Messenger-paused",
      "Maximum municipal/test Messenger-limited",
    ],
    "Messages that wait": ["Maximum municipal/test Messenger-pending"],
    "Age of the oldest, in seconds": [
      "Maximum municipal/test Messenger-oldest_urgent_seconds",
      "Maximum municipal/test Messenger-oldest_seconds",
    ],
    "Sent and failed": ["Sum municipal/test Messenger-sent", "Sum municipal/test Messenger-failed"],
    "Maintenance: runs, failures": [
      "Sum AWS/Lambda Invocations FunctionName maintainFunction",
      "Sum AWS/Lambda Errors FunctionName maintainFunction",
    ],
    "Maintenance: milliseconds": ["Maximum AWS/Lambda Duration FunctionName maintainFunction"],
    "Dead letters": ["Maximum AWS/SQS ApproximateNumberOfMessagesVisible QueueName DeadLettersQueue"],
  });
});
