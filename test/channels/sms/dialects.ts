import * as z from "zod/mini";
import { type SmsSettings, smsSchema } from "#lib/channels/sms/settings.ts";

/*
 * How five gateways are configured, what they answer and how they report, each by its documentation. Credentials are invented.
 */

export const reportToken = "report-token-of-forty-characters-abcdefgh";

/** What an imitated gateway reads of a request. */
interface Asked {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly query: URLSearchParams;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A report as the gateway sends it. */
interface Sent {
  readonly method: "GET" | "POST";
  /** Besides what the URL has. */
  readonly query?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly body?: string;
}

export type ReportedState = "waiting" | "sent" | "delivered" | "failed";

export interface Dialect {
  /** @param reportUrl with the token, where the gateway learns it from the request. */
  settings(url: string, reportUrl: string): z.input<ReturnType<typeof smsSchema>>;
  read(asked: Asked): { phone: string; text: string; reportUrl?: string | undefined; secret: string };
  readonly secret: string;
  accept(reference: string, id: string): Answer;
  reject(): Answer;
  throttle(): Answer;
  forbid(): Answer;
  /** The code with which `reject` is stored. */
  readonly rejection: string;
  report(reference: string, state: ReportedState): Sent;
  /** Whose id an answer and a report have. */
  readonly reference: "gateway's" | "ours" | "none";
}

const json = (status: number, body: unknown, headers = {}): Answer => ({
  status,
  body: JSON.stringify(body),
  headers,
});
const formType = "application/x-www-form-urlencoded";
const jsonType = "application/json";
const form = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString();
const basic = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

/**
 * @see https://www.twilio.com/docs/messaging/api/message-resource
 * @see https://www.twilio.com/docs/messaging/guides/track-outbound-message-status
 */
const twilio: Dialect = {
  secret: basic("AC0", "twilio-auth-token"),
  settings: (url, reportUrl) => ({
    channel: "sms",
    url: `${url}/2010-04-01/Accounts/AC0/Messages.json`,
    format: "form",
    headers: { Authorization: basic("AC0", "twilio-auth-token") },
    from: "+15005550006",
    fields: { To: "+{phone}", From: "{from}", Body: "{text}", StatusCallback: reportUrl },
    code: "code",
    reference: "sid",
    reports: {
      token: reportToken,
      reference: "MessageSid",
      state: "MessageStatus",
      states: { sent: "SENT", delivered: "DELIVERED", undelivered: "FAILED", failed: "FAILED" },
      code: "ErrorCode",
      replies: { phone: "From", text: "Body" },
    },
  }),
  read({ headers, body }) {
    const fields = new URLSearchParams(body);
    return {
      phone: (fields.get("To") ?? "").replace("+", ""),
      text: fields.get("Body") ?? "",
      reportUrl: fields.get("StatusCallback") ?? undefined,
      secret: String(headers.authorization),
    };
  },
  reference: "gateway's",
  accept: (sid) => json(201, { sid, status: "queued", error_code: null }),
  reject: () => json(400, { code: 21211, message: "Invalid 'To' Phone Number", status: 400 }),
  rejection: "21211",
  throttle: () => json(429, { code: 20429, status: 429 }, { "retry-after": "1" }),
  forbid: () => json(401, { code: 20003, status: 401 }),
  report: (MessageSid, state) => ({
    method: "POST",
    type: formType,
    body: form({
      MessageSid,
      MessageStatus: { waiting: "sending", sent: "sent", delivered: "delivered", failed: "undelivered" }[
        state
      ],
      ...(state === "failed" && { ErrorCode: "30003" }),
    }),
  }),
};

/**
 * @see https://developer.vonage.com/en/api-errors/sms
 * @see https://developer.vonage.com/messaging/sms/guides/delivery-receipts
 */
const vonage: Dialect = {
  secret: "vonage-secret",
  settings: (url, reportUrl) => ({
    channel: "sms",
    url: `${url}/sms/json`,
    format: "form",
    from: "KOTA",
    fields: {
      ...{ api_key: "abcd1234", api_secret: "vonage-secret", from: "{from}", to: "{phone}", text: "{text}" },
      ...{ type: "{alphabet}", "client-ref": "{id}", "status-report-req": "1", callback: reportUrl },
    },
    alphabets: { gsm: "text", ucs2: "unicode" },
    accepted: { field: "messages.0.status", values: ["0"] },
    statuses: { "1": 429, "4": 401, "5": 500, "8": 403, "9": 402, "10": 429, "14": 401 },
    reference: "messages.0.message-id",
    reports: {
      token: reportToken,
      reference: "messageId",
      state: "status",
      states: {
        accepted: "SENT",
        delivered: "DELIVERED",
        expired: "FAILED",
        failed: "FAILED",
        rejected: "FAILED",
      },
      code: "err-code",
      replies: { phone: "msisdn", text: "text" },
    },
  }),
  read({ body }) {
    const fields = new URLSearchParams(body);
    return {
      phone: fields.get("to") ?? "",
      text: fields.get("text") ?? "",
      reportUrl: fields.get("callback") ?? undefined,
      secret: fields.get("api_secret") ?? "",
    };
  },
  reference: "gateway's",
  accept: (id) => json(200, { "message-count": "1", messages: [{ status: "0", "message-id": id }] }),
  reject: () =>
    json(200, { "message-count": "1", messages: [{ status: "7", "error-text": "Number barred" }] }),
  rejection: "7",
  throttle: () => json(200, { "message-count": "1", messages: [{ status: "1" }] }),
  forbid: () => json(200, { "message-count": "1", messages: [{ status: "4" }] }),
  report: (messageId, state) => ({
    method: "GET",
    query: {
      messageId,
      status: { waiting: "buffered", sent: "accepted", delivered: "delivered", failed: "expired" }[state],
      "err-code": state === "failed" ? "1" : "0",
    },
  }),
};

/**
 * @see https://www.infobip.com/docs/developer-resources/quickstart
 * @see https://www.infobip.com/docs/api/channels/sms/sms-messaging/logs-and-status-reports/receive-outbound-sms-message-report
 */
const infobip: Dialect = {
  secret: "App infobip-key",
  settings: (url, reportUrl) => ({
    channel: "sms",
    url: `${url}/sms/3/messages`,
    format: "json",
    headers: { Authorization: "App infobip-key" },
    from: "KOTA",
    fields: {
      messages: [
        {
          sender: "{from}",
          destinations: [{ to: "{phone}", messageId: "{id}" }],
          content: { text: "{text}" },
          webhooks: { delivery: { url: reportUrl } },
        },
      ],
    },
    accepted: { field: "messages.0.status.groupName", values: ["PENDING"] },
    code: "messages.0.status.name",
    reference: "messages.0.messageId",
    reports: {
      token: reportToken,
      list: "results",
      id: "messageId",
      state: "status.groupName",
      states: { DELIVERED: "DELIVERED", UNDELIVERABLE: "FAILED", EXPIRED: "FAILED", REJECTED: "FAILED" },
      code: "error.name",
      replies: { phone: "from", text: "cleanText" },
    },
  }),
  read({ headers, body }) {
    const [{ destinations, content, webhooks }] = JSON.parse(body).messages;
    const reportUrl = webhooks.delivery.url;
    return {
      phone: destinations[0].to,
      text: content.text,
      reportUrl,
      secret: String(headers.authorization),
    };
  },
  reference: "ours",
  accept: (_, messageId) =>
    json(200, { messages: [{ messageId, status: { groupName: "PENDING", name: "PENDING_ACCEPTED" } }] }),
  reject: () =>
    json(200, { messages: [{ status: { groupName: "REJECTED", name: "REJECTED_NOT_ENOUGH_CREDITS" } }] }),
  rejection: "REJECTED_NOT_ENOUGH_CREDITS",
  throttle: () => json(429, { requestError: { serviceException: { messageId: "TOO_MANY_REQUESTS" } } }),
  forbid: () => json(401, { requestError: { serviceException: { messageId: "UNAUTHORIZED" } } }),
  report: (messageId, state) => ({
    method: "POST",
    type: jsonType,
    body: JSON.stringify({
      results: [
        {
          messageId,
          status: {
            groupName: {
              waiting: "PENDING",
              sent: "PENDING",
              delivered: "DELIVERED",
              failed: "UNDELIVERABLE",
            }[state],
          },
          error: { name: state === "failed" ? "EC_ABSENT_SUBSCRIBER" : "NO_ERROR" },
        },
      ],
    }),
  }),
};

/** Its documentation is for customers; these are the fields that its clients send. It reports nothing. */
const zenziva: Dialect = {
  secret: "zenziva-passkey",
  settings: (url) => ({
    channel: "sms",
    url: `${url}/reguler/api/sendsms/`,
    format: "form",
    from: "KOTA",
    fields: { userkey: "kota", passkey: "zenziva-passkey", to: "{phone}", message: "{text}" },
    accepted: { field: "status", values: ["1"] },
    reference: "messageId",
  }),
  read({ body }) {
    const fields = new URLSearchParams(body);
    return {
      phone: fields.get("to") ?? "",
      text: fields.get("message") ?? "",
      secret: fields.get("passkey") ?? "",
    };
  },
  reference: "gateway's",
  // an id beyond 2^53, as a number
  accept: (reference) => ({ status: 200, body: `{"messageId":${reference},"status":"1","text":"Success"}` }),
  reject: () => json(200, { messageId: 0, status: "99", text: "PLANTED" }),
  rejection: "99",
  throttle: () => json(429, {}),
  forbid: () => json(401, { status: "5", text: "Userkey / Passkey Salah" }),
  report: () => ({ method: "POST" }),
};

/** @see https://www.kannel.org/download/1.4.5/userguide-1.4.5/userguide.html chapters 6 and 10 */
const kannel: Dialect = {
  secret: "kannel-password",
  settings: (url, reportUrl) => ({
    channel: "sms",
    url: `${url}/cgi-bin/sendsms`,
    format: "query",
    from: "99011",
    fields: {
      ...{ username: "kota", password: "kannel-password", from: "{from}", to: "{phone}", text: "{text}" },
      ...{ charset: "UTF-8", coding: "{alphabet}", "dlr-mask": "31" },
      "dlr-url": `${reportUrl}&id={id}&state=%d`,
    },
    alphabets: { gsm: "0", ucs2: "2" },
    // which it documents as temporary: the message was not taken
    statuses: { "503": 429 },
    reports: {
      token: reportToken,
      id: "id",
      state: "state",
      states: { "1": "DELIVERED", "2": "FAILED", "8": "SENT", "16": "FAILED" },
    },
  }),
  read({ query }) {
    return {
      phone: query.get("to") ?? "",
      text: query.get("text") ?? "",
      reportUrl: query.get("dlr-url") ?? undefined,
      secret: query.get("password") ?? "",
    };
  },
  reference: "none",
  accept: () => ({ status: 202, body: "0: Accepted for delivery" }),
  reject: () => ({ status: 400, body: "PLANTED" }),
  rejection: "400",
  throttle: () => ({ status: 503, body: "Temporal failure, try again later." }),
  forbid: () => ({ status: 403, body: "Authorization failed for sendsms" }),
  report: (_, state) => ({
    method: "GET",
    query: { state: { waiting: "4", sent: "8", delivered: "1", failed: "2" }[state] },
  }),
};

export const dialects = { twilio, vonage, infobip, zenziva, kannel };
export type DialectName = keyof typeof dialects;

/** The settings as a secret has them, with their defaults. */
export const settingsOf = (dialect: Dialect, url: string, reportUrl: string): SmsSettings =>
  z.parse(smsSchema(), dialect.settings(url, reportUrl));
