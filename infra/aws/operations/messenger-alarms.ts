import { Duration } from "aws-cdk-lib";
import { MathExpression } from "aws-cdk-lib/aws-cloudwatch";
import type { Figures } from "#lib/messenger/figures.ts";
import type { AlarmRow } from "./alarm.ts";
import { figureOf, messengerFigure } from "./log-metric.ts";

/** The figures that alarms and the dashboard read. */
export const usedFigures = [
  ...(["connected", "unlinked", "limited", "paused", "pending"] as const),
  ...(["oldest_seconds", "oldest_urgent_seconds", "sent", "failed"] as const),
] satisfies (keyof Figures)[];

/** A figure as CloudWatch has it. */
export const messengerMetric = (
  stage: string,
  figure: (typeof usedFigures)[number],
  statistic: string,
  minutes: number,
) => figureOf(stage, messengerFigure(figure), statistic, minutes);

/**
 * How messages go. The task that leads tells its figures once a minute, so five minutes hold five of them. That
 * they are not told is the business of one alarm; to the others silence is good, or each of them would ring.
 */
export const messengerAlarms = (stage: string): AlarmRow[] => {
  const of = (figure: (typeof usedFigures)[number], statistic: string, minutes = 5) =>
    messengerMetric(stage, figure, statistic, minutes);
  return [
    {
      name: "messenger-silent",
      section: "messenger-silent",
      says: "No messenger drives the connection to WhatsApp: messages are kept or refused, none is sent.",
      metric: of("connected", "SampleCount"),
      rings: { below: 1 },
      // a task that takes over needs half a minute, a new one two
      silence: "bad",
    },
    {
      name: "phone-unlinked",
      section: "phone-unlinked",
      says: "No phone is linked: no message goes out until somebody links one.",
      metric: of("unlinked", "Maximum"),
      rings: { atLeast: 1 },
      silence: "good",
    },
    {
      name: "messenger-disconnected",
      section: "messenger-disconnected",
      says: "WhatsApp has not been reached for a quarter of an hour: no message goes out.",
      // neither connected nor without a phone, which is another alarm's business
      metric: new MathExpression({
        label: "disconnected",
        expression: "1 - connected - unlinked",
        usingMetrics: { connected: of("connected", "Maximum"), unlinked: of("unlinked", "Maximum") },
        period: Duration.minutes(5),
      }),
      rings: { atLeast: 1 },
      periods: 3,
      silence: "good",
    },
    {
      name: "number-limited",
      section: "number-limited",
      says: "WhatsApp refuses messages to people the number has not written to before; they wait.",
      metric: of("limited", "Maximum"),
      rings: { atLeast: 1 },
      silence: "good",
    },
    {
      name: "queue-old",
      section: "queue-old",
      says: "One-time codes and notices have waited for more than ten minutes.",
      // the pace alone takes seconds; the least of five figures: one that had just been sent is no alarm
      metric: of("oldest_urgent_seconds", "Minimum"),
      rings: { atLeast: 600 },
      silence: "good",
    },
    {
      name: "queue-long",
      section: "queue-long",
      says: "Reminders or bulk messages have waited for a day; after three they are not sent any more.",
      metric: of("oldest_seconds", "Minimum", 60),
      rings: { atLeast: Duration.days(1).toSeconds() },
      silence: "good",
    },
    {
      name: "sending-paused",
      section: "sending-paused",
      says: "Somebody paused sending two hours ago and has not resumed it.",
      metric: of("paused", "Minimum", 60),
      rings: { atLeast: 1 },
      periods: 2,
      silence: "good",
    },
    {
      name: "sends-fail",
      section: "sends-fail",
      says: "More messages fail than arrive.",
      // some fail always: numbers without an account
      metric: new MathExpression({
        label: "more failed than sent",
        expression: "IF(failed >= 10 AND failed > FILL(sent, 0), 1, 0)",
        usingMetrics: { failed: of("failed", "Sum", 15), sent: of("sent", "Sum", 15) },
        period: Duration.minutes(15),
      }),
      rings: { atLeast: 1 },
      silence: "good",
    },
  ];
};
