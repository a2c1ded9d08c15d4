import type { FaultRow } from "#lib/faults/fault.ts";
import * as table from "#lib/faults/table.ts";
import { defaultMaxBytes } from "#lib/http/body.ts";
import { fileTooLarge } from "#lib/http/multipart.ts";
import type { Route } from "#lib/routes/route.ts";

/** The rows that have no values of a route. A spread reads each export anew, which takes longer than all else here. */
const constantRows = { ...table };

/** Returns a row of the table, with the values of the route. */
export const rowOf = (name: table.FaultName, { auth, maxBodyBytes = defaultMaxBytes }: Route): FaultRow => {
  const rows: Readonly<Record<table.FaultName, FaultRow>> = {
    ...constantRows,
    invalidRequest: table.invalidRequest(""),
    noScope: table.noScope("scope" in auth ? auth.scope : ""),
    noEndpoint: table.noEndpoint(""),
    bodyTooLarge: table.bodyTooLarge(maxBodyBytes),
    classNotAllowed: table.classNotAllowed(["reminder", "bulk"]),
    dailyQuotaReached: table.dailyQuotaReached(3_600),
    uploadTooLarge: fileTooLarge,
    requestTooLarge: table.requestTooLarge(auth.kind === "basic"),
    tooManyAttempts: table.tooManyAttempts(60),
    tooManyMismatches: table.tooManyMismatches(3_600),
    tooManyMisses: table.tooManyMisses(3_600),
    tooManyResidents: table.tooManyResidents(0, 3_600),
    outcomeUnknown: table.outcomeUnknown(true),
  };
  return rows[name];
};

/** The gateway's response type of a fault, or the firewall's response to one address. */
export const gatewayTypes: Readonly<Partial<Record<table.FaultName, string>>> = {
  noKey: "UNAUTHORIZED",
  noToken: "UNAUTHORIZED",
  noCredentials: "UNAUTHORIZED",
  firewall: "WAF_FILTERED",
  requestTooLarge: "REQUEST_TOO_LARGE",
  throttled: "THROTTLED",
  overQuota: "QUOTA_EXCEEDED",
  addressThrottled: "firewall",
  internal: "DEFAULT_5XX",
  serviceFailed: "INTEGRATION_FAILURE",
  tookTooLong: "INTEGRATION_TIMEOUT",
};

/** Whether a function can return the fault. */
export const isByFunction = (name: table.FaultName): boolean =>
  gatewayTypes[name] === undefined || name === "internal" || name === "tookTooLong";

const refusals: Readonly<Record<Route["auth"]["kind"], readonly table.FaultName[]>> = {
  apiKey: ["noKey", "noScope", "overQuota"],
  bearer: ["noToken", "expiredToken", "noScope"],
  basic: ["noCredentials"],
  public: [],
};

/** Lists every fault that a route can return, including those of the gateway, by status. */
export const listFaults = (route: Route): table.FaultName[] => {
  const { auth, body, encoding, secrets, upstreams = [], faults = [] } = route;
  const isMultipart = encoding === "multipart";
  // where an unconfirmed account is a fault, a failure of the legacy system alone is none
  const callsOldSystem =
    upstreams.some((name) => name !== "MESSENGER_URL") && !faults.includes("unconfirmed");
  const found: [boolean, ...table.FaultName[]][] = [
    [true, "invalidRequest", ...refusals[auth.kind], ...faults, "firewall"],
    [body !== undefined, isMultipart ? "uploadTooLarge" : "bodyTooLarge", "requestTooLarge"],
    [isMultipart, "badBoundary"],
    [true, "throttled", "addressThrottled", "internal", "serviceFailed", "tookTooLong"],
    [callsOldSystem, "oldSystemFailed", "oldSystemSlow"],
    ["DATABASE_SECRET_ID" in secrets, "busy"],
  ];
  return found
    .flatMap(([applies, ...names]) => (applies ? names : []))
    .toSorted((a, b) => rowOf(a, route).status - rowOf(b, route).status);
};
