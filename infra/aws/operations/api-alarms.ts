import { Duration } from "aws-cdk-lib";
import { MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { authorizers, routes } from "#lib/routes/index.ts";
import { maintain, notify } from "#lib/routes/internal.ts";
import type { OldSystem } from "#lib/routes/route.ts";
import { functionName } from "../../build/build.ts";
import type { Api } from "../api.ts";
import type { NodeFunction } from "../constructs/node-function.ts";
import type { AlarmRow } from "./alarm.ts";
import { figuresOf, isExplained, oldSystems } from "./function-figures.ts";
import { authorizerFailures, figureOf, upstreamFailures } from "./log-metric.ts";

/** Long enough that one caller's bad luck rings nobody out of bed, short enough for a door that is shut. */
const minutes = 5;
const period = Duration.minutes(minutes);

/** A figure of an API's stage. API Gateway writes none while nobody calls. */
export const gatewayMetric = (stage: string, { name }: Api, metricName: string, statistic: string): Metric =>
  new Metric({
    namespace: "AWS/ApiGateway",
    metricName,
    dimensionsMap: { ApiName: `municipal-${stage}-${name}`, Stage: stage },
    statistic,
    period,
  });

/** All 5xx but those that are explained; the gateway's own are among them. */
export const unexplained = (stage: string, api: Api): MathExpression => {
  const explained = new Map(
    api.routes.flatMap(({ fn }) => figuresOf(fn).filter(isExplained)).map((figure) => [figure.name, figure]),
  );
  const known = [...explained.values()].map((figure, index) => [`known${index}`, figure] as const);
  return new MathExpression({
    label: "5xx that is our fault",
    expression: ["FILL(all, 0)", ...known.map(([id]) => `FILL(${id}, 0)`)].join(" - "),
    usingMetrics: {
      all: gatewayMetric(stage, api, "5XXError", "Sum"),
      ...Object.fromEntries(known.map(([id, figure]) => [id, figureOf(stage, figure, "Sum", minutes)])),
    },
    period,
  });
};

const apiFails = (stage: string, api: Api): AlarmRow => ({
  name: `${api.name}-api-fails`,
  section: "api-fails",
  says: `Callers of the ${api.name} API get errors that are our fault.`,
  metric: unexplained(stage, api),
  rings: { atLeast: 5 },
  // ten minutes: what a deployment or a failover of the database breaks is mended within five
  periods: 2,
  silence: "good",
});

const upstreamDown = (stage: string, system: OldSystem): AlarmRow => ({
  name: `${oldSystems[system].replaceAll(" ", "-")}-down`,
  section: "old-system-down",
  says: `The ${oldSystems[system]} does not answer or answers wrongly: employees are refused what needs it.`,
  metric: figureOf(stage, upstreamFailures(system), "Sum", minutes),
  rings: { atLeast: 5 },
  periods: 2,
  silence: "good",
});

/** One run may fail, since the next one makes up for it; that it comes to nothing, their own alarms tell. */
const forgiven: readonly string[] = [maintain.fn, notify.fn];

const isAuthorizer = (fn: string) => authorizers.some((row) => row.fn === fn);
const isCalled = (fn: string) => isAuthorizer(fn) || routes.some((row) => row.fn === fn);

/** A function that ends without an answer: it crashed, ran out of time, or was not started for want of room. */
const functionFails = ({ fn, lambda }: NodeFunction): AlarmRow => ({
  name: `${functionName(fn)}-fails`,
  section: "function-fails",
  says: `The function ${fn} crashes, runs out of time or is not started.`,
  // an authorizer refuses by an error; its own failures are counted from its log
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
  // a caller tries again; what no client calls has nobody who would
  rings: { atLeast: isCalled(fn) ? 3 : 1 },
  silence: "good",
});

/** The doors of the city: what callers meet. */
export const doorAlarms = (
  stage: string,
  apis: readonly Api[],
  functions: readonly NodeFunction[],
): AlarmRow[] => [
  ...apis.map((api) => apiFails(stage, api)),
  {
    name: "authorizers-fail",
    section: "authorizers-fail",
    says: "Callers with good credentials are refused, because these cannot be checked.",
    metric: figureOf(stage, authorizerFailures, "Sum", minutes),
    rings: { atLeast: 3 },
    silence: "good",
  },
  ...(Object.keys(oldSystems) as OldSystem[]).map((system) => upstreamDown(stage, system)),
  ...functions.filter(({ fn }) => !forgiven.includes(fn)).map(functionFails),
];
