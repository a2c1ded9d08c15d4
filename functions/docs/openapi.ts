import { findAddressed } from "#lib/docs/built.ts";
import { composeReply } from "#lib/docs/page-reply.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { readDocument as route } from "#lib/routes/docs.ts";

/** Returns an OpenAPI document that the build wrote, with the addresses of this stage. */
export const handler = endpoint(route).handler(async ({ query: { api, lang }, headers }) => {
  const document = findAddressed(`${api}.${lang}.json`);
  if (document === undefined) throw new Error("the build has written no document");
  return composeReply(document, headers["accept-encoding"], {
    "content-type": "application/json; charset=utf-8",
  });
});
