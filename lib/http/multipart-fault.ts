import { Fault, invalidRequest } from "./fault.ts";

/** 400 for a body that breaks, or says two things at once. */
export const malformed = (message: string, options?: ErrorOptions) =>
  new Fault(400, "VALIDATION_ERROR", message, options);

/** 400 for one field of a body that is sound in itself. */
export const invalidField = (field: string, message: string) =>
  invalidRequest([{ field, message }], "VALIDATION_ERROR");

/** 413 that names the limit and the way round it. */
export const tooLarge = (message: string) => new Fault(413, "PAYLOAD_TOO_LARGE", message);

/** 500 and these words by contract, although the mistake is the caller's. */
export const badBoundary = () =>
  new Fault(500, "BAD_BOUNDARY", "request Content-Type has bad boundary or is not multipart/form-data");
