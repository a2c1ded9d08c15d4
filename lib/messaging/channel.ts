import * as z from "zod/mini";
import type { MessageClass, Submission } from "./submission.ts";

/** The platforms that deliver messages, in the order in which a message goes from one to the next. */
export const channelNames = ["whatsapp", "cloud-api", "sms"] as const;
export type ChannelName = (typeof channelNames)[number];

interface ChannelPolicy {
  /** When its delivery is not confirmed this long after it could be sent; then a phone may show it twice. Null: never. */
  readonly unconfirmedSeconds: number | null;
  /** When it has failed, expires soon, or waits for a channel of which no account can send: nothing of it may have left. */
  readonly unsent: boolean;
}

/** When a message of a class goes on to the next channel of its pool. */
export const channelPolicies: Readonly<Record<MessageClass, ChannelPolicy>> = {
  "one-time-code": { unconfirmedSeconds: 8, unsent: true },
  transactional: { unconfirmedSeconds: null, unsent: true },
  reminder: { unconfirmedSeconds: null, unsent: true },
  bulk: { unconfirmedSeconds: null, unsent: false },
};

/** What a message may ask for that not every channel can do. */
export const features = ["media", "view_once", "is_forwarded", "duration_seconds", "reply_to"] as const;
export type Feature = (typeof features)[number];

const missing: Readonly<Record<ChannelName, readonly Feature[]>> = {
  whatsapp: [],
  "cloud-api": ["view_once", "is_forwarded", "duration_seconds", "reply_to"],
  sms: features,
};

/** Lists what a channel leaves out of a message. */
export const listLeftOut = (
  channel: ChannelName,
  message: Pick<Submission, "kind"> & { readonly [F in Exclude<Feature, "media">]?: Submission[F] | null },
): Feature[] =>
  missing[channel].filter((feature) => (feature === "media" ? message.kind !== "text" : message[feature]));

/** The name of an account. */
const accountName = () => z.string().check(z.regex(/^[a-z0-9][a-z0-9-]{0,39}$/));

/** What a platform reports of a message. */
const Report = z.object({
  /** The message's own id, where the platform returns it; else the platform's `reference`. */
  id: z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
  reference: z.optional(z.string().check(z.minLength(1), z.maxLength(255))),
  state: z.enum(["SENT", "DELIVERED", "READ", "FAILED"]),
  /** Of the platform, why it has failed. */
  code: z.optional(z.string().check(z.regex(/^[\w. -]{1,40}$/))),
});
export type Report = z.infer<typeof Report>;

/** What a person has sent to a number of the city: neither stored nor logged. */
const Reply = z.object({
  phone: z.string().check(z.regex(/^[1-9]\d{7,14}$/)),
  /** Absent for anything but text. */
  text: z.optional(z.string().check(z.maxLength(65_536))),
  /** ISO 8601. */
  sent_at: z.string(),
});
export type Reply = z.infer<typeof Reply>;

/** What the webhook of a channel passes on. */
export const ChannelEvents = z.object({
  account: accountName(),
  reports: z.array(Report).check(z.maxLength(1_000)),
  replies: z.array(Reply).check(z.maxLength(1_000)),
});
export type ChannelEvents = z.infer<typeof ChannelEvents>;

export const Applied = z.object({ applied: z.int() });
