import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import sharp from "sharp";
import { serve } from "../../steps/http-server.ts";
import { findRejection, Posted, type Template } from "./rules.ts";

/*
 * A hostile imitation of the WhatsApp Business Platform. What it answers, and when, is said by the test; without that it
 * takes what the documentation allows.
 */

export const phoneNumberId = "106540352242922";

/**
 * Statuses of HTTP with the API's codes, where they are not 400.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
 */
const statuses: Readonly<Record<number, number>> = {
  ...{ 0: 401, 2: 503, 3: 500, 10: 403, 190: 401, 200: 403, 368: 403, 130429: 429, 130497: 403 },
  ...{ 131000: 500, 131005: 403, 131016: 500, 131031: 403, 131045: 500, 131057: 500, 132001: 404 },
  ...{ 132068: 400, 133000: 500, 133004: 503 },
};

/** What happens to a request: `accepted` says whether the message reaches the phone. */
export type Behaviour =
  | "take"
  /** The API's error; nothing reaches the phone. */
  | { readonly code: number; readonly status?: number }
  /** Something between the two answers for the platform, such as a load balancer. */
  | { readonly status: number; readonly html: string; readonly accepted?: boolean }
  | { readonly hang: true; readonly accepted: boolean }
  | { readonly reset: true; readonly accepted: boolean }
  /** The connection ends in the middle of the answer. */
  | { readonly cut: true; readonly accepted: boolean }
  /** The answer never ends, or is huge. */
  | { readonly flood: true; readonly accepted: boolean }
  /** Waits before it answers, as when a status overtakes the answer. */
  | { readonly before: (message: Arrived) => Promise<unknown> };

/** A message on a phone. */
export interface Arrived {
  readonly wamid: string;
  /** `biz_opaque_callback_data`. */
  readonly id: string;
  readonly text: string;
  readonly posted: Posted;
}

interface Options {
  readonly token?: string;
  readonly templates?: Readonly<Record<string, Template>>;
}

const approved: Readonly<Record<string, Template>> = {
  notice: { language: "id", components: ["body"] },
  login_code: { language: "id", components: ["body", "button"] },
  picture: { language: "id", components: ["header", "body"], header: "image" },
  letter: { language: "id", components: ["header", "body"], header: "document" },
};

const send = (response: ServerResponse, status: number, json: unknown) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));

/** https://developers.facebook.com/docs/graph-api/guides/error-handling */
const reject = (response: ServerResponse, code: number, status = statuses[code] ?? 400) =>
  send(response, status, {
    error: { message: `(#${code}) invented`, type: "OAuthException", code, fbtrace_id: "invented" },
  });

const readForm = async (request: IncomingMessage) => {
  const body = await buffer(request);
  const headers = { "content-type": String(request.headers["content-type"]) };
  // one that is sent in chunks has no length: the platform's behaviour for it is not documented
  if (Number(request.headers["content-length"]) !== body.length) return undefined;
  return new Response(new Uint8Array(body), { headers }).formData();
};

/**
 * Without a plus the city's own country code comes before the number, and somebody else gets the message.
 * https://developers.facebook.com/docs/whatsapp/cloud-api/guides/send-messages
 */
const phoneOf = (to: string) => (to.startsWith("+") ? to.slice(1) : `62${to}`);

const textOf = ({ template: { components } }: Posted) => {
  const [parameter] = components.find(({ type }) => type === "body")?.parameters ?? [];
  return parameter?.type === "text" ? parameter.text : "";
};

/** Ends a request as it was told, once it is known what the answer would be. */
const misbehave = (request: IncomingMessage, response: ServerResponse, how: Behaviour) => {
  if (how === "take") return false;
  if ("code" in how) reject(response, how.code, how.status);
  else if ("html" in how) response.writeHead(how.status, { "content-type": "text/html" }).end(how.html);
  else if ("reset" in how) request.socket.resetAndDestroy();
  else if ("cut" in how) {
    response.writeHead(200, { "content-type": "application/json", "content-length": "500" });
    response.write('{"messages":[{"id":"wamid', () => request.socket.destroy());
  } else if ("flood" in how)
    response.writeHead(200, { "content-type": "application/json" }).end("x".repeat(200_000));
  return !("before" in how);
};

const isShown = async (file: File): Promise<boolean> => {
  const bytes = Buffer.from(await file.arrayBuffer());
  const { format, depth, space, channels = 0, isPalette } = await sharp(bytes).metadata();
  const isRgb = space === "srgb" && channels >= 3 && depth === "uchar" && !isPalette;
  return isRgb && file.type === `image/${format}` && file.size <= 5 * 1024 * 1024;
};

/** Serves until the test ends. */
export const startPlatform = async ({ token = "EAAinvented", templates = approved }: Options = {}) => {
  const phones = new Map<string, Arrived[]>();
  const media = new Map<string, string>();
  const files: File[] = [];
  const requests: string[] = [];
  const state = {
    token,
    /** Of each message in turn; the last one stays. */
    messages: ["take"] as Behaviour[],
    uploads: "take" as Behaviour,
    number: { display_phone_number: "+62 812-0000-0001", status: "CONNECTED" } as Record<string, unknown>,
    numberBehaviour: "take" as Behaviour,
  };

  const takeMedia = async (request: IncomingMessage, response: ServerResponse) => {
    const form = await readForm(request);
    if (misbehave(request, response, state.uploads)) return;
    const file = form?.get("file");
    if (
      !(file instanceof File) ||
      form?.get("messaging_product") !== "whatsapp" ||
      file.type !== form.get("type")
    )
      return reject(response, 100);
    // "Images must be 8-bit, RGB or RGBA", and stickers alone are WebP
    // https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#supported-media-types
    const isImage = ["image/jpeg", "image/png"].includes(file.type);
    if ((!isImage && file.type !== "application/pdf") || (isImage && !(await isShown(file))))
      return reject(response, 131053);
    const id = String(1_000_000 + media.size);
    media.set(id, file.type);
    files.push(file);
    send(response, 200, { id });
  };

  const takeMessage = async (request: IncomingMessage, response: ServerResponse) => {
    const posted = Posted.safeParse(JSON.parse((await buffer(request)).toString()));
    const how = (state.messages.length > 1 ? state.messages.shift() : state.messages[0]) ?? "take";
    if (!posted.success) return reject(response, 100);
    const code = findRejection(posted.data, templates, media);
    if (code !== undefined) return reject(response, code);
    const { to: input, biz_opaque_callback_data: id } = posted.data;
    const to = phoneOf(input);
    const wamid = `wamid.${Buffer.from(randomUUID()).toString("base64")}`;
    const arrived = { wamid, id, text: textOf(posted.data), posted: posted.data };
    const isAccepted = how === "take" || "before" in how || ("accepted" in how && how.accepted === true);
    if (isAccepted) phones.set(to, [...(phones.get(to) ?? []), arrived]);
    if (misbehave(request, response, how)) return;
    if (how !== "take" && "before" in how) await how.before(arrived);
    send(response, 200, {
      messaging_product: "whatsapp",
      contacts: [{ input, wa_id: to }],
      messages: [{ id: wamid, message_status: "accepted" }],
    });
  };

  const url = await serve(async (request, response) => {
    const { method, url: path = "", headers } = request;
    requests.push(`${method} ${path}`);
    if (headers.authorization !== `Bearer ${state.token}`) {
      request.resume();
      return reject(response, 190);
    }
    if (method === "POST" && path === `/v23.0/${phoneNumberId}/media`) return takeMedia(request, response);
    if (method === "POST" && path === `/v23.0/${phoneNumberId}/messages`)
      return takeMessage(request, response);
    if (method !== "GET" || !path.startsWith(`/v23.0/${phoneNumberId}?fields=`))
      return reject(response, 100, 404);
    if (!misbehave(request, response, state.numberBehaviour))
      send(response, 200, { ...state.number, id: phoneNumberId });
  });

  return {
    url: `${url}/v23.0`,
    state,
    media,
    /** What was uploaded and taken, in order. */
    files,
    /** Method and path of each request. */
    requests,
    posts: () => requests.filter((line) => line.endsWith("/messages")).length,
    /** What has arrived at a phone. */
    at: (phone: string): readonly Arrived[] => phones.get(phone) ?? [],
  };
};
export type Platform = Awaited<ReturnType<typeof startPlatform>>;
