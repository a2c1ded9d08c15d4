import * as z from "zod/mini";
import { priorities } from "#lib/messaging/submission.ts";
import type { Outgoing } from "#lib/messenger/outbox/message.ts";
import { ChannelFailure, type SendOutcome, Unsendable } from "../channel.ts";
import { AccountRejected, type RequestChannel, type RequestChannelOptions } from "../request-link.ts";
import { isAmbiguous, isOfAccount } from "./codes.ts";
import { type Answer, graphClient } from "./graph.ts";
import { codeTemplate, textTemplate } from "./message.ts";
import type { CloudApiSettings } from "./settings.ts";
import { openMedia } from "./upload.ts";

/** The platform answers within seconds; what takes longer is settled by its webhook. */
const defaultTimeoutMs = 15_000;

const PhoneNumber = z.object({ display_phone_number: z.string(), status: z.optional(z.string()) });
const Accepted = z.object({
  messages: z.tuple([z.object({ id: z.string().check(z.minLength(1), z.maxLength(255)) })]),
});

/** States in which a number sends nothing, as codes. What others mean is told by the answer to a message. */
const lostNumbers = new Map([
  ["BANNED", 131031],
  ["DELETED", 33],
  ["DISCONNECTED", 133010],
  ["MIGRATED", 133010],
]);

/** @returns the number's digits. @throws AccountRejected, or an error for later. */
const readNumber = ({ json, code }: Answer): string => {
  const { data } = PhoneNumber.safeParse(json);
  const rejected = code === undefined ? lostNumbers.get(data?.status ?? "") : code;
  if (rejected !== undefined && isOfAccount(rejected)) throw new AccountRejected(rejected);
  const digits = data?.display_phone_number.replace(/\D/g, "");
  if (!digits) throw new Error(`the platform does not name the account's number, code ${code ?? "unknown"}`);
  return digits;
};

/** @throws ChannelFailure for an answer that leaves open what becomes of the message, or is about the account. */
const judge = ({ status, json, code }: Answer): SendOutcome => {
  const accepted = Accepted.safeParse(json);
  if (status === 200 && accepted.success)
    return { outcome: "acked", reference: accepted.data.messages[0].id };
  if (code === undefined || isAmbiguous(status, code)) throw new ChannelFailure("no-answer", true);
  if (isOfAccount(code)) throw new ChannelFailure("not-connected", false);
  return { outcome: "rejected", code: String(code) };
};

const lasting: readonly string[] = ["not-connected", "connection-lost", "no-answer"];

/**
 * The WhatsApp Business Platform. Phones do not drop a second copy of its messages, so each is posted once; its statuses
 * arrive by webhook with our own id, also where the answer to the request was lost.
 *
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages
 */
export const cloudApiChannel = (
  options: RequestChannelOptions<CloudApiSettings>,
  timeoutMs = defaultTimeoutMs,
): RequestChannel => {
  const { sql, link, signal } = options;
  const graph = graphClient(options.connector);

  const getSettings = () =>
    options.findSettings().catch((error: unknown) => {
      throw new ChannelFailure("not-connected", false, error);
    });

  /** Has the account checked after a failure that other messages would have too. */
  const doubting = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      if (error instanceof ChannelFailure && lasting.includes(error.reason)) link.doubt();
      throw error;
    });

  const template = async (settings: CloudApiSettings, message: Outgoing) => {
    const { priority, kind, content } = message;
    if (priority !== priorities["one-time-code"])
      return textTemplate(settings, content.text, await openMedia(sql, graph, settings, message, signal));
    if (kind !== "text") throw new Unsendable("This channel sends a one-time code only as a text");
    return codeTemplate(settings, content.text ?? "");
  };

  const compose = async (message: Outgoing, to: string): Promise<Uint8Array> => {
    const settings = await getSettings();
    const payload = {
      // without the plus the platform may put its own number's country code before it (cloud-api/guides/send-messages)
      ...{ messaging_product: "whatsapp", recipient_type: "individual", to: `+${to}` },
      ...{ type: "template", template: await template(settings, message) },
      biz_opaque_callback_data: message.id,
    };
    return Buffer.from(JSON.stringify(payload));
  };

  const send = async (body: Uint8Array): Promise<SendOutcome> => {
    const settings = await getSettings();
    const answer = await graph(settings, {
      ...{ method: "POST", path: `/${settings.phone_number_id}/messages`, body, timeoutMs, signal },
      headers: { "content-type": "application/json" },
      isUnique: true,
    });
    const outcome = judge(answer);
    link.confirm();
    return outcome;
  };

  return {
    channel: {
      name: "cloud-api",
      canRepeat: false,
      isOpen: () => link.state().kind === "open",
      compose: (message, address) => doubting(compose(message, address)),
      send: (payload) => doubting(send(payload)),
    },
    async check(checking) {
      const settings = await options.findSettings();
      const path = `/${settings.phone_number_id}?fields=display_phone_number,status`;
      return readNumber(await graph(settings, { method: "GET", path, timeoutMs, signal: checking }));
    },
  };
};
