import { redirectTo } from "#lib/docs/page-reply.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { readRoot as route } from "#lib/routes/docs.ts";

/** Leads from the API's address to the documentation. */
export const handler = endpoint(route).handler(async () => redirectTo("/docs"));
