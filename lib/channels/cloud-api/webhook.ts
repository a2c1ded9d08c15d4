import { createHmac } from "node:crypto";
import * as z from "zod/mini";
import { ApiError } from "#lib/errors/api-error.ts";
import { badRequest } from "#lib/errors/invalid-input.ts";
import { wrongSignature } from "#lib/errors/table.ts";
import type { ChannelEvents, Reply, Report } from "#lib/messaging/channel-events.ts";
import { isSameText } from "#lib/opaque-token.ts";
import type { CloudApiAccount } from "../accounts.ts";

/*
 * What the WhatsApp Business Platform posts. Whatever is not of these shapes is left out.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/create-webhook-endpoint
 */

const list = () => z.catch(z.array(z.unknown()), []);
const Body = z.object({ entry: list() });
const Entry = z.object({ changes: list() });
const Change = z.object({
  field: z.literal("messages"),
  value: z.object({
    metadata: z.object({ phone_number_id: z.string() }),
    statuses: list(),
    messages: list(),
  }),
});
type Change = z.infer<typeof Change>["value"];

/**
 * Of the person, where the platform names it. It comes without the number when the person has a username.
 * https://docs.360dialog.com/docs/resources/phone-numbers/usernames-and-bsuid
 */
const userId = () => z.catch(z.optional(z.string().check(z.regex(/^[\w.]{1,140}$/))), undefined);

/** A status `played` is that of a voice message. */
const states = { sent: "SENT", delivered: "DELIVERED", read: "READ", failed: "FAILED" } as const;

const Status = z.object({
  id: z.string().check(z.minLength(1), z.maxLength(255)),
  status: z.enum(["sent", "delivered", "read", "failed"]),
  /** Another program may send through the number too, with data of its own. */
  biz_opaque_callback_data: z.catch(
    z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
    undefined,
  ),
  errors: z.catch(z.array(z.object({ code: z.int() })), []),
  recipient_user_id: userId(),
});

const text = () => z.string().check(z.maxLength(65_536));
/** Without a number the messenger looks for it by the user id, or by the message that is replied to. What is written in a group is left out. */
const Message = z.object({
  group_id: z.optional(z.never()),
  from: z.optional(z.string().check(z.regex(/^[1-9]\d{7,14}$/))),
  from_user_id: userId(),
  context: z.catch(
    z.optional(z.object({ id: z.string().check(z.minLength(1), z.maxLength(255)) })),
    undefined,
  ),
  /** Unix time in seconds. */
  timestamp: z.string().check(z.regex(/^\d{1,10}$/)),
  text: z.optional(z.object({ body: text() })),
  /** Of a template. */
  button: z.optional(z.object({ text: text() })),
  interactive: z.optional(
    z.object({
      button_reply: z.optional(z.object({ title: text() })),
      list_reply: z.optional(z.object({ title: text() })),
    }),
  ),
});

const textOf = ({
  text,
  button,
  interactive,
}: Pick<z.infer<typeof Message>, "text" | "button" | "interactive">) =>
  text?.body ?? button?.text ?? interactive?.button_reply?.title ?? interactive?.list_reply?.title;

/** Those of the items that have a shape. */
const those = <T>(items: readonly unknown[], schema: z.ZodMiniType<T>): T[] =>
  items.flatMap((item) => {
    const { success, data } = schema.safeParse(item);
    return success ? [data] : [];
  });

const reportOf = ({
  id,
  status,
  biz_opaque_callback_data,
  errors,
  recipient_user_id,
}: z.infer<typeof Status>): Report => ({
  id: biz_opaque_callback_data,
  reference: id,
  state: states[status],
  code: errors[0] && String(errors[0].code),
  user: recipient_user_id,
});

const replyOf = ({ from, from_user_id, context, timestamp, ...content }: z.infer<typeof Message>): Reply => ({
  phone: from,
  user: from_user_id,
  reference: context?.id,
  text: textOf(content),
  sent_at: new Date(Number(timestamp) * 1_000).toISOString(),
});

const readChanges = (body: Buffer): Change[] => {
  const parse = () => {
    try {
      return Body.parse(JSON.parse(body.toString()));
    } catch {
      // its message may contain a part of the body
      throw badRequest("The body is not a notification");
    }
  };
  const changes = those(parse().entry, Entry).flatMap(({ changes }) => those(changes, Change));
  return changes.map(({ value }) => value);
};

/** Which app has signed the body. @throws ApiError 401 unless one of the accounts' apps has. */
const getSigner = (body: Buffer, signature: string, accounts: readonly CloudApiAccount[]): string => {
  const secrets = [...new Set(accounts.map(({ app_secret }) => app_secret))];
  const signs = (secret: string) =>
    isSameText(signature, `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`);
  const signer = secrets.find(signs);
  if (signer === undefined) throw new ApiError(wrongSignature);
  return signer;
};

/** Of the messenger's endpoint for events. */
const maxOfEach = 1_000;

const chunk = (account: string, reports: readonly Report[], replies: readonly Reply[]): ChannelEvents[] => {
  const count = Math.ceil(Math.max(reports.length, replies.length) / maxOfEach);
  return Array.from({ length: count }, (_, index) => {
    const range = [index * maxOfEach, (index + 1) * maxOfEach] as const;
    return { account, reports: reports.slice(...range), replies: replies.slice(...range) };
  });
};

/**
 * Reads a notification: the events of each account, in their order. What it says of numbers that are no account's is left
 * out.
 *
 * @param body as it was received: the signature is that of its bytes.
 * @throws ApiError 401 unless the app of each account that it is about has signed it, 400 for no JSON.
 */
export const readNotification = (
  body: Buffer,
  signature: string,
  accounts: readonly CloudApiAccount[],
): ChannelEvents[] => {
  const signer = getSigner(body, signature, accounts);
  const changes = readChanges(body);
  return accounts.flatMap(({ name, app_secret, phone_number_id }) => {
    const own = changes.filter(({ metadata }) => metadata.phone_number_id === phone_number_id);
    if (own.length > 0 && app_secret !== signer) throw new ApiError(wrongSignature);
    const reports = own.flatMap(({ statuses }) => those(statuses, Status).map(reportOf));
    const replies = own.flatMap(({ messages }) => those(messages, Message).map(replyOf));
    return chunk(name, reports, replies);
  });
};
