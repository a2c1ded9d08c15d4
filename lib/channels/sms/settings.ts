import * as z from "zod/mini";
import { httpUrl, textOf } from "#lib/secrets/schemas.ts";

const isPlain = (value: unknown) => typeof value !== "object";

/** Where a value is in an answer or a report: names joined by dots; of a list its index, as in `messages.0.status`. */
const place = () => textOf(200);

/** How a gateway reports what became of a message. */
const reportsSchema = () =>
  z.object({
    /** That it presents: as Bearer token, as password of Basic credentials, or as `token` in the query. */
    token: z.string().check(z.regex(/^\S{32,}$/)),
    /** Where the body has a list of reports, such as `results`; a body that is a list needs no place. */
    list: z.optional(place()),
    /** Of each report: our id, or the gateway's. */
    id: z.optional(place()),
    reference: z.optional(place()),
    state: place(),
    /** By the gateway's word. A word that is absent here, such as one for an intermediate state, is ignored. */
    states: z.record(z.string(), z.enum(["SENT", "DELIVERED", "FAILED"])),
    /** Why it has failed. */
    code: z.optional(place()),
    /** Of what persons send to the number, if the gateway passes it on to the same URL. */
    replies: z.optional(z.object({ phone: place(), text: place() })),
  });

/** An account at an SMS gateway. */
export const smsSchema = () =>
  z
    .object({
      channel: z.literal("sms"),
      url: httpUrl(),
      /** How `fields` are sent: a form or JSON in the body of a POST, or in the query of a GET. */
      format: z.enum(["form", "json", "query"]),
      headers: z._default(z.record(z.string(), z.string()), {}),
      /** The number or the name that recipients see. */
      from: textOf(30),
      /**
       * As the gateway documents them, nested for JSON. In each text `{phone}` (digits with country code), `{text}`, `{id}`,
       * `{from}` and `{alphabet}` are replaced.
       */
      fields: z.record(z.string(), z.json()),
      /** What `{alphabet}` is for a text within GSM 03.38, and for any other. */
      alphabets: z._default(z.object({ gsm: z.string(), ucs2: z.string() }), { gsm: "gsm", ucs2: "ucs2" }),
      /** Where the answer says that the message is accepted; by default with any status of 2xx. */
      accepted: z.optional(z.object({ field: place(), values: z.array(textOf(100)) })),
      /**
       * What another value there, or an HTTP status, means as an HTTP status, where that is not the usual meaning: 401 stops the
       * account, 402 and 429 delay all messages, another 4xx rejects the message, 5xx leaves open whether it was sent.
       */
      statuses: z._default(z.record(z.string(), z.int().check(z.minimum(400), z.maximum(599))), {}),
      /** Where the answer says why the message is rejected; by default the value at `accepted`, or the HTTP status. */
      code: z.optional(place()),
      /** Where the answer has the gateway's own id of the message. */
      reference: z.optional(place()),
      /** The most parts of 153 characters, or of 67 beyond GSM 03.38, that a text may have. */
      max_parts: z._default(z.int().check(z.minimum(1), z.maximum(10)), 4),
      /** Absent where the gateway reports nothing. */
      reports: z.optional(reportsSchema()),
    })
    .check(
      z.refine(({ format, fields }) => format === "json" || Object.values(fields).every(isPlain), {
        path: ["fields"],
        error: "only JSON nests",
      }),
    );
export type SmsSettings = z.infer<ReturnType<typeof smsSchema>>;
