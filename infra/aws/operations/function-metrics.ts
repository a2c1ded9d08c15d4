import { authorizers, routes } from "#lib/routes/index.ts";
import { maintain, notify } from "#lib/routes/internal.ts";
import type { LegacySystem, Upstream } from "#lib/routes/route.ts";
import * as metrics from "./log-metric.ts";

/** Display names of the legacy systems. */
export const legacySystems: Readonly<Record<LegacySystem, string>> = {
  LEGACY_AUTH_URL: "legacy login system",
  EMPLOYEE_SYSTEM_URL: "employee system",
};

const isLegacySystem = (upstream: Upstream): upstream is LegacySystem => upstream in legacySystems;

/** The metrics extracted from the log of a function. */
export const metricsOf = (fn: string): metrics.LogMetric[] => {
  if (fn === notify.fn) return [metrics.requestFailures];
  if (fn === maintain.fn) return [metrics.pendingChanges];
  const route = routes.find((row) => row.fn === fn);
  const authorizer = authorizers.find((row) => row.fn === fn);
  const { secrets = {} } = route ?? authorizer ?? {};
  return [
    ...("DATABASE_SECRET_ID" in secrets ? [metrics.databaseFailures, metrics.missingConnections] : []),
    ...(route?.encoding === "multipart" ? [metrics.badBoundaries] : []),
    ...(route?.upstreams ?? []).filter(isLegacySystem).map(metrics.upstreamFailures),
    ...(route?.failures?.some(
      (name) => name === "tooManyUnknownNumbers" || name === "tooManyFailedVerifications",
    )
      ? [metrics.tooManyGuesses]
      : []),
    ...(route?.failures?.includes("tooManyResidents") ? [metrics.moreThanAgreed] : []),
    ...(authorizer ? [metrics.authorizerFailures] : []),
  ];
};

/** Whether this metric explains a 5xx: it has its own alarm, or is the caller's mistake. */
export const isExplained = (figure: metrics.LogMetric): boolean =>
  figure === metrics.badBoundaries ||
  figure === metrics.missingConnections ||
  figure.name.startsWith(metrics.upstreamFailuresPrefix);
