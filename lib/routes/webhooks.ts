import * as z from "zod/mini";
import { messagingEnvelope } from "#lib/errors/envelope.ts";
import { PlainReply, route } from "./route.ts";

/*
 * Which the platforms call, and no client: they are not in the OpenAPI documents.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/create-webhook-endpoint
 */

const shared = {
  path: "/webhooks/cloud-api",
  auth: { kind: "public" },
  errors: messagingEnvelope,
  ignoredQuery: "all",
  memoryMb: 512,
} as const;

const field = () => z._default(z.string(), "");

export const verifyCloudApi = /* @__PURE__ */ route({
  ...shared,
  method: "GET",
  fn: "messaging/verify-cloud-api",
  summary: "Proves to the WhatsApp Business Platform that the webhook is the city's",
  query: z.object({ "hub.mode": field(), "hub.verify_token": field(), "hub.challenge": field() }),
  reply: z.instanceof(PlainReply),
  failures: ["noAccess"],
  secrets: { MESSENGER_CHANNELS_SECRET_ID: "messenger-channels" },
  timeoutSeconds: 10,
});

export const receiveCloudApi = /* @__PURE__ */ route({
  ...shared,
  method: "POST",
  fn: "messaging/receive-cloud-api",
  summary: "Receives statuses and replies from the WhatsApp Business Platform",
  headers: z.object({ "x-hub-signature-256": field() }),
  body: z.instanceof(Buffer),
  encoding: "raw",
  /** A notification has up to 3 MB. */
  maxBodyBytes: 4 * 1024 * 1024,
  reply: z.object({ status: z.literal(true) }),
  failures: ["wrongSignature", "messengerAway"],
  secrets: {
    MESSENGER_CHANNELS_SECRET_ID: "messenger-channels",
    MESSENGER_TOKEN_SECRET_ID: "messenger-token",
  },
  upstreams: ["MESSENGER_URL"],
  timeoutSeconds: 28,
});

const accountError = "account must be the name of an account at an SMS gateway";

/** Reports of SMS gateways. Their fields are those that the account's settings name. */
const smsReport = {
  path: "/webhooks/sms/{account}",
  auth: { kind: "public" },
  errors: messagingEnvelope,
  ignoredQuery: "all",
  memoryMb: 512,
  params: z.object({
    account: z
      .string({ error: accountError })
      .check(z.regex(/^[a-z0-9][a-z0-9-]{0,39}$/, { error: accountError })),
  }),
  headers: z.object({ authorization: z.optional(z.string()) }),
  query: z.looseObject({}),
  reply: z.object({ status: z.literal(true) }),
  failures: ["noReportToken", "messengerAway"],
  secrets: {
    MESSENGER_CHANNELS_SECRET_ID: "messenger-channels",
    MESSENGER_TOKEN_SECRET_ID: "messenger-token",
  },
  upstreams: ["MESSENGER_URL"],
  timeoutSeconds: 28,
} as const;

export const reportSms = /* @__PURE__ */ route({
  ...smsReport,
  method: "POST",
  fn: "messaging/report-sms",
  summary: "Takes the delivery reports of an SMS gateway",
  body: z.instanceof(Buffer),
  encoding: "raw",
  /** Some thousand reports. */
  maxBodyBytes: 1024 * 1024,
});

export const reportSmsByQuery = /* @__PURE__ */ route({
  ...smsReport,
  method: "GET",
  fn: "messaging/report-sms-by-query",
  summary: "Takes a delivery report of an SMS gateway that sends it in the query",
});
