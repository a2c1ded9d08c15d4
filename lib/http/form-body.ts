import { badRequest, repeatedField } from "#lib/faults/invalid-input.ts";
import type { Middleware } from "./middleware.ts";

/** Longer names are truncated in error messages. */
const maxNameLength = 64;

const mediaType = "application/x-www-form-urlencoded";

/**
 * Replaces `event.body` by the fields of a form. A blank field counts as absent; a repeated one is rejected
 * (RFC 6749, 3.2).
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

/** Parses a form. Requires lower-case header names. */
export const formBody = [parse];
