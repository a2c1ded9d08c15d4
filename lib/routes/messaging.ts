// wire → code: message, caption → text; image_url, file_url → url; duration → duration_seconds; reply_message_id → reply_to
import * as z from "zod/mini";
import { messagingEnvelope } from "#lib/errors/envelope.ts";
import { findImageHeader, isWebp } from "#lib/messaging/image-type.ts";
import {
  MessageState,
  maxExpirySeconds,
  maxPageSize,
  messageClasses,
  states,
} from "#lib/messaging/submission.ts";
import { isWithinReach } from "#lib/messaging/times.ts";
import {
  duration,
  flag,
  flagError,
  instant,
  oneSource,
  optional,
  phone,
  text,
  upload,
  url,
  writtenDuration,
} from "./messaging-fields.ts";
import { route } from "./route.ts";

/** WhatsApp's limits for a text and for a caption. */
const maxMessageLength = 65_536;
/** A text of that length with every character escaped as \uXXXX, as Python does, plus the other fields. */
const maxMessageBytes = 6 * maxMessageLength + 8 * 1024;
const maxCaptionLength = 1_024;

const replyMessageId = text("reply_message_id", 128);

const TextMessage = z.object(
  {
    phone,
    message: text("message", maxMessageLength),
    reply_message_id: optional(replyMessageId),
    is_forwarded: optional(z.boolean({ error: flagError("is_forwarded") })),
    duration: optional(duration),
  },
  { error: 'The body must be a JSON object: {"phone": "6281234567890", "message": "…"}' },
);

const formError = "The body must be a form";

const ImageForm = z
  .object(
    {
      phone,
      image: z.optional(
        upload("image", "image_url").check(
          z.refine(({ content }) => findImageHeader(content) !== undefined, {
            error: ({ input }) =>
              isWebp((input as { content: Buffer }).content)
                ? "image is a WebP file; convert it to JPG or PNG, or send its URL in image_url, which converts it"
                : "image must be a JPG or PNG file by its content, not only by its name",
          }),
        ),
      ),
      image_url: z.optional(url("image_url")),
      caption: z.optional(text("caption", maxCaptionLength)),
      view_once: flag("view_once"),
      compress: flag("compress"),
      duration: writtenDuration,
      is_forwarded: flag("is_forwarded"),
    },
    { error: formError },
  )
  .check(oneSource("image", "image_url"));

const FileForm = z
  .object(
    {
      phone,
      file: z.optional(
        upload("file", "file_url").check(
          z.refine(({ content }) => content.length > 0, { error: "file is empty" }),
        ),
      ),
      file_url: z.optional(url("file_url")),
      caption: z.optional(text("caption", maxCaptionLength)),
      reply_message_id: z.optional(replyMessageId),
      is_forwarded: flag("is_forwarded"),
      duration: writtenDuration,
    },
    { error: formError },
  )
  .check(oneSource("file", "file_url"));

const keyError = "Idempotency-Key must be sent once, with 1 to 255 visible ASCII characters";
const classError = `X-Class must be sent once, as one of ${messageClasses.join(", ")}`;
const expiresInError = `X-Expires-In must be sent once, as a whole number of seconds from 1 to ${maxExpirySeconds}`;
const sendAtError =
  "X-Send-At must be sent once, as a time with its offset that exists, such as 2026-05-01T08:00:00+07:00, at most 30 days ahead";
const codeExpirySeconds = 300;

/** Headers of a send, as the fields of a submission. */
const SendHeaders = z.pipe(
  z.object({
    "idempotency-key": z.optional(
      z.string({ error: keyError }).check(z.regex(/^[!-~]{1,255}$/, { error: keyError })),
    ),
    "x-class": z.optional(z.enum(messageClasses, { error: classError })),
    "x-expires-in": z.optional(
      z.string({ error: expiresInError }).check(
        z.regex(/^[1-9]\d{0,5}$/, { error: expiresInError }),
        z.refine((value) => Number(value) <= maxExpirySeconds, { error: expiresInError }),
      ),
    ),
    "x-send-at": z.optional(
      instant(sendAtError).check(z.refine((at) => isWithinReach(at), { error: sendAtError })),
    ),
  }),
  z.transform((headers) => {
    const {
      "x-class": messageClass,
      "x-expires-in": expiresIn = messageClass === "one-time-code" ? codeExpirySeconds : undefined,
    } = headers;
    return {
      idempotency_key: headers["idempotency-key"],
      class: messageClass,
      expires_in_seconds: expiresIn === undefined ? undefined : Number(expiresIn),
      send_at: headers["x-send-at"],
    };
  }),
);

const stateError = `state must be one of ${states.join(", ")}`;
const sinceError = "since must be a time with its offset that exists, such as 2026-05-01T08:00:00Z";
const afterError = "after must be next of the previous page, unchanged";
const limitError = `limit must be a whole number from 1 to ${maxPageSize}`;

const ListQuery = z.object({
  state: z.optional(z.enum(states, { error: stateError })),
  since: z.optional(instant(sinceError)),
  after: z.optional(z.string().check(z.regex(/^[\w-]{1,200}$/, { error: afterError }))),
  limit: z._default(
    z.pipe(
      z.string({ error: limitError }).check(
        z.regex(/^[1-9]\d{0,2}$/, { error: limitError }),
        z.refine((value) => Number(value) <= maxPageSize, { error: limitError }),
      ),
      z.transform(Number),
    ),
    50,
  ),
});

const Queued = z.object({
  status: z.literal(true),
  data: z.object({ id: z.string(), status: z.literal("PENDING"), message: z.string() }),
});

const FileQueued = z.object({
  code: z.literal("SUCCESS"),
  message: z.string(),
  results: z.object({ message_id: z.string(), status: z.string() }),
});

const idError = "id must be a message id, as returned when the message was sent";
const MessageId = z.object({
  id: z.string({ error: idError }).check(z.regex(/^[\w.-]{1,64}$/, { error: idError })),
});
const MessageStatus = z.object({ status: z.literal(true), data: MessageState });
const MessageList = z.object({
  status: z.literal(true),
  data: z.array(MessageState),
  next: z.nullable(z.string()),
});

const auth = { kind: "basic" } as const;
const secrets = { MESSENGER_TOKEN_SECRET_ID: "messenger-token" } as const;
const upstreams = ["MESSENGER_URL"] as const;
const failures = [
  "classNotAllowed",
  "keyInUse",
  "optedOut",
  "keyReused",
  "dailyQuotaReached",
  "tooManyWaiting",
  "notAccepted",
  "overloaded",
  "outcomeUnknown",
] as const;
/** The messenger has 8 s to respond (lib/messaging/messenger-client.ts). */
const defaultTimeoutSeconds = 12;
/** The messenger has 25 s to download a URL; the gateway times out after 29 s. */
const downloadTimeoutSeconds = 28;
const memoryMb = 512;

export const sendMessage = /* @__PURE__ */ route({
  method: "POST",
  fn: "messaging/send-message",
  path: "/send/message",
  summary: "Sends a text message",
  auth,
  headers: SendHeaders,
  maxBodyBytes: maxMessageBytes,
  body: TextMessage,
  reply: Queued,
  errors: messagingEnvelope,
  failures,
  secrets,
  upstreams,
  timeoutSeconds: defaultTimeoutSeconds,
  memoryMb,
});

export const sendImage = /* @__PURE__ */ route({
  method: "POST",
  fn: "messaging/send-image",
  path: "/send/image",
  summary: "Sends an image, uploaded or from a URL",
  auth,
  headers: SendHeaders,
  body: ImageForm,
  encoding: "multipart",
  reply: Queued,
  errors: messagingEnvelope,
  failures,
  secrets,
  upstreams,
  timeoutSeconds: downloadTimeoutSeconds,
  memoryMb,
});

export const sendFile = /* @__PURE__ */ route({
  method: "POST",
  fn: "messaging/send-file",
  path: "/send/file",
  summary: "Sends a file, uploaded or from a URL",
  auth,
  headers: SendHeaders,
  body: FileForm,
  encoding: "multipart",
  reply: FileQueued,
  errors: messagingEnvelope,
  failures,
  secrets,
  upstreams,
  timeoutSeconds: downloadTimeoutSeconds,
  memoryMb,
});

export const readMessage = /* @__PURE__ */ route({
  method: "GET",
  fn: "messaging/message-status",
  path: "/messages/{id}",
  summary: "Returns the state of a message",
  auth,
  params: MessageId,
  reply: MessageStatus,
  errors: messagingEnvelope,
  failures: ["messageNotFound", "messengerAway"],
  secrets,
  upstreams,
  timeoutSeconds: defaultTimeoutSeconds,
  memoryMb,
});

export const listMessages = /* @__PURE__ */ route({
  method: "GET",
  fn: "messaging/list-messages",
  path: "/messages",
  summary: "Lists your messages",
  auth,
  query: ListQuery,
  reply: MessageList,
  errors: messagingEnvelope,
  failures: ["messengerAway"],
  secrets,
  upstreams,
  timeoutSeconds: defaultTimeoutSeconds,
  memoryMb,
});

export const cancelMessage = /* @__PURE__ */ route({
  method: "DELETE",
  fn: "messaging/cancel-message",
  path: "/messages/{id}",
  summary: "Cancels a message that waits",
  auth,
  params: MessageId,
  reply: MessageStatus,
  errors: messagingEnvelope,
  failures: ["messageNotFound", "notWaiting", "messengerAway"],
  secrets,
  upstreams,
  timeoutSeconds: defaultTimeoutSeconds,
  memoryMb,
});
