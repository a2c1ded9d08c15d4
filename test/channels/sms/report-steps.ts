import { text } from "node:stream/consumers";
import { onTestFinished, vi } from "vitest";
import * as z from "zod/mini";
import type { SmsSettings } from "#lib/channels/sms/settings.ts";
import { ChannelEvents } from "#lib/messaging/channel-events.ts";
import { reportSms } from "#lib/routes/webhooks.ts";
import { proxyEvent, readRequest } from "../../../infra/local/gateway/event.ts";
import { serve } from "../../steps/http-server.ts";
import { startSecrets } from "../../steps/secrets.ts";
import { reportToken } from "./dialects.ts";

const context = { getRemainingTimeInMillis: () => 20_000 } as never;

/** A messenger that takes events, or answers with another status. */
const startMessenger = async () => {
  const events: ChannelEvents[] = [];
  const statuses: number[] = [];
  const url = await serve(async (request, response) => {
    const body = await text(request);
    const status = statuses.shift() ?? 200;
    if (status === 200) events.push(z.parse(ChannelEvents, JSON.parse(body)));
    const answer = status === 200 ? { applied: 1 } : { code: "invalid_request", message: "PLANTED" };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  return {
    url,
    /** Each request that was taken. */
    events,
    reports: () => events.flatMap(({ reports }) => reports),
    replies: () => events.flatMap(({ replies }) => replies),
    /** The next requests get these statuses. */
    fail: (...next: number[]) => void statuses.push(...next),
  };
};

/** Settings with which a report has our id, a state and a reason, for tests of anything but a gateway's own fields. */
export const plain = (more: Partial<NonNullable<SmsSettings["reports"]>> = {}) => ({
  channel: "sms",
  url: "https://gateway.example",
  format: "form",
  from: "KOTA",
  fields: {},
  reports: {
    token: reportToken,
    id: "id",
    reference: "ref",
    state: "state",
    states: { sent: "SENT", ok: "DELIVERED", bad: "FAILED" },
    code: "why",
    ...more,
  },
});

/** Both functions behind one address, with a messenger and the settings of accounts, until the test ends. */
export const startReports = async (accounts: Readonly<Record<string, unknown>>) => {
  const messenger = await startMessenger();
  const { store } = await startSecrets({
    MESSENGER_URL: messenger.url,
    MESSENGER_TOKEN_SECRET_ID: "messenger",
    MESSENGER_CHANNELS_SECRET_ID: "channels",
    LOG_LEVEL: "debug",
  });
  store.put("messenger", JSON.stringify({ token: "t".repeat(32) }));
  store.put("channels", JSON.stringify({ accounts }));
  const printed: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    printed.push(String(chunk));
    return true;
  });
  onTestFinished(() => write.mockRestore());
  const handlers = {
    POST: (await import("../../../functions/messaging/report-sms.ts")).handler,
    GET: (await import("../../../functions/messaging/report-sms-by-query.ts")).handler,
  };
  const url = await serve(async (incoming, response) => {
    const body = Buffer.from(await text(incoming));
    const request = readRequest(incoming, "request-1");
    const handler = handlers[incoming.method as keyof typeof handlers];
    if (!request || !handler) return void response.writeHead(404).end();
    const parts = { body, binary: false, resourcePath: reportSms.path, authorizer: undefined };
    const { statusCode, headers, body: answer } = await handler(proxyEvent(request, parts), context);
    response.writeHead(statusCode, headers as Record<string, string>).end(answer);
  });
  return {
    messenger,
    printed,
    /** Where the gateway of an account reports, with the token. */
    reportUrl: (account = "kota") => `${url}/webhooks/sms/${account}?token=${reportToken}`,
    /** Sends a body, by default with the token as Bearer. */
    async post(body: unknown, headers: Readonly<Record<string, string>> = bearer, account = "kota") {
      const content = typeof body === "string" ? body : JSON.stringify(body);
      const response = await fetch(`${url}/webhooks/sms/${account}`, {
        method: "POST",
        headers,
        body: content,
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    async get(query: string, headers: Readonly<Record<string, string>> = {}, account = "kota") {
      const response = await fetch(`${url}/webhooks/sms/${account}?${query}`, { headers });
      return { status: response.status, text: await response.text() };
    },
  };
};

export const bearer = { authorization: `Bearer ${reportToken}` };
