import type { ErrorRow } from "#lib/errors/api-error.ts";
import {
  type Envelope,
  integrationEnvelope,
  messagingEnvelope,
  oauthEnvelope,
} from "#lib/errors/envelope.ts";
import * as table from "#lib/errors/table.ts";
import { defaultMaxBytes } from "#lib/http/body.ts";
import { fileTooLarge } from "#lib/http/multipart.ts";
import type { Route } from "#lib/routes/route.ts";
import { type Schema, schemaOf } from "./schema.ts";

/** Schema names of the envelopes among the document's components. */
const names = new Map<Envelope, string>([
  [integrationEnvelope, "IntegrationError"],
  [oauthEnvelope, "OAuthError"],
  [messagingEnvelope, "MessagingError"],
]);

/** The firewall's response to a rate-limited address: it has no request id, because the gateway comes later. */
const firewallError = "FirewallError";

/** @throws Error for an envelope without a name. */
export const nameOf = (envelope: Envelope): string => {
  const name = names.get(envelope);
  if (!name) throw new Error("an envelope is not among the document's errors");
  return name;
};

/** The schema name of the firewall's response, which is the API's own where that has no request id. */
export const firewallErrorOf = (envelope: Envelope): string =>
  envelope === integrationEnvelope ? firewallError : nameOf(envelope);

const withoutRequestId = ({ properties = {}, required = [], ...rest }: Schema): Schema => {
  const { request_id: _, ...others } = properties;
  return { ...rest, properties: others, required: required.filter((name) => name !== "request_id") };
};

export const errorSchemas = (): Record<string, Schema> => ({
  ...Object.fromEntries([...names].map(([{ schema }, name]) => [name, schemaOf(schema, "output")])),
  [firewallError]: withoutRequestId(schemaOf(integrationEnvelope.schema, "output")),
});

/** The rows that have no values of a route. A spread reads each export anew, which takes longer than all else here. */
const constantRows = { ...table };

/** Returns a row of the table, with the values of the route. */
export const rowOf = (name: table.ErrorName, { auth, maxBodyBytes = defaultMaxBytes }: Route): ErrorRow => {
  const rows: Readonly<Record<table.ErrorName, ErrorRow>> = {
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
    tooManyFailedVerifications: table.tooManyFailedVerifications(3_600),
    tooManyUnknownNumbers: table.tooManyUnknownNumbers(3_600),
    tooManyResidents: table.tooManyResidents(0, 3_600),
    outcomeUnknown: table.outcomeUnknown(true),
  };
  return rows[name];
};

/** The gateway's response type of a fault, or the firewall's response to one address. */
export const gatewayTypes: Readonly<Partial<Record<table.ErrorName, string>>> = {
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
export const isByFunction = (name: table.ErrorName): boolean =>
  gatewayTypes[name] === undefined || name === "internal" || name === "tookTooLong";

const refusals: Readonly<Record<Route["auth"]["kind"], readonly table.ErrorName[]>> = {
  apiKey: ["noKey", "noScope", "overQuota"],
  bearer: ["noToken", "expiredToken", "noScope"],
  basic: ["noCredentials"],
  public: [],
};

/** Lists every fault that a route can return, including those of the gateway, by status. */
export const listFaults = (route: Route): table.ErrorName[] => {
  const { auth, body, encoding, secrets, upstreams = [], failures = [] } = route;
  const isMultipart = encoding === "multipart";
  // where an unconfirmed account is a fault, a failure of the legacy system alone is none
  const callsOldSystem =
    upstreams.some((name) => name !== "MESSENGER_URL") && !failures.includes("unconfirmed");
  const found: [boolean, ...table.ErrorName[]][] = [
    [true, "invalidRequest", ...refusals[auth.kind], ...failures, "firewall"],
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
