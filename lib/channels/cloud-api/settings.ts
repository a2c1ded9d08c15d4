import * as z from "zod/mini";
import { httpUrl, textOf } from "#lib/secrets/schemas.ts";

/** An account of the WhatsApp Business Platform (Cloud API). */
export const cloudApiSchema = () =>
  z.object({
    channel: z.literal("cloud-api"),
    /** Of the Graph API, with its version. */
    url: z._default(httpUrl(), "https://graph.facebook.com/v23.0"),
    phone_number_id: z.string().check(z.regex(/^\d{5,30}$/)),
    /** Of a system user. */
    access_token: textOf(),
    /** Signs the webhook's requests. */
    app_secret: textOf(),
    /** Which the platform presents when the webhook is registered. */
    verify_token: textOf(),
    /** Approved templates, each with one parameter in its body: the text, or of one-time codes the code alone. */
    templates: z.object({
      language: textOf(20),
      text: textOf(512),
      code: textOf(512),
      /** With an image or a document as header. */
      image: z.optional(textOf(512)),
      file: z.optional(textOf(512)),
    }),
  });
export type CloudApiSettings = z.infer<ReturnType<typeof cloudApiSchema>>;
