import * as z from "zod/mini";
import { channelNames, features } from "./channel.ts";
import { isWithinReach, QuietHours, readInstant } from "./times.ts";

/*
 * The protocol between the send endpoints and the messenger; both import it.
 *
 *   POST <MESSENGER_URL>/messages        Authorization: Bearer <internal secret>
 *     Content-Type: application/json           the submission, with text or the `url` of the media
 *     Content-Type: application/octet-stream   the bytes of the media; the submission is in the header
 *                                              x-submission, as base64url of its JSON
 *   → 201 Accepted, or Rejected with 400, 403, 409, 413, 422, 429 or 503
 *
 *   POST <MESSENGER_URL>/messages/batch  the same for texts with distinct idempotency_keys
 *     Content-Type: application/json           Batch
 *   → 201 AcceptedBatch, stored in one commit, or Rejected and nothing is stored. A key that is in use yields its
 *     first message, whatever the content.
 *
 *   GET <MESSENGER_URL>/messages/<id>?sender=
 *   → 200 MessageState, or Rejected with 404, also for a message of another sender
 *
 *   GET <MESSENGER_URL>/messages?sender=&state=&since=&after=&limit=
 *   → 200 MessagePage, or Rejected with 400 for an `after` that is not a page's `next` of this sender
 *
 *   DELETE <MESSENGER_URL>/messages/<id>?sender=
 *   → 200 MessageState, or Rejected with 404, or with 409 for a message that does not wait
 *
 *   POST <MESSENGER_URL>/channel-events  ChannelEvents, of channel-events.ts
 *   → 200 Applied: how many of the reports concern a message of the account; what was applied before changes nothing
 */

/** Lower values are sent first. */
export const priorities = { "one-time-code": 0, transactional: 1, reminder: 2, bulk: 3 } as const;
export type MessageClass = keyof typeof priorities;
export const messageClasses = [
  "one-time-code",
  "transactional",
  "reminder",
  "bulk",
] as const satisfies readonly MessageClass[];

export const maxExpirySeconds = 259_200;

export const states = [
  "PENDING",
  "SENDING",
  "SENT",
  "DELIVERED",
  "READ",
  "FAILED",
  "EXPIRED",
  "UNCERTAIN",
  "CANCELLED",
] as const;
export type State = (typeof states)[number];

/** What a message waits for while it is PENDING; if for several of them, the first. */
export const waitReasons = [
  "scheduled",
  "paused",
  "account_not_connected",
  "platform_outage",
  "new_contact_limit",
  "retry",
  "pace",
] as const;
export type WaitReason = (typeof waitReasons)[number];

/** Who sends a message, such as {@link apiSender} or `notification`. */
const sender = () => z.string().check(z.minLength(1), z.maxLength(300));

/** The sender of a user of the messaging API. */
export const apiSender = (username: string): string => `api:${username}`;

export const isApiSender = (sender: string): boolean => sender.startsWith(apiSender(""));

/** The user who is such a sender. */
export const usernameOf = (sender: string): string => sender.slice(apiSender("").length);

/** The pool of accounts of the city's own messages, and of senders without another; the default in the database. */
export const cityPool = "city";

/** Whose messages a request is about. */
export const Owner = z.object({ sender: sender() });

/** ISO 8601 in UTC with milliseconds: one notation for each time, so that a repeated request is the same. */
const instant = z.string().check(z.refine((text) => readInstant(text)?.toISOString() === text));

/** The name of a bulk run. */
export const BulkName = z.string().check(z.regex(/^[a-z0-9-]{1,80}$/));

/** A message to send. The endpoints have validated the caller's input; the messenger validates it again. */
export const Submission = z.object({
  /** Idempotency keys belong to their sender. */
  sender: sender(),
  kind: z.enum(["text", "image", "file"]),
  /** Digits with country code, without suffix. */
  phone: z.string().check(z.regex(/^[1-9]\d{7,14}$/)),
  /** The text, or the caption of an image or a file. */
  text: z.optional(
    z.string().check(
      z.maxLength(65_536),
      // text that PostgreSQL cannot store would fail the whole batch
      z.refine((text) => text.isWellFormed() && !text.includes("\0")),
    ),
  ),
  /** The URL of the media, unless their bytes are in the body. */
  url: z.optional(z.string().check(z.maxLength(2_048))),
  file_name: z.optional(z.string().check(z.maxLength(255))),
  content_type: z.optional(z.string().check(z.maxLength(200))),
  view_once: z._default(z.boolean(), false),
  compress: z._default(z.boolean(), false),
  is_forwarded: z._default(z.boolean(), false),
  /** Until the message disappears from the chat; absent or 0: never. Rounded up to one that phones know. */
  duration_seconds: z.optional(z.int().check(z.minimum(0), z.maximum(31_536_000))),
  reply_to: z.optional(z.string().check(z.maxLength(128))),
  class: z._default(z.enum(messageClasses), "transactional"),
  idempotency_key: z.optional(z.string().check(z.minLength(1), z.maxLength(255))),
  /** Not before this time, ISO 8601 in UTC with milliseconds; a time in the past means now. */
  send_at: z.optional(instant.check(z.refine((at) => isWithinReach(at, 60_000)))),
  /** This long after it was accepted, or after `send_at` if that is later, it is no longer sent; at most 72 hours. */
  expires_in_seconds: z._default(z.int().check(z.minimum(1), z.maximum(maxExpirySeconds)), maxExpirySeconds),
  quiet_hours: z.optional(QuietHours),
  /** Id of the notification run that it belongs to. */
  run: z.optional(z.string().check(z.regex(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/))),
});
export type Submission = z.infer<typeof Submission>;

export const Batch = z.object({
  submissions: z.array(Submission).check(
    z.minLength(1),
    z.maxLength(500),
    z.refine((all) => all.every(({ kind, text }) => kind === "text" && text)),
    // without a key, a retry of the batch would send the message twice
    z.refine((all) => all.every(({ idempotency_key }) => idempotency_key !== undefined)),
    z.refine((all) => new Set(all.map(({ idempotency_key }) => idempotency_key)).size === all.length),
  ),
});

/** The message is stored in the database and will be sent. */
export const Accepted = z.object({
  id: z.string(),
  status: z.enum(states),
  /** ISO 8601 with zone. */
  accepted_at: z.string(),
});
export type Accepted = z.infer<typeof Accepted>;

export const AcceptedBatch = z.object({
  /** In the order of the submissions. */
  ids: z.array(z.string()),
});

export const MessageState = z.object({
  id: z.string(),
  status: z.enum(states),
  /** Why it is FAILED, EXPIRED or UNCERTAIN, or that the phone could not decrypt it. */
  reason: z.optional(z.string()),
  waiting_for: z.optional(z.enum(waitReasons)),
  /** When it is `scheduled`, or tried again at the earliest after a `retry`; ISO 8601 in UTC. */
  not_before: z.optional(z.string()),
  /** Seconds until it disappears from the chat, if a duration was requested; rounded up to one that phones know. */
  duration: z.optional(z.int()),
  /** That has sent it, or is to send it; absent while any of the pool may. */
  account: z.optional(z.string()),
  channel: z.optional(z.enum(channelNames)),
  /** What the channel cannot do of what the message asks for. */
  left_out: z.optional(z.array(z.enum(features))),
  accepted_at: z.string(),
  changed_at: z.string(),
});
export type MessageState = z.infer<typeof MessageState>;

export const maxPageSize = 100;

export const MessagePage = z.object({
  /** In the order of acceptance. */
  messages: z.array(MessageState),
  next: z.nullable(z.string()),
});
export type MessagePage = z.infer<typeof MessagePage>;

/** Recipients of a file; as many are sent in two weeks at the full rate. */
export const maxPlanned = 20_000;

/** Reports of a channel that concern messages of the account. */
export const Applied = z.object({ applied: z.int() });

export const Rejected = z.object({
  code: z.string(),
  message: z.string(),
  retry_after_seconds: z.optional(z.int()),
});
export type Rejected = z.infer<typeof Rejected>;

/** Which of its messages a sender asks for. */
export const MessageQuery = z.object({
  ...Owner.shape,
  state: z.optional(z.enum(states)),
  /** Those accepted at this time or later; ISO 8601 in UTC with milliseconds. */
  since: z.optional(instant),
  /** `next` of the previous page. */
  after: z.optional(z.string().check(z.maxLength(200))),
  limit: z.coerce.number().check(z.int(), z.minimum(1), z.maximum(maxPageSize)),
});
export type MessageQuery = z.infer<typeof MessageQuery>;
