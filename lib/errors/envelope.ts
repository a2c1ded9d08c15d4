import * as z from "zod/mini";
import type { ApiError } from "./api-error.ts";

/** The form of errors in one area: the schema for the documents and the body that a caller gets. */
export interface Envelope {
  readonly schema: z.ZodMiniType;
  readonly body: (fault: ApiError, requestId: string) => Record<string, unknown>;
}

const IntegrationError = z.object({
  status: z.literal("error"),
  code: z.string(),
  message: z.string(),
  errors: z.optional(z.array(z.object({ field: z.string(), message: z.string() }))),
  request_id: z.string(),
});

/** Of `/v1/*`, the counterpart of the contract's `status: "success"`. */
export const integrationEnvelope: Envelope = {
  schema: IntegrationError,
  body: ({ code, message, errors }, requestId) => ({
    status: "error",
    code,
    message,
    ...(errors.length > 0 && { errors }),
    request_id: requestId,
  }),
};

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

/** Our codes that RFC 6749 calls differently or does not define. */
const oauthErrors: Readonly<Record<string, string>> = {
  payload_too_large: "invalid_request",
  internal_error: "server_error",
  timeout: "temporarily_unavailable",
};

/**
 * Of the token endpoint: the same, with the fields that OAuth clients expect.
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-5.2
 */
export const oauthEnvelope: Envelope = {
  schema: z.extend(IntegrationError, { error: z.string(), error_description: z.string() }),
  body: (fault, requestId) => ({
    error: oauthErrors[fault.code] ?? fault.code,
    error_description: fault.message.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, "'"),
    ...integrationEnvelope.body(fault, requestId),
  }),
};
