import * as z from "zod/mini";
import type { Fault } from "./fault.ts";

/** The form of errors in one area: the schema for the documents and the body that a caller gets. */
export interface Envelope {
  readonly schema: z.ZodMiniType;
  readonly body: (fault: Fault, requestId: string) => Record<string, unknown>;
}

export const IntegrationError = z.object({
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
