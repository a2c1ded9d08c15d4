import * as z from "zod/mini";

/*
 * How the send endpoints hand a message over to the session task, and how it answers. Both sides read this.
 *
 *   POST <SESSION_URL>/messages        Authorization: Bearer <internal secret>
 *     Content-Type: application/json           the submission, with text or the `url` of the media
 *     Content-Type: application/octet-stream   the media's bytes; the submission in the header x-submission,
 *                                              as base64url of its JSON
 *   → 201 Accepted, or Refused with 400, 409, 413, 422 or 503
 *
 *   GET <SESSION_URL>/messages/<id>
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
});
export type Submission = z.infer<typeof Submission>;

/** What the task has promised: the message is in its database. */
export const Accepted = z.object({
  id: z.string(),
  status: z.enum(states),
  /** ISO 8601 with zone. */
  accepted_at: z.string(),
});
export type Accepted = z.infer<typeof Accepted>;

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
