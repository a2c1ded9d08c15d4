import type { Middleware } from "./middleware.ts";
import { parseMultipart } from "./multipart.ts";

/**
 * Replaces `event.body` by the form, fields and files side by side: a name is one or the other, so a schema
 * says which it wants, and its errors bear the name that the caller wrote.
 */
const parse: Middleware = {
  before: async ({ event }) => {
    const { fields, files } = await parseMultipart(event);
    Object.assign(event, { body: { ...fields, ...files } });
  },
};

/** Reads a form with files. Wants header names in lower case. */
export const multipartBody = [parse];
