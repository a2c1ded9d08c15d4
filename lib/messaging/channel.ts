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

interface ChannelTraits {
  /** A phone is linked, and the platform knows nothing of a program: the pace must be that of a person. */
  readonly isLinked: boolean;
  /** Recipients see a number of the city; else a name, which several accounts may share. */
  readonly hasNumber: boolean;
  readonly lacks: readonly Feature[];
}

export const channels: Readonly<Record<ChannelName, ChannelTraits>> = {
  whatsapp: { isLinked: true, hasNumber: true, lacks: [] },
  "cloud-api": {
    isLinked: false,
    hasNumber: true,
    lacks: ["view_once", "is_forwarded", "duration_seconds", "reply_to"],
  },
  sms: { isLinked: false, hasNumber: false, lacks: features },
};

/** Lists what a channel leaves out of a message. */
export const listLeftOut = (
  channel: ChannelName,
  message: Pick<Submission, "kind"> & { readonly [F in Exclude<Feature, "media">]?: Submission[F] | null },
): Feature[] =>
  channels[channel].lacks.filter((feature) =>
    feature === "media" ? message.kind !== "text" : message[feature],
  );
