import { findBuilt } from "#lib/docs/built.ts";
import { pageReply } from "#lib/docs/page-reply.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { readPage as route } from "#lib/routes/docs.ts";

/** Returns the reference page, whose script loads the OpenAPI document. */
export const handler = endpoint(route).handler(async ({ query: { lang }, path }) => {
  const html = findBuilt(`index.${lang}.html`);
  if (html === undefined) throw new Error("the build has written no page");
  return pageReply(html, path, lang);
});
