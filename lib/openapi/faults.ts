import type { Route } from "#lib/routes/route.ts";
import type { PublishedApi } from "./api.ts";
import { type FaultName, faultWords } from "./words/faults.ts";

/** Whom a route is open to decides what its 401 and 403 say. */
const refusalsOf = ({ auth }: Route): FaultName[] => {
  switch (auth.kind) {
    case "apiKey":
      return ["noKey", "noScope", "overQuota"];
    case "bearer":
      return ["noToken", "expiredToken", "noScope"];
    case "basic":
      return ["noCredentials"];
    default:
      return [];
  }
};

/** What one function alone finds out. */
const own: Readonly<Record<string, readonly FaultName[]>> = {
  "employee/login": ["wrongLogin", "tooManyAttempts"],
  "employee/refresh": ["spentToken", "otherGrant"],
  "employee/ticket": ["ticketRefused", "tooManyAttempts"],
  "employee/employees": ["ticketNotFound"],
  "messaging/message-status": ["messageNotFound"],
};

const isSending = ({ method, auth }: Route) => auth.kind === "basic" && method === "POST";
const isMultipart = ({ encoding }: Route) => encoding === "multipart";
const hasInput = ({ body, query, params, headers }: Route) => Boolean(body ?? query ?? params ?? headers);
const callsOldSystem = ({ upstreams = [] }: Route) => upstreams.some((name) => name !== "MESSENGER_URL");

/** Every fault that a route can answer, its own and the gateway's, by status. */
export const listFaults = (route: Route, api: PublishedApi): FaultName[] => {
  const limited = api.firewall.perAddress?.limits.some((limit) => limit.route === route);
  const found: FaultName[] = [
    ...(hasInput(route) ? (["invalidRequest"] as const) : []),
    ...refusalsOf(route),
    ...(own[route.fn] ?? []),
    "firewall",
    ...(route.body
      ? ([isMultipart(route) ? "uploadTooLarge" : "bodyTooLarge", "requestTooLarge"] as const)
      : []),
    ...(isSending(route) ? (["keyInUse", "keyReused", "notAccepted", "outcomeUnknown"] as const) : []),
    ...(route.auth.kind === "basic" && !isSending(route) ? (["messengerAway"] as const) : []),
    ...(isMultipart(route) ? (["badBoundary"] as const) : []),
    "throttled",
    ...(limited ? (["addressThrottled"] as const) : []),
    "internal",
    "serviceFailed",
    "tookTooLong",
    ...(callsOldSystem(route) ? (["oldSystemFailed", "oldSystemSlow"] as const) : []),
  ];
  return found.toSorted((a, b) => faultWords[a].status - faultWords[b].status);
};
