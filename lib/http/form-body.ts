import { badRequest, repeatedField } from "#lib/faults/invalid-input.ts";
import type { Middleware } from "./middleware.ts";

/** Of a name that is quoted in an error. */
const maxNameLength = 64;

const mediaType = "application/x-www-form-urlencoded";

/**
 * Replaces `event.body` by the fields of a form. A field without a value counts as absent, and one that is
 * sent twice is refused (RFC 6749, 3.2).
 */
const parse: Middleware = {
  before: ({ event }) => {
    const { body, headers, isBase64Encoded } = event;
    const text = Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8").toString();
    const sent = headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
    if (text.trim() !== "" && sent !== mediaType)
      throw badRequest(`The Content-Type must be ${mediaType}; with curl: --data-urlencode 'name=value'`);
    const fields = [...new URLSearchParams(text)].filter(([, value]) => value !== "");
    const seen = new Set<string>();
    const repeated = fields.find(([name]) => seen.size === seen.add(name).size)?.[0].slice(0, maxNameLength);
    if (repeated !== undefined) throw repeatedField(repeated);
    Object.assign(event, { body: Object.fromEntries(fields) });
  },
};

/** Reads a form. Wants header names in lower case. */
export const formBody = [parse];
