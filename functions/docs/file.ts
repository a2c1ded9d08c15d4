import { findAsset } from "#lib/docs/asset-reply.ts";
import { findPage, redirectTo } from "#lib/docs/page-reply.ts";
import { ApiError } from "#lib/errors/api-error.ts";
import { noGuide } from "#lib/errors/table.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { readFile as route } from "#lib/routes/docs.ts";

/** Returns a page or a file of the documentation; people get a page about a missing one, in their language. */
export const handler = endpoint(route).handler(
  async ({ params: { path }, query: { lang }, headers, path: sent }) => {
    // the search's index names files
    const [, name] = /^(.+)\.html$/.exec(path) ?? [];
    if (name) return redirectTo(name === "index" ? "/docs" : `/docs/${name}`);
    const { accept, "accept-encoding": coding } = headers;
    const found = path.includes(".") ? findAsset(path, coding) : findPage(path, coding);
    if (found && lang === "id" && !/^id(\/|$)/.test(path)) return redirectTo(`/docs/id/${path}`);
    if (found) return found;
    const missing = accept.includes("text/html")
      ? findPage(sent.includes("/docs/id/") ? "id/404" : "404", coding, 404)
      : undefined;
    if (missing) return missing;
    throw new ApiError(noGuide);
  },
);
