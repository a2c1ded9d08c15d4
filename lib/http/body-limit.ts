import { Fault } from "#lib/faults/fault.ts";
import { bodyTooLarge } from "#lib/faults/table.ts";
import type { Middleware } from "./middleware.ts";

/** Largest JSON body or form unless the route says otherwise: a search is under 1 KB. */
export const defaultMaxBytes = 64 * 1024;

/** Refuses a body over the limit unread. */
export const bodyLimit = (maxBytes = defaultMaxBytes): Middleware => ({
  before: ({ event: { body, isBase64Encoded } }) => {
    if (body && Buffer.byteLength(body, isBase64Encoded ? "base64" : "utf8") > maxBytes)
      throw new Fault(bodyTooLarge(maxBytes));
  },
});
