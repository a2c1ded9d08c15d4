import { describe, expect, test } from "vitest";
import { authorizers, routes } from "#lib/routes/index.ts";
import { capacityOf } from "../../infra/aws/capacity.ts";
import { examples } from "../../infra/aws/config.ts";
import { functionName } from "../../infra/build/build.ts";
import { composeWith } from "./composed-stage.ts";
import { readTemplate } from "./template.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Properties = Record<string, any>;

const signs: Readonly<Record<string, string>> = {
  GreaterThanOrEqualToThreshold: "≥",
  LessThanThreshold: "<",
};

/** The subject of a metric, such as ` of maintainFunction`: the construct's name, or what the region is called. */
const subjectOf = ({ Dimensions = [] }: Properties): string =>
  Dimensions.map(({ Value }: Properties) => {
    const output = Value["Fn::GetStackOutput"]?.OutputName ?? Value.Ref;
    return ` of ${output?.replace(/^PublishOutput(Ref|FnGetAtt)/, "").replace(/[\dA-F]{8,}.*/, "") ?? Value}`;
  }).join("");

/** A figure with its statistic, such as `Sum(Errors of maintainFunction)`, and its period in minutes. */
const cloudWatchMetric = ({
  MetricName,
  Statistic,
  ExtendedStatistic,
  Period,
  Metrics,
  ...alarm
}: Properties) => {
  if (!Metrics)
    return {
      figure: `${Statistic ?? ExtendedStatistic}(${MetricName}${subjectOf(alarm)})`,
      minutes: Period / 60,
    };
  const [{ Expression }, ...parts] = Metrics;
  const figure = parts.reduce(
    (text: string, { Id, MetricStat: { Metric, Stat } }: Properties) =>
      text.replaceAll(
        new RegExp(`\\b${Id}\\b(?!\\()`, "g"),
        `${Stat}(${Metric.MetricName}${subjectOf(Metric)})`,
      ),
    Expression,
  );
  const periods = new Set<number>(parts.map(({ MetricStat }: Properties) => MetricStat.Period));
  expect([figure, periods.size]).toEqual([figure, 1]);
  return { figure, minutes: ([...periods][0] ?? 0) / 60 };
};

type Row = readonly [name: string, rings: string, when: string, silence: string, figure: string];

const rowOf = (alarm: Properties): Row => {
  const { AlarmName, ComparisonOperator, Threshold, EvaluationPeriods, TreatMissingData } = alarm;
  const { figure, minutes } = cloudWatchMetric(alarm);
  return [
    AlarmName.replace("municipal-test-", ""),
    `${signs[ComparisonOperator] ?? ComparisonOperator} ${Number(Threshold.toFixed(3))}`,
    `${alarm.DatapointsToAlarm ?? EvaluationPeriods} of ${EvaluationPeriods} × ${minutes} min`,
    TreatMissingData,
    figure,
  ];
};

const rowsOf = (changed: Properties): readonly Row[] =>
  readTemplate(composeWith({ stage: "test", ...changed }).operations)
    .all("CloudWatch::Alarm")
    .map(rowOf);

const [aurora, instance] = examples.database;
const rows = rowsOf({ database: aurora, domain: examples.domain[0] });
const ofOthers = ["integration-api-fails", "messaging-api-fails", "maintenance-fails"];
const isSlow = ([name]: Row) => name.endsWith("-slow");
const isOfFunction = (row: Row) => (row[0].endsWith("-fails") && !ofOthers.includes(row[0])) || isSlow(row);

const good = "notBreaching";
const bad = "breaching";

const { reserved } = capacityOf(composeWith({ stage: "test", database: aurora }).config);

/** Functions with reserved concurrency: those that answer with the database, and the one of the jobs. */
const limited = routes.filter(({ secrets }) => "DATABASE_SECRET_ID" in secrets).length + 1;

test("each alarm has exactly this threshold", () =>
  expect(rows.filter((row) => !isOfFunction(row))).toEqual([
    [
      ...["no-answer-from-outside", "< 1", "1 of 1 × 5 min", bad],
      "Sum(Invocations of ProbeprobeFunction) - FILL(Sum(Errors of ProbeprobeFunction), 0)",
    ],
    [
      ...["integration-api-fails", "≥ 5", "2 of 2 × 5 min", good],
      "FILL(Sum(5XXError of municipal-test-integration of test), 0) - FILL(Sum(MissingConnections), 0) - FILL(Sum(UpstreamFailures-LEGACY_AUTH_URL), 0) - FILL(Sum(UpstreamFailures-EMPLOYEE_SYSTEM_URL), 0)",
    ],
    [
      ...["messaging-api-fails", "≥ 5", "2 of 2 × 5 min", good],
      "FILL(Sum(5XXError of municipal-test-messaging of test), 0) - FILL(Sum(BadBoundaries), 0)",
    ],
    ["authorizers-fail", "≥ 3", "1 of 1 × 5 min", good, "Sum(AuthorizerFailures)"],
    ["numbers-guessed", "≥ 1", "1 of 1 × 5 min", good, "Sum(TooManyGuesses)"],
    ["more-read-than-agreed", "≥ 1", "1 of 1 × 15 min", good, "Sum(MoreReadThanAgreed)"],
    ["legacy-login-system-down", "≥ 5", "2 of 2 × 5 min", good, "Sum(UpstreamFailures-LEGACY_AUTH_URL)"],
    ["employee-system-down", "≥ 5", "2 of 2 × 5 min", good, "Sum(UpstreamFailures-EMPLOYEE_SYSTEM_URL)"],
    // an alarm reads ten metrics
    ...Array.from({ length: Math.ceil(limited / 10) }, (_, part) => [
      ...[`functions-full${part === 0 ? "" : `-${part + 1}`}`, "≥ 0.8", "2 of 2 × 5 min", good],
      expect.stringMatching(/^MAX\(\[FILL\(Maximum\(Conc/),
    ]),
    ["account-full", "≥ 900", "2 of 2 × 5 min", good, "Maximum(ClaimedAccountConcurrency)"],
    ...["integration", "messaging"].map((api) => [
      ...[`${api}-api-blocks`, "≥ 5000", "2 of 2 × 5 min", good],
      `Sum(BlockedRequests of AWS::Region of ALL of municipal-test-${api})`,
    ]),
    ["database-unreachable", "≥ 5", "1 of 1 × 5 min", good, "Sum(DatabaseFailures)"],
    ["connections-missing", "≥ 1", "1 of 1 × 5 min", good, "Sum(MissingConnections)"],
    ["database-silent", "< 1", "1 of 1 × 5 min", bad, "Maximum(DatabaseConnections of DatabaseCluster)"],
    ["database-busy", "≥ 90", "3 of 3 × 5 min", good, "Average(ACUUtilization of DatabaseCluster)"],
    [
      "database-connections",
      "≥ 601",
      "2 of 2 × 5 min",
      good,
      "Maximum(DatabaseConnections of DatabaseCluster)",
    ],
    ["messenger-silent", "< 1", "1 of 1 × 5 min", bad, "SampleCount(Messenger-connected)"],
    [
      ...["messenger-memory", "≥ 90", "2 of 2 × 5 min", good],
      "Maximum(MemoryUtilization of Cluster of Service)",
    ],
    ["phone-unlinked", "≥ 1", "1 of 1 × 5 min", good, "Maximum(Messenger-unlinked)"],
    ["login-rejected", "≥ 1", "1 of 1 × 5 min", good, "Maximum(Messenger-rejected)"],
    ["passkey-required", "≥ 1", "1 of 1 × 5 min", good, "Maximum(Messenger-passkey)"],
    ["messenger-disconnected", "≥ 1", "3 of 3 × 5 min", good, "Maximum(Messenger-disconnected)"],
    ["number-limited", "≥ 1", "1 of 1 × 5 min", good, "Maximum(Messenger-limited)"],
    ["queue-old", "≥ 600", "1 of 1 × 5 min", good, "Minimum(Messenger-oldest_urgent_seconds)"],
    ["queue-long", "≥ 86400", "1 of 1 × 60 min", good, "Minimum(Messenger-oldest_seconds)"],
    ["callbacks-wait", "≥ 3600", "1 of 1 × 5 min", good, "Minimum(Messenger-callback_seconds)"],
    ["sending-paused", "≥ 1", "2 of 2 × 60 min", good, "Minimum(Messenger-paused)"],
    [
      ...["sends-fail", "≥ 1", "1 of 1 × 15 min", good],
      "IF(Sum(Messenger-failed) >= 10 AND Sum(Messenger-failed) > FILL(Sum(Messenger-sent), 0), 1, 0)",
    ],
    ["maintenance-fails", "≥ 2", "1 of 1 × 15 min", good, "Sum(Errors of maintainFunction)"],
    ["maintenance-missing", "< 1", "2 of 2 × 15 min", bad, "Sum(Invocations of maintainFunction)"],
    ["changes-wait", "≥ 200000", "1 of 1 × 5 min", good, "Maximum(PendingChanges)"],
    ["notifications-fail", "≥ 1", "1 of 1 × 5 min", good, "Sum(RequestFailures)"],
    [
      ...["dead-letters", "≥ 1", "1 of 1 × 5 min", good],
      "Maximum(ApproximateNumberOfMessagesVisible of DeadLettersQueue)",
    ],
    [
      ...["certificate-expires", "< 30", "1 of 1 × 1440 min", good],
      `Minimum(DaysToExpiry of ${(examples.domain[0] as Properties).certificateArn})`,
    ],
  ]));

test("an alarm's threshold is a share of each reserved concurrency", () => {
  const figures = rows
    .filter(([name]) => name.startsWith("functions-full"))
    .map(([, , , , figure]) => figure);
  const shares = figures.flatMap((figure) => [
    ...figure.matchAll(/FILL\(Maximum\(ConcurrentExecutions of (?:Gateway)?(\w+)Function\), 0\) \/ (\d+)/g),
  ]);
  expect(Object.fromEntries(shares.map(([, name, most]) => [name, Number(most)]))).toEqual(
    Object.fromEntries([...reserved].map(([fn, most]) => [functionName(fn).replaceAll("-", ""), most])),
  );
});

describe("a function's alarm", () => {
  const own = rows.filter((row) => isOfFunction(row) && !isSlow(row));
  const figureFor = (prefix: string, name: string) => {
    const of = `of ${prefix}${name.replace(/-fails$/, "").replaceAll("-", "")}Function`;
    return name.startsWith("authorizers-")
      ? `Sum(Throttles ${of})`
      : `FILL(Sum(Errors ${of}), 0) + FILL(Sum(Throttles ${of}), 0)`;
  };
  /** The functions that a deployment or a clock calls, by the construct that each is in. */
  const uncalled: Readonly<Record<string, string>> = {
    "migrate-fails": "Migration",
    "fill-secrets-fails": "Filling",
    "rotate-fails": "Rotation",
  };

  test("fires at the first failure if no caller retries, otherwise at the third within five minutes", () => {
    expect(own.length).toBeGreaterThan(10);
    expect(own).toEqual(
      own.map(([name]) => [
        ...[name, uncalled[name] ? "≥ 1" : "≥ 3", "1 of 1 × 5 min", good],
        figureFor(uncalled[name] ?? "Gateway", name),
      ]),
    );
    expect(Object.keys(uncalled).filter((name) => !own.some(([found]) => found === name))).toEqual([]);
  });
});

test("a route is slow after 3 s, or after three quarters of the time that it may wait for another system", () => {
  const slow = rows.filter(isSlow);
  expect(slow.map(([name]) => name).toSorted()).toEqual(
    [...routes, ...authorizers].map(({ fn }) => `${functionName(fn)}-slow`).toSorted(),
  );
  const limits = Object.fromEntries(slow.map(([name, rings]) => [name, rings]));
  expect(limits).toMatchObject({
    "resident-list-slow": "≥ 3000",
    "employee-login-slow": "≥ 8000",
    "authorizers-bearer-slow": "≥ 3000",
  });
  for (const [, , when, silence, figure] of slow)
    expect([when, silence, figure]).toEqual([
      "3 of 3 × 5 min",
      good,
      expect.stringMatching(/^p99\(Duration of Gateway/),
    ]);
});

test("an alarm below its threshold or above reads at most ten metrics, as CloudWatch allows", () => {
  const read = readTemplate(composeWith({ stage: "test" }).operations)
    .all("CloudWatch::Alarm")
    .map(({ Metrics = [] }: Properties) => Metrics.filter((one: Properties) => one.MetricStat).length);
  expect(Math.max(...read)).toBeLessThanOrEqual(10);
});

test("the thresholds of an instance follow its memory and disk size", () =>
  expect(rowsOf({ database: instance }).filter(([name]) => name.startsWith("database"))).toEqual([
    ["database-unreachable", "≥ 5", "1 of 1 × 5 min", good, "Sum(DatabaseFailures)"],
    ["database-silent", "< 1", "1 of 1 × 5 min", bad, "Maximum(DatabaseConnections of DatabaseInstance)"],
    ["database-busy", "≥ 90", "3 of 3 × 5 min", good, "Average(CPUUtilization of DatabaseInstance)"],
    [
      "database-connections",
      "≥ 150",
      "2 of 2 × 5 min",
      good,
      "Maximum(DatabaseConnections of DatabaseInstance)",
    ],
    // 5 per cent of 2 GiB
    [
      "database-memory",
      "< 107374182.4",
      "3 of 3 × 5 min",
      good,
      "Average(FreeableMemory of DatabaseInstance)",
    ],
    ["database-credits", "< 1", "1 of 1 × 60 min", good, "Maximum(CPUCreditBalance of DatabaseInstance)"],
    // 7 per cent of 50 GiB
    [
      "database-storage",
      "< 3758096384",
      "1 of 1 × 5 min",
      good,
      "Minimum(FreeStorageSpace of DatabaseInstance)",
    ],
  ]));

test("a second messenger that is missing is noticed, where there should be two", () => {
  const find = (context: Properties) =>
    readTemplate(composeWith({ stage: "test", ...context }).operations)
      .all("CloudWatch::Alarm")
      .filter(({ AlarmName }) => AlarmName.endsWith("-messenger-alone"));
  expect(find({})).toEqual([]);
  expect(find({ messengerTasks: 2 })).toMatchObject([
    {
      ...{ MetricName: "CPUUtilization", Statistic: "SampleCount", Period: 300 },
      ...{ Threshold: 8, ComparisonOperator: "LessThanThreshold", EvaluationPeriods: 3 },
    },
  ]);
});
