import * as z from "zod/mini";
import type { Envelope } from "./envelope.ts";

/** The contract's failure object, with the `code` of its file endpoint. */
const MessagingError = z.object({ status: z.literal(false), code: z.string(), message: z.string() });

/** Of the messaging API: one message for all invalid fields, because the object has no list. */
export const messagingEnvelope: Envelope = {
  schema: MessagingError,
  body: ({ code, message, errors }) => ({
    status: false,
    code: code === "invalid_request" ? "VALIDATION_ERROR" : code.toUpperCase(),
    message: errors.length > 1 ? errors.map((error) => error.message).join("; ") : message,
  }),
};
