import { Duration } from "aws-cdk-lib";
import { MathExpression } from "aws-cdk-lib/aws-cloudwatch";
import type { FargateService } from "aws-cdk-lib/aws-ecs";
import { passkeyRequired } from "#lib/channels/whatsapp/codes.ts";
import type { Metrics } from "#lib/messenger/metrics.ts";
import { tooOldSeconds } from "#lib/messenger/outbox/depth.ts";
import type { Config } from "../config.ts";
import type { AlarmRow } from "../constructs/alarms.ts";
import { cloudWatchMetric, messengerMetric } from "./log-metric.ts";

/** The metrics that alarms and the dashboard read. */
export const usedMetrics = [
  ...([
    "connected",
    "unlinked",
    "rejected",
    "disconnected",
    "passkey",
    "limited",
    "paused",
    "pending",
  ] as const),
  ...(["oldest_seconds", "oldest_urgent_seconds", "callback_seconds", "sent", "failed"] as const),
] satisfies (keyof Metrics)[];
type UsedMetric = (typeof usedMetrics)[number];

export const messengerStatistic = (stage: string, metric: UsedMetric, statistic: string, minutes = 5) =>
  cloudWatchMetric(stage, messengerMetric(metric), statistic, minutes);

/** @see https://docs.aws.amazon.com/AmazonECS/latest/developerguide/cloudwatch-metrics.html */
const missingTask = (service: FargateService, tasks: number): AlarmRow => ({
  name: "messenger-alone",
  section: "messenger-silent",
  says: "Fewer messengers run than there should be, for 15 minutes: the next failure stops sending.",
  // ECS measures each running task once a minute
  metric: service.metricCpuUtilization({ period: Duration.minutes(5), statistic: "SampleCount" }),
  rings: { below: 5 * tasks - 2 },
  periods: 3,
});

/**
 * The alarms of messaging. The leading task publishes its metrics once a minute, so a period of five minutes has five
 * data points. One alarm watches for missing data; the others treat it as good, or all of them would ring.
 */
export const messengerAlarms = (
  { stage, messengerTasks }: Pick<Config, "stage" | "messengerTasks">,
  service: FargateService,
): AlarmRow[] => {
  const of = (metric: UsedMetric, statistic: string, minutes?: number) =>
    messengerStatistic(stage, metric, statistic, minutes);
  return [
    {
      name: "messenger-silent",
      says: "No messenger holds the connection to WhatsApp: messages are queued or rejected, none is sent.",
      metric: of("connected", "SampleCount"),
      rings: { below: 1 },
      // a task that takes over needs half a minute, a new task two minutes
      silence: "bad",
    },
    ...(messengerTasks > 1 ? [missingTask(service, messengerTasks)] : []),
    {
      name: "messenger-memory",
      says: "A messenger uses nine tenths of its container's memory; at the limit it is killed and starts again.",
      metric: service.metricMemoryUtilization({ period: Duration.minutes(5), statistic: "Maximum" }),
      rings: { atLeast: 90 },
      periods: 2,
    },
    {
      name: "phone-unlinked",
      says: "An account has no linked phone: it sends nothing until an operator links one.",
      metric: of("unlinked", "Maximum"),
      rings: { atLeast: 1 },
    },
    {
      name: "login-rejected",
      says: "WhatsApp accepts no login of an account: it sends nothing until an operator acts or a ban ends.",
      metric: of("rejected", "Maximum"),
      rings: { atLeast: 1 },
    },
    {
      name: "passkey-required",
      says: passkeyRequired.says.replace(/\.$/, ": no phone can be linked this way."),
      metric: of("passkey", "Maximum"),
      rings: { atLeast: 1 },
    },
    {
      name: "messenger-disconnected",
      says: "WhatsApp has been unreachable for 15 minutes: an account sends nothing.",
      metric: of("disconnected", "Maximum"),
      rings: { atLeast: 1 },
      periods: 3,
    },
    {
      name: "number-limited",
      says: "WhatsApp rejects messages to new contacts; they wait in the queue.",
      metric: of("limited", "Maximum"),
      rings: { atLeast: 1 },
    },
    {
      name: "queue-old",
      says: "One-time codes and transactional messages have waited for more than ten minutes.",
      // the pace alone takes seconds; the minimum of five data points, so that a message just sent is no alarm
      metric: of("oldest_urgent_seconds", "Minimum"),
      rings: { atLeast: tooOldSeconds.urgent },
    },
    {
      name: "queue-long",
      says: "Reminders or bulk messages have waited for a day; they expire after three.",
      metric: of("oldest_seconds", "Minimum", 60),
      rings: { atLeast: tooOldSeconds.any },
    },
    {
      name: "callbacks-wait",
      says: "The address of a backend has not accepted callbacks for an hour, or has ended them with 410; after a day they are given up.",
      metric: of("callback_seconds", "Minimum"),
      rings: { atLeast: tooOldSeconds.callback },
    },
    {
      name: "sending-paused",
      says: "Sending has been paused for two hours.",
      metric: of("paused", "Minimum", 60),
      rings: { atLeast: 1 },
      periods: 2,
    },
    {
      name: "sends-fail",
      says: "More messages fail than arrive.",
      // some always fail: numbers without an account
      metric: new MathExpression({
        label: "more failed than sent",
        expression: "IF(failed >= 10 AND failed > FILL(sent, 0), 1, 0)",
        usingMetrics: { failed: of("failed", "Sum", 15), sent: of("sent", "Sum", 15) },
        period: Duration.minutes(15),
      }),
      rings: { atLeast: 1 },
    },
  ];
};
