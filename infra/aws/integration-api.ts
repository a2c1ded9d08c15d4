import { integrationEnvelope } from "#lib/errors/envelope.ts";
import { noEndpoint, noToken } from "#lib/errors/table.ts";
import { invented } from "#lib/openapi/addresses.ts";
import { getTicket, login, refresh } from "#lib/routes/employee.ts";
import { integrationAuthorizers, integrationRoutes } from "#lib/routes/index.ts";
import { type Api, gatewayResponses, responder, tooManyFromAddress } from "./api.ts";

const respond = responder(integrationEnvelope, {
  // a page that may read the responses of a public route must be able to read its errors too
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "retry-after, x-request-id",
});

const notFound = respond(
  noEndpoint(
    `Check both; all endpoints are listed at /docs. The messaging API (/send, /messages) is at ${invented.messaging}.`,
  ),
);
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
  // a browser accepts "*/*" for a script, which the gateway decodes only if this is one of the binary types; bodies
  // then reach the functions in base64
  binaryMediaTypes: ["*/*"],
  // no account of a newer region, such as Jakarta, allows larger bursts
  throttle: { requestsPerSecond: 1_000, burst: 1_250 },
  usagePlans: {
    // an agency with 50 clerks: each serves a citizen every minute of an 8-hour day, with a search and the next page,
    // which makes 48,000 a day and 2 per second
    standard: { requestsPerSecond: 10, burst: 50, requestsPerDay: 50_000 },
    // a developer's trials, and a few users
    trial: { requestsPerSecond: 5, burst: 10, requestsPerDay: 10_000 },
    // a portal of the city that serves 20 agencies: its server may send as much as one address may
    portal: { requestsPerSecond: 100, burst: 1_000, requestsPerDay: 1_000_000 },
  },
  firewall: {
    perAddress: {
      // one address may serve an office of 1,000 employees who open the app at eight, each with five requests in a
      // minute, or a partner's server; the functions limit each account. 6,000 are a tenth of the throttle's rate
      limits: [
        { requestsPerMinute: 6_000 },
        { route: login, requestsPerMinute: 120 },
        { route: refresh, requestsPerMinute: 300 },
        { route: getTicket, requestsPerMinute: 300 },
      ],
      refusal: tooManyFromAddress(respond),
    },
    takesAnyBody: false,
  },
  responses: gatewayResponses(respond, { notFound, challenge, takesFiles: false }),
};
