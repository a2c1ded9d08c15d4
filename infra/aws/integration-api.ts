import { integrationEnvelope } from "#lib/faults/envelope.ts";
import { noEndpoint, noToken } from "#lib/faults/table.ts";
import { getTicket, login, refresh } from "#lib/routes/employee.ts";
import { integrationAuthorizers, integrationRoutes } from "#lib/routes/index.ts";
import { type Api, gatewayResponses, responder, tooManyFromAddress } from "./api.ts";

const respond = responder(integrationEnvelope, {
  // a page that may read the responses of a public route must be able to read its errors too
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "retry-after, x-request-id",
});

const notFound = respond(noEndpoint("Check both; all endpoints are listed at /docs."));
const challenge = respond(
  {
    ...noToken,
    message:
      "No valid credentials. Employee endpoints need an access token in Authorization: Bearer, resident endpoints an API key in apikey.",
  },
  { "www-authenticate": 'Bearer realm="municipal", ApiKey realm="municipal", header="apikey"' },
);

/** Employee, resident and tourism services: everything under `/v1`. */
export const integrationApi: Api = {
  name: "integration",
  routes: integrationRoutes,
  envelope: integrationEnvelope,
  authorizers: integrationAuthorizers,
  binaryMediaTypes: ["multipart/form-data"],
  throttle: { requestsPerSecond: 1_000, burst: 2_000 },
  usagePlans: {
    standard: { requestsPerSecond: 500, burst: 1_000, requestsPerDay: 5_000_000 },
    trial: { requestsPerSecond: 5, burst: 10, requestsPerDay: 10_000 },
  },
  firewall: {
    perAddress: {
      // one address may serve an office, or an app's server; the functions limit each account
      limits: [
        { route: login, requestsPerMinute: 120 },
        { route: refresh, requestsPerMinute: 300 },
        { route: getTicket, requestsPerMinute: 300 },
      ],
      refusal: tooManyFromAddress(respond),
    },
    takesAnyBody: false,
  },
  responses: gatewayResponses(respond, { notFound, challenge }),
};
