import { Duration } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type ILogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { badBoundary } from "#lib/errors/table.ts";
import type { Metrics } from "#lib/messenger/metrics.ts";
import type { LegacySystem } from "#lib/routes/route.ts";

/**
 * A metric extracted from log lines.
 *
 * Metric filters rather than the embedded metric format: for a container some regions extract that only when the log
 * driver sets a header, which Fargate's driver cannot (aws/containers-roadmap 1719). Filters work everywhere, and the
 * log lines stay as they are.
 */
export interface LogMetric {
  readonly name: string;
  /** @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html */
  readonly pattern: string;
  /** The field of the line that holds the value; `1` counts lines. */
  readonly value: string;
}

const count = (name: string, pattern: string): LogMetric => ({ name, pattern, value: "1" });

/** Requests that failed because the database did not respond (`lib/db/database.ts`). */
export const databaseFailures = count("DatabaseFailures", '{ $.error.message = "database request failed" }');

/** Requests that got no database connection (`lib/db/database.ts`), by SQLSTATE. */
export const missingConnections = count("MissingConnections", '{ $.error.cause.code = "53300" }');

/** A 500 by contract, although the mistake is the caller's (`lib/http/multipart.ts`). */
export const badBoundaries = count("BadBoundaries", `{ $.error.code = "${badBoundary.code}" }`);

/** Not Lambda's Errors metric, which counts rejected callers too, as API Gateway requires (`lib/http/authorizer.ts`). */
export const authorizerFailures = count("AuthorizerFailures", '{ $.message = "authorizer failed" }');

/** Requests of a partner that has asked for too many unknown numbers, or verified too many wrong values (`lib/resident/refusal.ts`). */
export const tooManyGuesses = count("TooManyGuesses", '{ $.message = "too many guesses" }');

/**
 * Reads above a partner's agreement: look-ups, which are answered (`lib/db/database.ts`), and residents, which are rejected
 * (`lib/resident/refusal.ts`).
 */
export const moreThanAgreed = count("MoreReadThanAgreed", '{ $.message = "more read than agreed" }');

export const upstreamFailuresPrefix = "UpstreamFailures-";
/** Requests that a legacy system did not answer, or answered with nonsense (`lib/employee/upstream.ts`). */
export const upstreamFailures = (system: LegacySystem): LogMetric =>
  count(`${upstreamFailuresPrefix}${system}`, `{ $.error.cause.message = "${system}*" }`);

/** Requested single notifications that were not sent (`lib/notification/request.ts`); runs have their own alarm. */
export const requestFailures = count("RequestFailures", '{ $.level = "error" && $.request = "*" }');

/** Changes of residents that wait to be applied when maintenance begins (`lib/maintenance/residents.ts`). */
export const pendingChanges: LogMetric = {
  name: "PendingChanges",
  pattern: '{ $.message = "maintenance metrics" && $.pending_changes >= 0 }',
  value: "$.pending_changes",
};

/** The metrics that the messenger logs once a minute (`lib/messenger/metrics.ts`). */
export const messengerMetric = (metric: keyof Metrics): LogMetric => ({
  name: `Messenger-${metric}`,
  // a line without the field is not a data point
  pattern: `{ $.message = "metrics" && $.${metric} >= 0 }`,
  value: `$.${metric}`,
});

const namespace = (stage: string) => `municipal/${stage}`;

/** Adds a metric filter to a log group. Several log groups may feed one metric. */
export const extract = (scope: Construct, id: string, stage: string, logGroup: ILogGroup, of: LogMetric) =>
  new MetricFilter(scope, id, {
    logGroup,
    filterPattern: FilterPattern.literal(of.pattern),
    metricNamespace: namespace(stage),
    metricName: of.name,
    metricValue: of.value,
  });

export const cloudWatchMetric = (
  stage: string,
  { name }: LogMetric,
  statistic: string,
  minutes: number,
): Metric =>
  new Metric({
    namespace: namespace(stage),
    metricName: name,
    statistic,
    period: Duration.minutes(minutes),
  });
