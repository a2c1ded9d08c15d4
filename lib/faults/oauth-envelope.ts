import * as z from "zod/mini";
import { type Envelope, IntegrationError, integrationEnvelope } from "./envelope.ts";

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
