import * as z from "zod/mini";

/** The name of an account. */
const accountName = () => z.string().check(z.regex(/^[a-z0-9][a-z0-9-]{0,39}$/));

/** With which a platform names a person, with or without the number. */
const userId = () => z.optional(z.string().check(z.minLength(1), z.maxLength(140)));

/** What a platform reports of a message. */
const Report = z.object({
  /** The message's own id, where the platform returns it; else the platform's `reference`. */
  id: z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
  reference: z.optional(z.string().check(z.minLength(1), z.maxLength(255))),
  state: z.enum(["SENT", "DELIVERED", "READ", "FAILED"]),
  /** Of the platform, why it has failed. */
  code: z.optional(z.string().check(z.regex(/^[\w. -]{1,40}$/))),
  /** The recipient. */
  user: userId(),
});
export type Report = z.infer<typeof Report>;

/** What a person has sent to a number of the city: neither stored nor logged. */
const Reply = z.object({
  /** Absent if the platform hides it. */
  phone: z.optional(z.string().check(z.regex(/^[1-9]\d{7,14}$/))),
  user: userId(),
  /** The platform's id of the message that it replies to. */
  reference: z.optional(z.string().check(z.minLength(1), z.maxLength(255))),
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
