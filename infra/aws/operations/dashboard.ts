import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { Api } from "../api.ts";
import type { Server } from "../constructs/database.ts";
import { gatewayMetric, unexplained } from "./api-alarms.ts";
import { cloudWatchMetric, databaseFailures } from "./log-metric.ts";
import { messengerStatistic } from "./messenger-alarms.ts";

export interface DashboardParts {
  readonly stage: string;
  readonly alarms: readonly cloudwatch.Alarm[];
  readonly apis: readonly Api[];
  readonly server: Server;
  readonly maintenance: IFunction;
  readonly deadLetters: IQueue;
  /** Of the templates of what is shown. */
  readonly version: string;
}

const pageWidth = 24;

/** A heading with its graphs side by side. */
const section = (
  heading: string,
  graphs: Readonly<Record<string, readonly cloudwatch.IMetric[]>>,
): cloudwatch.IWidget[][] => {
  const width = Math.floor(pageWidth / Object.keys(graphs).length);
  return [
    [new cloudwatch.TextWidget({ markdown: `## ${heading}`, width: pageWidth, height: 1 })],
    Object.entries(graphs).map(
      ([title, left]) => new cloudwatch.GraphWidget({ title, left: [...left], width }),
    ),
  ];
};

const apiGraphs = ({ stage, apis }: DashboardParts) =>
  Object.fromEntries(
    apis.flatMap((api) => [
      [
        `${api.name}: requests and errors`,
        [
          gatewayMetric(stage, api, "Count", "Sum"),
          gatewayMetric(stage, api, "4XXError", "Sum"),
          unexplained(stage, api),
        ],
      ],
      [
        `${api.name}: milliseconds`,
        ["p50", "p99"].map((statistic) => gatewayMetric(stage, api, "Latency", statistic)),
      ],
    ]),
  );

const serverGraphs = (server: Server): Readonly<Record<string, readonly cloudwatch.IMetric[]>> => {
  if (server.kind === "existing") return {};
  const database = server.kind === "aurora" ? server.cluster : server.instance;
  const load =
    server.kind === "aurora"
      ? { "Capacity units": [server.cluster.metricServerlessDatabaseCapacity()] }
      : { "Free disk": [server.instance.metricFreeStorageSpace()] };
  return {
    "CPU, per cent": [database.metricCPUUtilization()],
    ...load,
    Connections: [database.metricDatabaseConnections()],
  };
};

/** One page in the order in which an operator looks: what callers notice first, then possible causes. */
export const dashboardRows = (parts: DashboardParts): cloudwatch.IWidget[][] => {
  const { stage, alarms, server, maintenance, deadLetters, version } = parts;
  const messenger = (metric: Parameters<typeof messengerStatistic>[1], statistic: string) =>
    messengerStatistic(stage, metric, statistic);
  return [
    [new cloudwatch.AlarmStatusWidget({ title: "Alarms", alarms: [...alarms], width: pageWidth, height: 6 })],
    ...section("APIs", apiGraphs(parts)),
    ...section("Database", {
      "Requests that it failed": [cloudWatchMetric(stage, databaseFailures, "Sum", 5)],
      ...serverGraphs(server),
    }),
    ...section("Messenger", {
      "Connected, paused, limited": [
        messenger("connected", "Minimum"),
        messenger("paused", "Maximum"),
        messenger("limited", "Maximum"),
      ],
      "Messages that wait": [messenger("pending", "Maximum")],
      "Age of the oldest, in seconds": [
        messenger("oldest_urgent_seconds", "Maximum"),
        messenger("oldest_seconds", "Maximum"),
      ],
      "Sent and failed": [messenger("sent", "Sum"), messenger("failed", "Sum")],
    }),
    ...section("Jobs", {
      "Maintenance: runs, failures": [maintenance.metricInvocations(), maintenance.metricErrors()],
      "Maintenance: milliseconds": [maintenance.metricDuration({ statistic: "Maximum" })],
      "Dead letters": [deadLetters.metricApproximateNumberOfMessagesVisible()],
    }),
    [
      new cloudwatch.TextWidget({
        markdown: `Version of the templates: \`${version}\``,
        ...{ width: pageWidth, height: 1 },
      }),
    ],
  ];
};
