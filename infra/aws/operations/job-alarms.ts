import { Duration } from "aws-cdk-lib";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { AlarmRow } from "../constructs/alarms.ts";
import { cloudWatchMetric, pendingChanges, requestFailures } from "./log-metric.ts";

const quarter = { period: Duration.minutes(15) };

/** The alarms of scheduled work, which no caller misses at once. */
export const jobAlarms = (stage: string, maintenance: IFunction, deadLetters: IQueue): AlarmRow[] => [
  {
    name: "maintenance-fails",
    says: "Database maintenance keeps failing: old personal data is not deleted, or a check has found an error.",
    metric: maintenance.metricErrors(quarter),
    // three runs within 15 minutes; a single one may meet a failover or a password rotation
    rings: { atLeast: 2 },
  },
  {
    name: "maintenance-missing",
    says: "Database maintenance has not run for half an hour.",
    metric: maintenance.metricInvocations(quarter),
    rings: { below: 1 },
    periods: 2,
    // a function that is not invoked has no metrics
    silence: "bad",
  },
  {
    name: "changes-wait",
    says: "Residents change faster than maintenance applies the changes: lists and searches get slow, and then fail.",
    metric: cloudWatchMetric(stage, pendingChanges, "Maximum", 5),
    // a list adds them up in about 0.2 s; at 2 million it exceeds its limit of 2 s
    rings: { atLeast: 200_000 },
  },
  {
    name: "notifications-fail",
    says: "Notifications that other systems ask for, such as one-time codes, are not sent.",
    metric: cloudWatchMetric(stage, requestFailures, "Sum", 5),
    rings: { atLeast: 1 },
  },
  {
    name: "dead-letters",
    says: "A notification job failed, including its retries; recipients were not notified.",
    metric: deadLetters.metricApproximateNumberOfMessagesVisible({
      period: Duration.minutes(5),
      statistic: "Maximum",
    }),
    // SQS publishes metrics of a queue that has messages or was used in the last six hours
    rings: { atLeast: 1 },
  },
];
