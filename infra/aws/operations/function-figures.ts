import { authorizers, routes } from "#lib/routes/index.ts";
import { maintain, notify } from "#lib/routes/internal.ts";
import type { OldSystem, Upstream } from "#lib/routes/route.ts";
import {
  authorizerFailures,
  badBoundaries,
  databaseFailures,
  type LogMetric,
  pendingChanges,
  requestFailures,
  upstreamFailures,
} from "./log-metric.ts";

/** Display names of the legacy systems. */
export const oldSystems: Readonly<Record<OldSystem, string>> = {
  LEGACY_AUTH_URL: "legacy login system",
  EMPLOYEE_SYSTEM_URL: "employee system",
};

const isOldSystem = (upstream: Upstream): upstream is OldSystem => upstream in oldSystems;

/** The metrics extracted from the log of a function. */
export const figuresOf = (fn: string): LogMetric[] => {
  if (fn === notify.fn) return [requestFailures];
  if (fn === maintain.fn) return [pendingChanges];
  const route = routes.find((row) => row.fn === fn);
  const authorizer = authorizers.find((row) => row.fn === fn);
  const { secrets = {} } = route ?? authorizer ?? {};
  return [
    ...("DATABASE_SECRET_ID" in secrets ? [databaseFailures] : []),
    ...(route?.encoding === "multipart" ? [badBoundaries] : []),
    ...(route?.upstreams ?? []).filter(isOldSystem).map(upstreamFailures),
    ...(authorizer ? [authorizerFailures] : []),
  ];
};

/** Whether this metric explains a 5xx: it has its own alarm, or is the caller's mistake. */
export const isExplained = ({ name }: LogMetric): boolean =>
  [
    badBoundaries.name,
    ...Object.keys(oldSystems).map((system) => upstreamFailures(system as OldSystem).name),
  ].includes(name);
