import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "zod/mini";
import { listenOnLoopback } from "../loopback.ts";
import { Behaviour, Receipts } from "./behaviour.ts";
import type { Phone, Received } from "./phone.ts";
import type { Platform } from "./platform.ts";

export interface Control {
  readonly url: string;
  stop(): Promise<void>;
}

const Scan = z.strictObject({ qr: z.string() });
const Code = z.strictObject({ code: z.string() });
const Leave = z.strictObject({ forMs: z.optional(z.number()) });
const Disconnect = z.strictObject({ reason: z.union([z.literal("drop"), z.int()]) });
const Write = z.strictObject({ text: z.string() });
const SendReceipts = z.strictObject({ receipts: Receipts });

/** A message as JSON: bytes are base64, long numbers strings. */
const present = ({ media, message, mediaPath, ...received }: Received & { mediaPath: string }) => ({
  ...received,
  message: message.toJSON(),
  ...(media && {
    media: {
      mimetype: media.mimetype,
      fileName: media.fileName,
      lengthBytes: media.lengthBytes,
      sha256: Buffer.from(media.sha256).toString("hex"),
      url: mediaPath,
    },
  }),
});

const presentPhone = (phone: Phone) => ({
  number: phone.number,
  lid: phone.lid,
  inbox: phone.inbox.map((received) =>
    present({ ...received, mediaPath: `/phones/${phone.number}/media/${received.id}` }),
  ),
  failures: phone.failures,
});

interface Call {
  /** What stands in the path's places. */
  readonly names: readonly string[];
  readonly query: URLSearchParams;
  readonly body: unknown;
}

type Action = (platform: Platform, call: Call) => unknown;

const name = (names: readonly string[], at = 0) => names[at] ?? "";

/** A phone, once it has as many messages as the query says, or the time is over. */
const readPhone: Action = async (platform, { names, query }) => {
  const phone = platform.phone(name(names));
  const messages = Number(query.get("messages") ?? 0);
  const timeoutMs = Math.min(Number(query.get("timeoutMs") ?? 5_000), 60_000);
  await platform.until(() => phone.inbox.length >= messages, timeoutMs).catch(() => {});
  return presentPhone(phone);
};

const readMedia: Action = (platform, { names: [number = "", id = ""] }) => {
  const { media } = platform.phone(number).find(id) ?? {};
  if (!media) throw new Error("no such message with media");
  return media.bytes;
};

/** Every endpoint; a colon holds a place. */
const actions: Readonly<Record<string, Action>> = {
  // what another process needs to connect a client
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
  "PUT /phones/:": (platform, { names }) => presentPhone(platform.register(name(names))),
  "DELETE /phones/:": (platform, { names }) => platform.unregister(name(names)),
  "GET /phones/:/media/:": readMedia,
  "POST /phones/:/messages": async (platform, { names, body }) => ({
    ids: await platform.write(name(names), Write.parse(body).text),
  }),
  "GET /messages/:": (platform, { names }) => ({ arrivals: platform.arrivalsOf(name(names)) }),
  "POST /messages/:/receipts": (platform, { names, body }) =>
    platform.sendReceipts(name(names), SendReceipts.parse(body).receipts),
  "POST /messages/:/ask-again": (platform, { names }) => platform.askAgain(name(names)),
  "POST /scan": async (platform, { body }) => ({ device: await platform.scan(Scan.parse(body).qr) }),
  "POST /code": async (platform, { body }) => ({ device: await platform.enterCode(Code.parse(body).code) }),
  "POST /disconnect": (platform, { body }) => platform.disconnect(Disconnect.parse(body).reason),
  "POST /leave": (platform, { body }) => platform.leave(Leave.parse(body ?? {}).forMs),
  "POST /come-back": (platform) => platform.comeBack(),
};

const patterns = Object.entries(actions).map(([row, action]) => {
  const [method, path = ""] = row.split(" ");
  return { method, path: new RegExp(`^${path.replaceAll(":", "([^/]+)")}$`), action };
});

const read = async (request: IncomingMessage): Promise<unknown> => {
  const body = await text(request);
  return body === "" ? undefined : JSON.parse(body);
};

/** The platform's methods over HTTP on loopback, for tests that run in another process. */
export const startControl = async (platform: Platform, port: number): Promise<Control> => {
  const act = async (request: IncomingMessage) => {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://control");
    const found = patterns.find(({ method, path }) => method === request.method && path.test(pathname));
    if (!found) return { status: 404, result: { message: `one of: ${Object.keys(actions).join(", ")}` } };
    const names = (found.path.exec(pathname) ?? []).slice(1).map(decodeURIComponent);
    const result = await found.action(platform, { names, query, body: await read(request) });
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
  const { address, stop } = await listenOnLoopback(server, port);
  return { url: `http://${address}`, stop };
};
