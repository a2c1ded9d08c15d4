import { Duration } from "aws-cdk-lib";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { AlarmRow } from "./alarm.ts";
import { figureOf, requestFailures } from "./log-metric.ts";

const quarter = { period: Duration.minutes(15) };

/** What nobody calls, and so nobody misses at once. */
export const jobAlarms = (stage: string, maintenance: IFunction, deadLetters: IQueue): AlarmRow[] => [
  {
    name: "maintenance-fails",
    section: "maintenance-fails",
    says: "The database's upkeep fails again and again: old personal data stay, or something is found to be wrong.",
    metric: maintenance.metricErrors(quarter),
    // of three runs in a quarter of an hour; one may meet a failover or a password that is just changing
    rings: { atLeast: 2 },
    silence: "good",
  },
  {
    name: "maintenance-missing",
    section: "maintenance-missing",
    says: "The database's upkeep has not been started for half an hour.",
    metric: maintenance.metricInvocations(quarter),
    rings: { below: 1 },
    periods: 2,
    // a function that is not started has no figures
    silence: "bad",
  },
  {
    name: "notifications-fail",
    section: "notifications-fail",
    says: "Notifications that other systems ask for, such as one-time codes, are not sent.",
    metric: figureOf(stage, requestFailures, "Sum", 5),
    rings: { atLeast: 1 },
    silence: "good",
  },
  {
    name: "dead-letters",
    section: "dead-letters",
    says: "A notification job could not be run, also not when it was tried again; people were not told.",
    metric: deadLetters.metricApproximateNumberOfMessagesVisible({
      period: Duration.minutes(5),
      statistic: "Maximum",
    }),
    rings: { atLeast: 1 },
    // SQS writes figures of a queue that holds something or was used in the last six hours
    silence: "good",
  },
];
