import { Fault } from "#lib/faults/fault.ts";
import { bodyTooLarge } from "#lib/faults/table.ts";
import type { Middleware } from "./middleware.ts";

/** Limit of JSON and form bodies, unless the route sets another: a search is under 1 KB. */
export const defaultMaxBytes = 64 * 1024;

/** Rejects a body over the limit before it is parsed. */
export const bodyLimit = (maxBytes = defaultMaxBytes): Middleware => ({
  before: ({ event: { body, isBase64Encoded } }) => {
    if (body && Buffer.byteLength(body, isBase64Encoded ? "base64" : "utf8") > maxBytes)
      throw new Fault(bodyTooLarge(maxBytes));
  },
});
