import { messagingEnvelope } from "#lib/faults/messaging-envelope.ts";
import { noCredentials, noEndpoint } from "#lib/faults/table.ts";
import { messagingAuthorizers, messagingRoutes } from "#lib/routes/index.ts";
import { type Api, gatewayResponses, responder } from "./api.ts";

/** No CORS: the credentials belong in a backend, never in a web page. */
const respond = responder(messagingEnvelope, {});

const notFound = respond(
  noEndpoint(
    "Use POST /send/message, /send/image or /send/file, or GET /messages/ID, without a version in front.",
  ),
);
const challenge = respond(noCredentials, {
  "www-authenticate": 'Basic realm="messaging", charset="UTF-8"',
});

/** The messaging gateway: `/send/...` and `/messages/...`, without a version segment. */
export const messagingApi: Api = {
  name: "messaging",
  routes: messagingRoutes,
  envelope: messagingEnvelope,
  authorizers: messagingAuthorizers,
  binaryMediaTypes: ["multipart/form-data"],
  // some hundred sends may arrive at once: the messenger paces them
  throttle: { requestsPerSecond: 100, burst: 500 },
  usagePlans: {},
  firewall: { takesAnyBody: true },
  responses: gatewayResponses(respond, { notFound, challenge }),
};
