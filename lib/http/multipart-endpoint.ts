import type { Route } from "#lib/routes/route.ts";
import type { Middleware } from "./body.ts";
import { endpointReading } from "./endpoint.ts";
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

/**
 * Like `endpoint`, for a route with `encoding: "multipart"`: its body schema gets text fields as strings and files as
 * `Upload`. In its own file, so that other bundles do not contain the parser.
 */
export const multipartEndpoint = <Q, B, R, P, H>(route: Route<Q, B, R, "multipart", P, H>) =>
  endpointReading(route, [parse]);
