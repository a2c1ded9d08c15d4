import * as z from "zod/mini";
import { QuietHours } from "./quiet-hours.ts";

/*
 * How the send endpoints hand a message over to the messenger, and how it answers. Both sides read this.
 *
 *   POST <MESSENGER_URL>/messages        Authorization: Bearer <internal secret>
 *     Content-Type: application/json           the submission, with text or the `url` of the media
 *     Content-Type: application/octet-stream   the media's bytes; the submission in the header x-submission,
 *                                              as base64url of its JSON
 *   → 201 Accepted, or Refused with 400, 409, 413, 422 or 503
 *
 *   POST <MESSENGER_URL>/messages/batch  the same, for texts that each have an idempotency_key of their own
 *     Content-Type: application/json           Batch
 *   → 201 AcceptedBatch, all in one commit, or Refused and none. A key that is known answers with its first
 *     message, whatever it says now.
 *
 *   GET <MESSENGER_URL>/messages/<id>
 *   → 200 MessageState, or Refused with 404
 */

/** Lower goes first. */
export const priorities = { otp: 0, transactional: 1, reminder: 2, bulk: 3 } as const;
export type MessageClass = keyof typeof priorities;

const states = [
  ...(["PENDING", "SENDING", "SENT", "DELIVERED", "READ"] as const),
  ...(["FAILED", "EXPIRED", "UNCERTAIN"] as const),
] as const;
export type State = (typeof states)[number];

/** A message to be sent. The endpoints have checked the caller's input; this is checked again at the task. */
export const Submission = z.object({
  kind: z.enum(["text", "image", "file"]),
  /** Digits with country code, without suffix. */
  phone: z.string().check(z.regex(/^[1-9]\d{7,14}$/)),
  /** The text, or the caption of an image or a file. */
  text: z.optional(
    z.string().check(
      z.maxLength(65_536),
      // what the database cannot hold would fail those that are stored with it
      z.refine((text) => text.isWellFormed() && !text.includes("\0")),
    ),
  ),
  /** Where the media is to be downloaded from, when its bytes do not come along. */
  url: z.optional(z.string().check(z.maxLength(2_048))),
  file_name: z.optional(z.string().check(z.maxLength(200))),
  content_type: z.optional(z.string().check(z.maxLength(200))),
  view_once: z._default(z.boolean(), false),
  compress: z._default(z.boolean(), false),
  is_forwarded: z._default(z.boolean(), false),
  /** Until the message disappears from the chat; absent or 0: never. */
  duration_seconds: z.optional(z.int().check(z.minimum(0), z.maximum(31_536_000))),
  /** Id of the message that this one answers. */
  reply_to: z.optional(z.string().check(z.maxLength(128))),
  class: z._default(z.enum(["otp", "transactional", "reminder", "bulk"]), "transactional"),
  idempotency_key: z.optional(z.string().check(z.minLength(1), z.maxLength(255))),
  /** After this time it is not sent any more; 72 hours at most. */
  expires_in_seconds: z._default(z.int().check(z.minimum(1), z.maximum(259_200)), 259_200),
  /** When it waits. */
  quiet_hours: z.optional(QuietHours),
  /** The run of a notification job that it belongs to. */
  run: z.optional(z.string().check(z.regex(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/))),
});
export type Submission = z.infer<typeof Submission>;

/** Texts that are handed over together. */
export const Batch = z.object({
  submissions: z.array(Submission).check(
    z.minLength(1),
    z.maxLength(500),
    z.refine((all) => all.every(({ kind, text }) => kind === "text" && text)),
    // one without a key would be taken again with a batch that is repeated
    z.refine((all) => all.every(({ idempotency_key }) => idempotency_key !== undefined)),
    z.refine((all) => new Set(all.map(({ idempotency_key }) => idempotency_key)).size === all.length),
  ),
});

/** What the task has promised: the message is in its database. */
export const Accepted = z.object({
  id: z.string(),
  status: z.enum(states),
  /** ISO 8601 with zone. */
  accepted_at: z.string(),
});
export type Accepted = z.infer<typeof Accepted>;

export const AcceptedBatch = z.object({
  /** In the order in which the messages were given. */
  ids: z.array(z.string()),
});

export const MessageState = z.object({
  id: z.string(),
  status: z.enum(states),
  /** Why it FAILED, EXPIRED or is UNCERTAIN. */
  reason: z.optional(z.string()),
  accepted_at: z.string(),
  changed_at: z.string(),
});
export type MessageState = z.infer<typeof MessageState>;

export const Refused = z.object({
  code: z.string(),
  message: z.string(),
  retry_after_seconds: z.optional(z.int()),
});
export type Refused = z.infer<typeof Refused>;
