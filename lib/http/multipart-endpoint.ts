import type { Route } from "#lib/routes/route.ts";
import { endpointReading } from "./endpoint.ts";
import { multipartBody } from "./multipart-body.ts";

/**
 * Like `endpoint`, for a route with `encoding: "multipart"`: its body schema gets text fields as strings and files as
 * `Upload`. In its own file, so that other bundles do not contain the parser.
 */
export const multipartEndpoint = <Q, B, R, P, H>(route: Route<Q, B, R, "multipart", P, H>) =>
  endpointReading(route, multipartBody);
