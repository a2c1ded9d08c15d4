import { Duration } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type ILogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import type { Figures } from "#lib/messenger/figures.ts";
import type { OldSystem } from "#lib/routes/route.ts";

/**
 * A figure that is made of log lines.
 *
 * By metric filters and not by the embedded metric format: of a container, that is extracted in some regions only
 * when the log driver says so, and Fargate's driver cannot be told to (aws/containers-roadmap 1719). Filters work
 * everywhere, and the lines stay as they are.
 */
export interface LogMetric {
  readonly name: string;
  /** @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html */
  readonly pattern: string;
  /** The line's field that is the figure; `1` counts lines. */
  readonly value: string;
}

const count = (name: string, pattern: string): LogMetric => ({ name, pattern, value: "1" });

/** Requests that failed because the database did not answer (`lib/db/database.ts`). */
export const databaseFailures = count("DatabaseFailures", '{ $.error.message = "database request failed" }');

/** A 500 by contract, although the mistake is the caller's (`lib/http/multipart-fault.ts`). */
export const badBoundaries = count("BadBoundaries", '{ $.error.code = "BAD_BOUNDARY" }');

/** Not the Lambda's own errors: a refused caller is one of them, as API Gateway wants it (`lib/http/authorizer.ts`). */
export const authorizerFailures = count("AuthorizerFailures", '{ $.message = "authorizer failed" }');

/** Requests that an old system did not answer, or not as agreed (`lib/employee/upstream.ts`). */
export const upstreamFailures = (system: OldSystem): LogMetric =>
  count(`UpstreamFailures-${system}`, `{ $.error.cause.message = "${system}*" }`);

/** Single notifications that were asked for and not sent (`lib/notification/request.ts`); of runs others tell. */
export const requestFailures = count("RequestFailures", '{ $.level = "error" && $.request = "*" }');

/** What the messenger tells once a minute (`lib/messenger/figures.ts`). */
export const messengerFigure = (figure: keyof Figures): LogMetric => ({
  name: `Messenger-${figure}`,
  // a line that does not know the figure is no figure
  pattern: `{ $.message = "figures" && $.${figure} >= 0 }`,
  value: `$.${figure}`,
});

const namespace = (stage: string) => `municipal/${stage}`;

/** Makes the figure of a log's lines. Several logs may add to one figure. */
export const extract = (scope: Construct, id: string, stage: string, logGroup: ILogGroup, of: LogMetric) =>
  new MetricFilter(scope, id, {
    logGroup,
    filterPattern: FilterPattern.literal(of.pattern),
    metricNamespace: namespace(stage),
    metricName: of.name,
    metricValue: of.value,
  });

/** The figure, for alarms and the dashboard. */
export const figureOf = (stage: string, { name }: LogMetric, statistic: string, minutes: number): Metric =>
  new Metric({
    namespace: namespace(stage),
    metricName: name,
    statistic,
    period: Duration.minutes(minutes),
  });
