import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "zod/mini";
import { serveHttp } from "../loopback.ts";
import { Behaviour } from "./behaviour.ts";
import type { Phone, Received } from "./phone.ts";
import type { Platform } from "./platform.ts";

const Leave = z.strictObject({ forMs: z.optional(z.number()) });
const Disconnect = z.strictObject({ reason: z.union([z.literal("drop"), z.int()]) });

/** Converts a message to JSON: bytes become base64, long numbers strings. */
const present = (phone: Phone, { media, message, ...received }: Received) => ({
  ...received,
  message: message.toJSON(),
  ...(media && {
    media: {
      mimetype: media.mimetype,
      fileName: media.fileName,
      lengthBytes: media.lengthBytes,
      sha256: Buffer.from(media.sha256).toString("hex"),
      url: `/phones/${phone.number}/media/${received.id}`,
    },
  }),
});

const presentPhone = (phone: Phone) => ({
  number: phone.number,
  lid: phone.lid,
  inbox: phone.inbox.map((received) => present(phone, received)),
  failures: phone.failures,
});

interface Call {
  /** The values in the path. */
  readonly names: readonly [string, string];
  readonly query: URLSearchParams;
  readonly body: unknown;
}

type Action = (platform: Platform, call: Call) => unknown;

const readTimeout = (query: URLSearchParams): number =>
  Math.min(Number(query.get("timeoutMs") ?? 5_000), 60_000);

/** Shows a phone when it has the number of messages in the query, or after the timeout. */
const readPhone: Action = async (platform, { names: [number], query }) => {
  const phone = platform.phone(number);
  const messages = Number(query.get("messages") ?? 0);
  await platform.until(() => phone.inbox.length >= messages, readTimeout(query)).catch(() => {});
  return presentPhone(phone);
};

/** Shows a message when it has arrived. @throws Error after the timeout. */
const readMessage: Action = async (platform, { names: [number, id], query }) => {
  const phone = platform.phone(number);
  await platform.until(() => phone.find(id) !== undefined, readTimeout(query)).catch(() => {});
  const received = phone.find(id);
  if (!received) throw new Error(`no message with this ID has arrived within ${readTimeout(query)} ms`);
  return present(phone, received);
};

const readMedia: Action = (platform, { names: [number, id] }) => {
  const { media } = platform.phone(number).find(id) ?? {};
  if (!media) throw new Error("no message with this ID has media");
  return media.bytes;
};

const readString = (body: unknown, key: string): string =>
  z.record(z.literal(key), z.string()).parse(body)[key] ?? "";

/** The endpoints; a colon matches one segment of the path. */
const actions: Readonly<Record<string, Action>> = {
  // how another process connects a client
  "GET /": ({ url, rootKey, mediaCa, account }) => ({
    url,
    rootKey: rootKey.toString("base64"),
    mediaCa,
    account: account.number,
  }),
  "GET /behaviour": ({ behaviour }) => behaviour,
  "PUT /behaviour": (platform, { body }) => {
    platform.behave(Behaviour.parse(body));
    return platform.behaviour;
  },
  "GET /sockets": ({ sockets }) => sockets,
  "GET /faults": ({ faults }) => faults,
  "GET /phones": ({ phones }) => phones.map(({ number, inbox }) => ({ number, messages: inbox.length })),
  "GET /phones/:": readPhone,
  "PUT /phones/:": (platform, { names: [number] }) => presentPhone(platform.register(number)),
  "DELETE /phones/:": (platform, { names: [number] }) => platform.unregister(number),
  "GET /phones/:/messages/:": readMessage,
  "GET /phones/:/media/:": readMedia,
  "POST /phones/:/messages": async (platform, { names: [number], body }) => ({
    ids: await platform.write(number, readString(body, "text")),
  }),
  "GET /messages/:": (platform, { names: [id] }) => ({ arrivals: platform.arrivalsOf(id) }),
  "POST /scan": async (platform, { body }) => ({ device: await platform.scan(readString(body, "qr")) }),
  "POST /code": async (platform, { body }) => ({
    device: await platform.enterCode(readString(body, "code")),
  }),
  "POST /disconnect": (platform, { body }) => platform.disconnect(Disconnect.parse(body).reason),
  "POST /leave": (platform, { body }) => platform.leave(Leave.parse(body || {}).forMs),
  "POST /come-back": (platform) => platform.comeBack(),
};

const patterns = Object.entries(actions).map(([row, action]) => {
  const [method, path = ""] = row.split(" ");
  return { method, path: new RegExp(`^${path.replaceAll(":", "([^/]+)")}$`), action };
});

/** Serves the platform's methods over HTTP on loopback, for other processes. */
export const startControl = (platform: Platform, port = 0) => {
  const act = async (request: IncomingMessage) => {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://control");
    const found = patterns.find(({ method, path }) => method === request.method && path.test(pathname));
    if (!found) return { status: 404, result: { message: `Use one of ${Object.keys(actions).join(", ")}` } };
    const [, first = "", second = ""] = (found.path.exec(pathname) ?? []).map(decodeURIComponent);
    const body = await text(request);
    const call = { names: [first, second] as const, query, body: body && JSON.parse(body) };
    const result = await found.action(platform, call);
    return { status: result === undefined ? 204 : 200, result };
  };
  const server = createServer((request, response) => {
    act(request)
      .catch((fault: Error) => ({ status: 400, result: { message: fault.message } }))
      .then(({ status, result }) => {
        const raw = Buffer.isBuffer(result);
        response.writeHead(status, { "content-type": raw ? "application/octet-stream" : "application/json" });
        response.end(raw || result === undefined ? result : JSON.stringify(result));
      });
  });
  return serveHttp(server, port);
};
