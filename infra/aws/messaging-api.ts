import { messagingEnvelope } from "#lib/http/messaging-envelope.ts";
import { messagingAuthorizers, messagingRoutes } from "#lib/routes/index.ts";
import { type Api, gatewayResponses, responder } from "./api.ts";

/** No CORS: the credentials belong in a backend, never in a web page. */
const respond = responder(messagingEnvelope, {});

const notFound = respond(
  404,
  "not_found",
  "There is no such endpoint; check the address and the method: /send/message, /send/image and /send/file take POST, and no version stands before them",
);
const challenge = respond(
  401,
  "unauthorized",
  "Valid credentials are needed in the header Authorization: Basic, as base64 of username:password",
  { "www-authenticate": 'Basic realm="messaging", charset="UTF-8"' },
);

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
