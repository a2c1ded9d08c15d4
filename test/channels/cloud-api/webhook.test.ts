import { randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import type { APIGatewayProxyResult } from "aws-lambda";
import { expect, test, vi } from "vitest";
import { ChannelEvents } from "#lib/messaging/channel-events.ts";
import { proxyEvent, readRequest } from "../../../infra/local/gateway/event.ts";
import { serve } from "../../steps/http-server.ts";
import { startSecrets, stopClock } from "../../steps/secrets.ts";
import { encode, notificationOf, notify, post, sign, statusOf } from "./notifications.ts";
import { phoneNumberId } from "./platform.ts";

const secret = "invented-app-secret";
const wamid = "wamid.SU5WRU5URUQ=";
const to = "6281200000002";
const message = { wamid, id: "3EB0INVENTED", posted: { to: `+${to}` } } as Parameters<typeof statusOf>[0];
const account = {
  channel: "cloud-api",
  phone_number_id: phoneNumberId,
  access_token: "invented-access-token",
  app_secret: secret,
  verify_token: "invented-verify-token",
  templates: { language: "id", text: "notice", code: "login_code" },
};
const accounts = {
  official: account,
  other: { ...account, phone_number_id: "222222222", app_secret: "another-app-secret", verify_token: "v2" },
  sibling: { ...account, phone_number_id: "333333333" },
};

type Handler = (event: unknown, context: unknown) => Promise<APIGatewayProxyResult>;

/** Both functions behind an address, with a messenger that answers as the test says. */
const openWebhook = async () => {
  const received: ChannelEvents[] = [];
  const messenger = { status: 200 };
  const messengerUrl = await serve(async (request, response) => {
    const events = JSON.parse((await buffer(request)).toString());
    const known = request.headers.authorization === `Bearer ${"t".repeat(32)}`;
    if (messenger.status === 200 && known) received.push(ChannelEvents.parse(events));
    const body = messenger.status === 200 ? { applied: 1 } : { code: "not_found", message: "Unknown" };
    response.writeHead(messenger.status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  const { store } = await startSecrets({
    MESSENGER_URL: messengerUrl,
    MESSENGER_TOKEN_SECRET_ID: "token",
    MESSENGER_CHANNELS_SECRET_ID: "channels",
    LOG_LEVEL: "info",
  });
  store.put("token", JSON.stringify({ token: "t".repeat(32) }));
  store.put("channels", JSON.stringify({ accounts }));
  const load = async (fn: string): Promise<Handler> =>
    (await import(`../../../functions/messaging/${fn}.ts`)).handler;
  const handlers: Record<string, Handler> = {
    GET: await load("verify-cloud-api"),
    POST: await load("receive-cloud-api"),
  };
  const url = await serve(async (incoming, response) => {
    const body = await buffer(incoming);
    const request = readRequest(incoming, randomUUID());
    if (!request) throw new Error("a path was expected");
    const resourcePath = "/webhooks/cloud-api";
    const event = proxyEvent(request, { body, binary: false, resourcePath, authorizer: undefined });
    const handle = handlers[request.method];
    const result = await handle?.(event, { getRemainingTimeInMillis: () => 20_000 });
    response.writeHead(result?.statusCode ?? 500, result?.headers as never).end(result?.body);
  });
  const at = `${url}/webhooks/cloud-api`;
  return {
    ...{ store, received, messenger, url: at },
    send: (notification: unknown, signedBy = secret) => {
      const body = encode(notification);
      return post(at, body, sign(signedBy, body));
    },
    verify: (query: Record<string, string>) => fetch(`${at}?${new URLSearchParams(query)}`),
  };
};

const handshake = {
  "hub.mode": "subscribe",
  "hub.verify_token": account.verify_token,
  "hub.challenge": "1158201444",
};

test("the challenge is returned as plain text for the verify token of any account", async () => {
  const { verify } = await openWebhook();
  for (const token of [account.verify_token, "v2"]) {
    const response = await verify({ ...handshake, "hub.verify_token": token, more: "ignored" });
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      200,
      "text/plain; charset=utf-8",
      "1158201444",
    ]);
  }
});

test.each<Record<string, string>>([
  { ...handshake, "hub.verify_token": "wrong" },
  { ...handshake, "hub.verify_token": "" },
  { ...handshake, "hub.mode": "unsubscribe" },
  { "hub.challenge": "1158201444" },
  {},
])("a handshake without mode or token is a 403 without the challenge", async (query) => {
  const { verify } = await openWebhook();
  const response = await verify(query);
  expect(response.status).toBe(403);
  expect(await response.text()).not.toContain("1158201444");
});

test("statuses become reports with our id, the platform's and its code", async () => {
  const { send, received } = await openWebhook();
  const statuses = [
    statusOf(message, "read"),
    statusOf(message, "sent"),
    statusOf(message, "delivered"),
    statusOf(message, "failed", 131026),
    { ...statusOf(message, "sent"), biz_opaque_callback_data: undefined },
    { ...statusOf(message, "sent"), biz_opaque_callback_data: "x".repeat(129) },
  ];
  expect((await send(notificationOf({ statuses }))).status).toBe(200);
  const own = { id: message.id, reference: wamid };
  expect(received).toEqual([
    {
      account: "official",
      reports: [
        { ...own, state: "READ" },
        { ...own, state: "SENT" },
        { ...own, state: "DELIVERED" },
        { ...own, state: "FAILED", code: "131026" },
        { reference: wamid, state: "SENT" },
        { reference: wamid, state: "SENT" },
      ],
      replies: [],
    },
  ]);
});

test("what people write, and the buttons that they press, become replies", async () => {
  const { send, received } = await openWebhook();
  const from = { from: to, id: "wamid.REPLY", timestamp: "1767229200" };
  const messages = [
    { ...from, type: "text", text: { body: "BERHENTI – käse/😀" } },
    { ...from, type: "button", button: { payload: "stop", text: "Berhenti" } },
    {
      ...from,
      type: "interactive",
      interactive: { type: "button_reply", button_reply: { id: "1", title: "Ya" } },
    },
    {
      ...from,
      type: "interactive",
      interactive: { type: "list_reply", list_reply: { id: "2", title: "Besok" } },
    },
    { ...from, type: "image", image: { id: "1", mime_type: "image/jpeg" } },
  ];
  expect((await send(notificationOf({ messages }))).status).toBe(200);
  const reply = { phone: to, sent_at: "2026-01-01T01:00:00.000Z" };
  expect(received.flatMap(({ replies }) => replies)).toEqual([
    { ...reply, text: "BERHENTI – käse/😀" },
    { ...reply, text: "Berhenti" },
    { ...reply, text: "Ya" },
    { ...reply, text: "Besok" },
    reply,
  ]);
});

test("a person whose number is hidden is named by the user id, and by the message that is replied to", async () => {
  const { send, received } = await openWebhook();
  const user = "ID.13491208655302741918";
  const text = { timestamp: "1767229200", text: { body: "STOP" } };
  const messages = [
    { ...text, from_user_id: user },
    { ...text, from_user_id: user, context: { from: "6281200000001", id: wamid } },
    { ...text, from: to, from_user_id: user, context: { forwarded: true } },
    text,
  ];
  const statuses = [{ ...statusOf(message, "sent"), recipient_user_id: user }];
  expect((await send(notificationOf({ messages, statuses }))).status).toBe(200);
  const reply = { text: "STOP", sent_at: "2026-01-01T01:00:00.000Z" };
  expect(received.flatMap(({ replies }) => replies)).toEqual([
    { ...reply, user },
    { ...reply, user, reference: wamid },
    { ...reply, phone: to, user },
    reply,
  ]);
  expect(received[0]?.reports).toEqual([{ id: message.id, reference: wamid, state: "SENT", user }]);
});

test("what is not of these shapes is left out, without what stands beside it", async () => {
  const { send, received } = await openWebhook();
  const good = { from: to, timestamp: "1767229200", text: { body: "MULAI" } };
  const statuses = [
    { ...statusOf(message, "sent"), status: "deleted" },
    { ...statusOf(message, "sent"), id: 7 },
    { ...statusOf(message, "sent"), id: "x".repeat(256) },
    { ...statusOf(message, "failed"), errors: "none" },
    null,
    "sent",
  ];
  const messages = [
    { ...good, group_id: "Y2FwaV9ncm91cDo=" },
    { ...good, timestamp: "yesterday" },
    { ...good, text: { body: 7 } },
    [],
    good,
  ];
  const { entry } = notificationOf({ statuses, messages }) as { entry: unknown[] };
  const strange = [null, 7, { changes: null }, { changes: [{ field: "account_update", value: {} }, null] }];
  expect((await send({ object: "whatsapp_business_account", entry: [...strange, ...entry] })).status).toBe(
    200,
  );
  for (const other of [{}, { entry: {} }, [], "text", 7])
    expect((await send(other)).status).toBeLessThan(401);
  expect(received).toEqual([
    {
      account: "official",
      reports: [{ id: message.id, reference: wamid, state: "FAILED" }],
      replies: [{ phone: to, text: "MULAI", sent_at: "2026-01-01T01:00:00.000Z" }],
    },
  ]);
});

const one = notificationOf({ statuses: [statusOf(message, "sent")] });
const bytes = encode(one);

test.each<[string, Buffer, string | undefined]>([
  ["no signature", bytes, undefined],
  ["an empty signature", bytes, ""],
  ["another secret's signature", bytes, sign("wrong", bytes)],
  ["another body's signature", bytes, sign(secret, Buffer.from("{}"))],
  ["a signature without its prefix", bytes, sign(secret, bytes).slice(7)],
  ["a signature in capitals", bytes, sign(secret, bytes).toUpperCase()],
  ["half a signature", bytes, sign(secret, bytes).slice(0, 40)],
  ["the signature of the decoded text", encode({ a: "é" }), sign(secret, Buffer.from('{"a":"é"}'))],
  ["the signature of another account's app", bytes, sign("another-app-secret", bytes)],
])("a body with %s is a 401, and goes nowhere", async (_what, body, signature) => {
  const { url, received } = await openWebhook();
  expect((await post(url, body, signature)).status).toBe(401);
  expect(received).toEqual([]);
});

test("each account gets its own events, also of one app", async () => {
  const { send, received } = await openWebhook();
  const statuses = [statusOf(message, "sent")];
  await send(
    notificationOf({ statuses }, { statuses, number: "333333333" }, { statuses, number: "999999999" }),
  );
  await send(notificationOf({ statuses, number: "222222222" }), "another-app-secret");
  expect(received.map((events) => events.account)).toEqual(["official", "sibling", "other"]);
});

test("an unknown number is ignored if a known app has signed, and nothing is known without accounts", async () => {
  const { send, received, store } = await openWebhook();
  const unknown = notificationOf({ statuses: [statusOf(message, "sent")], number: "999999999" });
  expect((await send(unknown)).status).toBe(200);
  expect((await send(unknown, "wrong")).status).toBe(401);
  const clock = stopClock();
  clock.pass(61_000);
  store.put("channels", JSON.stringify({ accounts: {} }));
  expect((await send(unknown)).status).toBe(401);
  expect(received).toEqual([]);
});

test("a notification of 3 MB is passed on in parts of a thousand, in order", async () => {
  const { send, received } = await openWebhook();
  const names = Array.from({ length: 9_000 }, (_, n) => `3EB0INVENTED${n}`);
  const statuses = names.map((id) => statusOf({ ...message, id }, "sent"));
  const notification = notificationOf({ statuses });
  expect(encode(notification).length).toBeGreaterThan(2_000_000);
  expect((await send(notification)).status).toBe(200);
  expect(received.map(({ reports }) => reports.length)).toEqual(Array(9).fill(1_000));
  expect(received.flatMap(({ reports }) => reports.map(({ id }) => id))).toEqual(names);
});

test.each([503, 500, 404, 400, 401])(
  "what the messenger answers with %i is to be repeated",
  async (status) => {
    const { send, messenger, received } = await openWebhook();
    messenger.status = status;
    expect((await send(one)).status).toBeGreaterThanOrEqual(status === 400 ? 400 : 503);
    messenger.status = 200;
    expect((await send(one)).status).toBe(200);
    expect(received).toHaveLength(1);
  },
);

test("copies and another order are passed on as they arrive", async () => {
  const { url, received } = await openWebhook();
  const statuses = (["sent", "delivered", "read"] as const).map((status) =>
    notificationOf({ statuses: [statusOf(message, status)] }),
  );
  const taken = await notify(url, secret, statuses, { copies: 2, shuffle: (items) => items.toReversed() });
  expect(taken).toBe(6);
  expect(received.flatMap(({ reports }) => reports.map(({ state }) => state))).toEqual([
    ...["READ", "READ", "DELIVERED", "DELIVERED", "SENT", "SENT"],
  ]);
});

test("no log line contains a number, a text, an id or a credential", async () => {
  const lines: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((line) => lines.push(String(line)) > 0);
  const { send, verify, messenger } = await openWebhook();
  const messages = [{ from: to, timestamp: "1767229200", text: { body: "RAHASIA" } }];
  const notification = notificationOf({ statuses: [statusOf(message, "failed", 131026)], messages });
  await send(notification);
  await send(notification, "wrong");
  messenger.status = 503;
  await send(notification);
  await verify(handshake);
  vi.restoreAllMocks();
  const text = lines.join("");
  expect(text).toContain("messaging/receive-cloud-api");
  for (const value of [
    to,
    "RAHASIA",
    message.id,
    wamid,
    secret,
    account.verify_token,
    account.access_token,
    phoneNumberId,
  ])
    expect(text).not.toContain(value);
});
