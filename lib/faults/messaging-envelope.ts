import * as z from "zod/mini";
import type { Envelope } from "./envelope.ts";

/** The contract's failure object, with the `code` that its file endpoint speaks of. */
const MessagingError = z.object({ status: z.literal(false), code: z.string(), message: z.string() });

/** The messaging API's: all that is wrong in one text, for there is no list of fields. */
export const messagingEnvelope: Envelope = {
  schema: MessagingError,
  body: ({ code, message, errors }) => ({
    status: false,
    code: code === "invalid_request" ? "VALIDATION_ERROR" : code.toUpperCase(),
    message: errors.length > 1 ? errors.map((error) => error.message).join("; ") : message,
  }),
};
