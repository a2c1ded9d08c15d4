import { messagingEnvelope } from "#lib/errors/envelope.ts";
import { noCredentials, noEndpoint } from "#lib/errors/table.ts";
import { invented } from "#lib/openapi/addresses.ts";
import { messagingAuthorizers, messagingRoutes } from "#lib/routes/index.ts";
import { type Api, gatewayResponses, responder, tooManyFromAddress } from "./api.ts";

/** No CORS: the credentials belong in a backend, never in a web page. */
const respond = responder(messagingEnvelope, {});

const notFound = respond(
  noEndpoint(
    `Use POST /send/message, /send/image or /send/file, GET /messages, or GET or DELETE /messages/ID, without a version in front. The integration API (/v1) is at ${invented.integration}.`,
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
  // a function gets the bytes as they were sent; the gateway would replace what is not UTF-8
  binaryMediaTypes: ["*/*"],
  // some hundred sends may arrive at once: the messenger paces them. The burst is larger than what one address may
  // send in a minute, so that an address without credentials cannot use it up
  throttle: { requestsPerSecond: 100, burst: 1_250 },
  usagePlans: {},
  firewall: {
    // a backend sends all its messages from one address, and reads the status of each
    perAddress: { limits: [{ requestsPerMinute: 1_200 }], refusal: tooManyFromAddress(respond) },
    takesAnyBody: true,
  },
  responses: gatewayResponses(respond, { notFound, challenge, takesFiles: true }),
};
