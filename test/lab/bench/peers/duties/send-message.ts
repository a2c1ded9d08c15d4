import { hash, timingSafeEqual } from "node:crypto";
import * as z from "zod";
import { type Duty, Problem } from "./duty.ts";
import { readSecret, setting } from "./secret.ts";

const accepted = readSecret(
  "BASIC_SECRET_ID",
  z.object({ credentials: z.array(z.object({ username: z.string(), password: z.string() })).min(1) }),
);
const messenger = readSecret("MESSENGER_TOKEN_SECRET_ID", z.object({ token: z.string().min(32) }));

const phoneError =
  "phone must be a number with country code: 8 to 15 digits without + or leading 0, for example 6281234567890";
const text = (name: string, maxLength: number) => {
  const error = `${name} must be a text of 1 to ${maxLength} characters`;
  return z
    .string({ error })
    .max(maxLength, { error })
    .refine((value) => value.trim() !== "" && value.isWellFormed() && !value.includes("\0"), { error });
};
/** null and blank, which typed clients send for no value, count as absent. */
const optional = <T extends z.ZodType>(field: T) =>
  z.preprocess(
    (value) => (value === null || (typeof value === "string" && value.trim() === "") ? undefined : value),
    field.optional(),
  );

const Message = z.object(
  {
    phone: z
      .string({ error: phoneError })
      .transform((value) => value.replace(/@s\.whatsapp\.net$/i, ""))
      .refine((value) => /^[1-9]\d{7,14}$/.test(value), { error: phoneError }),
    message: text("message", 65_536),
    reply_message_id: optional(text("reply_message_id", 128)),
    is_forwarded: optional(z.boolean({ error: "is_forwarded must be true or false" })),
    duration: optional(z.int().min(0).max(31_536_000)),
  },
  { error: 'The body must be a JSON object: {"phone": "6281234567890", "message": "…"}' },
);

const Accepted = z.object({ id: z.string() });
const Rejected = z.object({
  code: z.string(),
  message: z.string(),
  retry_after_seconds: z.int().optional(),
});

const digest = (value: string) => hash("sha256", value, "buffer");

/** Returns the username of valid Basic credentials. @throws Problem 401 */
const authenticate = async (header: (name: string) => string | undefined): Promise<string> => {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header("authorization") ?? "")?.[1] ?? "";
  const presented = digest(Buffer.from(encoded, "base64").toString().normalize("NFC"));
  const [found] = (await accepted).credentials.filter(({ username, password }) =>
    timingSafeEqual(digest(`${username}:${password}`.normalize("NFC")), presented),
  );
  if (!found) throw new Problem(401, "unauthorized", "The credentials are missing or wrong");
  return found.username;
};

/** Hands a text to the messenger, which has stored it when it answers. */
export const duty: Duty<z.infer<typeof Message>, string> = {
  name: "messaging/send-message",
  method: "POST",
  path: "/send/message",
  maxBodyBytes: 6 * 65_536 + 8 * 1024,
  body: Message,
  authenticate,
  describe: ({ code, message }) => ({ status: false, code: code.toUpperCase(), message }),
  async answer({ body, caller, idempotencyKey, requestId }) {
    const unknown = new Problem(503, "outcome_unknown", "It is not known whether the message was accepted");
    const response = await fetch(`${setting("MESSENGER_URL")}/messages`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${(await messenger).token}`,
        "content-type": "application/json",
        "x-request-id": requestId,
      },
      body: JSON.stringify({
        sender: `api:${caller}`,
        kind: "text",
        phone: body.phone,
        text: body.message,
        reply_to: body.reply_message_id,
        is_forwarded: body.is_forwarded,
        duration_seconds: body.duration,
        idempotency_key: idempotencyKey,
      }),
      signal: AbortSignal.timeout(8_000),
    }).catch(() => {
      throw unknown;
    });
    const answer: unknown = await response.json().catch(() => undefined);
    const rejected = Rejected.safeParse(answer);
    if (response.status >= 400 && response.status !== 500 && rejected.success) {
      const { code, message, retry_after_seconds: retryAfterSeconds } = rejected.data;
      throw new Problem(response.status, code, message, { ...(retryAfterSeconds && { retryAfterSeconds }) });
    }
    const stored = Accepted.safeParse(answer);
    if (response.status !== 201 || !stored.success) throw unknown;
    const { id } = stored.data;
    return { status: true, data: { id, status: "PENDING", message: "The message is queued for sending" } };
  },
};
