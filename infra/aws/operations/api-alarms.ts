import { Aws, Duration } from "aws-cdk-lib";
import { MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { authorizers, routes } from "#lib/routes/index.ts";
import { maintain, notify } from "#lib/routes/internal.ts";
import type { LegacySystem } from "#lib/routes/route.ts";
import { functionName } from "../../build/build.ts";
import type { Api } from "../api.ts";
import type { Capacity } from "../capacity.ts";
import type { Config } from "../config.ts";
import type { AlarmRow } from "../constructs/alarms.ts";
import type { NodeFunction } from "../constructs/node-function.ts";
import { isExplained, legacySystems, metricsOf } from "./function-metrics.ts";
import {
  authorizerFailures,
  cloudWatchMetric,
  moreThanAgreed,
  tooManyGuesses,
  upstreamFailures,
} from "./log-metric.ts";

/** Long enough to ignore a single failing caller, short enough to notice an outage. */
const minutes = 5;
const period = Duration.minutes(minutes);

/** A metric of an API's stage. API Gateway publishes none while there are no requests. */
export const gatewayMetric = (stage: string, { name }: Api, metricName: string, statistic: string): Metric =>
  new Metric({
    namespace: "AWS/ApiGateway",
    metricName,
    dimensionsMap: { ApiName: `municipal-${stage}-${name}`, Stage: stage },
    statistic,
    period,
  });

/** All 5xx, including the gateway's own, except those with another explanation. */
export const unexplained = (stage: string, api: Api): MathExpression => {
  const explained = new Map(
    api.routes.flatMap(({ fn }) => metricsOf(fn).filter(isExplained)).map((figure) => [figure.name, figure]),
  );
  const known = [...explained.values()].map((figure, index) => [`known${index}`, figure] as const);
  return new MathExpression({
    label: "5xx that is our fault",
    expression: ["FILL(all, 0)", ...known.map(([id]) => `FILL(${id}, 0)`)].join(" - "),
    usingMetrics: {
      all: gatewayMetric(stage, api, "5XXError", "Sum"),
      ...Object.fromEntries(
        known.map(([id, figure]) => [id, cloudWatchMetric(stage, figure, "Sum", minutes)]),
      ),
    },
    period,
  });
};

const apiFails = (stage: string, api: Api): AlarmRow => ({
  name: `${api.name}-api-fails`,
  section: "api-fails",
  says: `Callers of the ${api.name} API get errors that we cause.`,
  metric: unexplained(stage, api),
  rings: { atLeast: 5 },
  // ten minutes: a deployment or a failover of the database is over within five
  periods: 2,
});

/** Missing runs ring, too: then nobody knows whether callers get answers. */
export const probeAlarm = (probe: IFunction): AlarmRow => ({
  name: "no-answer-from-outside",
  says: "The public addresses have not answered for five minutes, or nothing has asked them.",
  metric: new MathExpression({
    label: "answers",
    expression: "runs - FILL(failures, 0)",
    usingMetrics: { runs: probe.metricInvocations({ period }), failures: probe.metricErrors({ period }) },
    period,
  }),
  rings: { below: 1 },
  silence: "bad",
});

const upstreamDown = (stage: string, system: LegacySystem): AlarmRow => ({
  name: `${legacySystems[system].replaceAll(" ", "-")}-down`,
  section: "legacy-system-down",
  says: `The ${legacySystems[system]} is unavailable or returns invalid responses: employee endpoints that need it fail.`,
  metric: cloudWatchMetric(stage, upstreamFailures(system), "Sum", minutes),
  rings: { atLeast: 5 },
  periods: 2,
});

/** One run may fail, because the next one makes up for it; repeated failures have their own alarms. */
const forgiven: readonly string[] = [maintain.fn, notify.fn];

const isAuthorizer = (fn: string) => authorizers.some((row) => row.fn === fn);
const isCalled = (fn: string) => isAuthorizer(fn) || routes.some((row) => row.fn === fn);

/** A function that ended without a response: it crashed, timed out, or was throttled. */
const functionFails = ({ fn, lambda }: NodeFunction): AlarmRow => ({
  name: `${functionName(fn)}-fails`,
  section: "function-fails",
  says: `The function ${fn} crashes, runs out of time or is not started.`,
  // an authorizer rejects a caller with an error; its real failures are counted from its log
  metric: isAuthorizer(fn)
    ? lambda.metricThrottles({ period })
    : new MathExpression({
        label: fn,
        expression: "FILL(errors, 0) + FILL(throttles, 0)",
        usingMetrics: {
          errors: lambda.metricErrors({ period }),
          throttles: lambda.metricThrottles({ period }),
        },
        period,
      }),
  // a caller retries; a scheduled function has nobody who would
  rings: { atLeast: isCalled(fn) ? 3 : 1 },
});

/** A first request takes up to a second and a half; one that waits for another system, nearly as long as its function may. */
const slowSeconds = (fn: string): number => {
  const route = routes.find((row) => row.fn === fn);
  return route?.upstreams ? Math.ceil(0.75 * route.timeoutSeconds) : 3;
};

/** A function serves one route or little more, so that its duration is the route's. */
const functionSlow = ({ fn, lambda }: NodeFunction): AlarmRow => ({
  name: `${functionName(fn)}-slow`,
  section: "function-slow",
  says: `At least one of a hundred requests of ${fn} has taken more than ${slowSeconds(fn)} seconds for a quarter of an hour.`,
  metric: lambda.metricDuration({ period, statistic: "p99" }),
  rings: { atLeast: slowSeconds(fn) * 1_000 },
  periods: 3,
});

/** What remains for functions without a reserved concurrency is then a tenth of the account's, or less. */
const accountFull = (quota: number): AlarmRow => ({
  name: "account-full",
  section: "account-full",
  says: "The account's functions have claimed nine tenths of its Lambda concurrency; then requests of any function are rejected.",
  metric: new Metric({
    namespace: "AWS/Lambda",
    metricName: "ClaimedAccountConcurrency",
    statistic: "Maximum",
    period,
  }),
  rings: { atLeast: 0.9 * quota },
  periods: 2,
});

/** A flood, or a caller whom the firewall takes for an attacker; scanners cause some hundred at any time. */
const manyBlocked = (stage: string, { name }: Api): AlarmRow => ({
  name: `${name}-api-blocks`,
  section: "requests-blocked",
  says: `The firewall of the ${name} API blocks more than a thousand requests a minute.`,
  metric: new Metric({
    namespace: "AWS/WAFV2",
    metricName: "BlockedRequests",
    dimensionsMap: { WebACL: `municipal-${stage}-${name}`, Region: Aws.REGION, Rule: "ALL" },
    statistic: "Sum",
    period,
  }),
  rings: { atLeast: minutes * 1_000 },
  periods: 2,
});

/**
 * Metrics in one alarm.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDataQuery.html
 */
const maxMetrics = 10;

/** The share of its reserved concurrency that the busiest function uses; beyond it, Lambda rejects its requests. */
const functionsFull = (functions: readonly NodeFunction[], { reserved }: Capacity): AlarmRow[] => {
  const limited = functions.flatMap(({ fn, lambda }, index) => {
    const most = reserved.get(fn);
    return most === undefined ? [] : [{ id: `used${index}`, most, lambda }];
  });
  const parts = Array.from({ length: Math.ceil(limited.length / maxMetrics) }, (_, part) =>
    limited.slice(part * maxMetrics, (part + 1) * maxMetrics),
  );
  return parts.map((some, part) => ({
    name: part === 0 ? "functions-full" : `functions-full-${part + 1}`,
    section: "database-connections",
    says: "A function is close to its reserved concurrency; its requests will soon be rejected.",
    metric: new MathExpression({
      label: "share of the reserved concurrency",
      expression: `MAX([${some.map(({ id, most }) => `FILL(${id}, 0) / ${most}`).join(", ")}])`,
      usingMetrics: Object.fromEntries(
        some.map(({ id, lambda }) => [
          id,
          lambda.metric("ConcurrentExecutions", { statistic: "Maximum", period }),
        ]),
      ),
      period,
    }),
    rings: { atLeast: 0.8 },
    periods: 2,
  }));
};

/** The alarms of the APIs: what callers notice. */
export const apiAlarms = (
  { stage, accountConcurrency }: Config,
  apis: readonly Api[],
  functions: readonly NodeFunction[],
  capacity: Capacity,
): AlarmRow[] => [
  ...apis.map((api) => apiFails(stage, api)),
  {
    name: "authorizers-fail",
    says: "Callers with valid credentials are rejected, because the credentials cannot be checked.",
    metric: cloudWatchMetric(stage, authorizerFailures, "Sum", minutes),
    rings: { atLeast: 3 },
  },
  {
    name: "numbers-guessed",
    says: "Within a day, a partner has searched for 200 numbers that no resident has, or has reached a limit of verifications with wrong values, and may be guessing.",
    metric: cloudWatchMetric(stage, tooManyGuesses, "Sum", minutes),
    rings: { atLeast: 1 },
  },
  {
    name: "more-read-than-agreed",
    says: "A partner looks up more residents than its agreement allows for, or has reached its limit of residents in 24 hours, and may be copying the register.",
    section: "partner-exceeds-its-agreement",
    // longer than the ten minutes in which look-ups are added up, so that it stays on while the partner continues
    metric: cloudWatchMetric(stage, moreThanAgreed, "Sum", 15),
    rings: { atLeast: 1 },
  },
  ...(Object.keys(legacySystems) as LegacySystem[]).map((system) => upstreamDown(stage, system)),
  ...functions.filter(({ fn }) => !forgiven.includes(fn)).map(functionFails),
  ...functions.filter(({ fn }) => isCalled(fn)).map(functionSlow),
  ...functionsFull(functions, capacity),
  accountFull(accountConcurrency),
  ...apis.map((api) => manyBlocked(stage, api)),
];

/** Only for a stage with a custom domain; Amazon renews the certificate of its own hosts. */
export const certificateAlarms = ({ domain }: Config): AlarmRow[] =>
  domain
    ? [
        {
          name: "certificate-expires",
          says: "The certificate of the public addresses expires within 30 days and has not been renewed.",
          metric: new Metric({
            namespace: "AWS/CertificateManager",
            metricName: "DaysToExpiry",
            dimensionsMap: { CertificateArn: domain.certificateArn },
            statistic: "Minimum",
            period: Duration.days(1),
          }),
          // ACM renews 60 days ahead while its DNS record exists, and publishes this metric twice a day
          rings: { below: 30 },
        },
      ]
    : [];
