import * as z from "zod/mini";

/*
 * The secret `messenger-channels`: how each account that is reached by requests is called, by the account's name. Schemas are
 * made by functions, so that a bundle contains only those it reads.
 */

const httpUrl = () => z.string().check(z.regex(/^https?:\/\/[^\s]+$/), z.maxLength(2_048));
const text = (max = 2_048) => z.string().check(z.minLength(1), z.maxLength(max));

/** An account of the WhatsApp Business Platform (Cloud API). */
export const cloudApiSchema = () =>
  z.object({
    channel: z.literal("cloud-api"),
    /** Of the Graph API, with its version. */
    url: z._default(httpUrl(), "https://graph.facebook.com/v23.0"),
    phone_number_id: z.string().check(z.regex(/^\d{5,30}$/)),
    /** Of a system user. */
    access_token: text(),
    /** Signs the webhook's requests. */
    app_secret: text(),
    /** Which the platform presents when the webhook is registered. */
    verify_token: text(),
    /** Approved templates, each with one parameter in its body: the text, or of one-time codes the code alone. */
    templates: z.object({
      language: text(20),
      text: text(512),
      code: text(512),
      /** With an image or a document as header. */
      image: z.optional(text(512)),
      file: z.optional(text(512)),
    }),
  });
export type CloudApiSettings = z.infer<ReturnType<typeof cloudApiSchema>>;

/** An account at an SMS gateway. */
export const smsSchema = () =>
  z.object({
    channel: z.literal("sms"),
    url: httpUrl(),
    format: z.enum(["form", "json"]),
    headers: z._default(z.record(z.string(), z.string()), {}),
    /** Of the request's body: `{phone}`, `{text}` and `{id}` are replaced; a dot in a name nests in JSON. */
    fields: z.record(z.string(), z.string()),
    /** Where the answer says that the message is accepted; by default with any status of 2xx. */
    accepted: z.optional(z.object({ field: text(200), values: z.array(text(100)) })),
    /** Where the answer has the gateway's own id of the message. */
    reference: z.optional(text(200)),
    /** The most parts of 153 characters, or of 67 beyond GSM 03.38, that a text may have. */
    max_parts: z._default(z.int().check(z.minimum(1), z.maximum(10)), 4),
    /** How the gateway reports what became of a message. */
    reports: z.object({
      /** That it presents. */
      token: z.string().check(z.minLength(32)),
      /** Which field has our id, or the gateway's. */
      id: z.optional(text(200)),
      reference: z.optional(text(200)),
      state: text(200),
      states: z.record(z.string(), z.enum(["SENT", "DELIVERED", "FAILED"])),
      code: z.optional(text(200)),
    }),
  });
export type SmsSettings = z.infer<ReturnType<typeof smsSchema>>;

export const channelsSchema = () =>
  z.object({
    accounts: z.record(z.string(), z.discriminatedUnion("channel", [cloudApiSchema(), smsSchema()])),
  });
