import { findPage, redirectTo } from "#lib/docs/page-reply.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { readPage as route } from "#lib/routes/docs.ts";

/** Returns the first page of the documentation. */
export const handler = endpoint(route).handler(async ({ query: { lang }, headers }) => {
  if (lang === "id") return redirectTo("/docs/id");
  const page = findPage("index", headers["accept-encoding"]);
  if (page === undefined) throw new Error("the build has written no page");
  return page;
});
