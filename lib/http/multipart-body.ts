import type { Middleware } from "./middleware.ts";
import { parseMultipart } from "./multipart.ts";

/**
 * Replaces `event.body` by fields and files in one object, so that one schema validates both and its errors use the
 * caller's names.
 */
const parse: Middleware = {
  before: async ({ event }) => {
    const { fields, files } = await parseMultipart(event);
    Object.assign(event, { body: { ...fields, ...files } });
  },
};

export const multipartBody = [parse];
