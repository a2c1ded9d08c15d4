import type { Route } from "#lib/routes/route.ts";
import { endpointReading } from "./endpoint.ts";
import { multipartBody } from "./multipart-body.ts";

/**
 * `endpoint` for a route with `encoding: "multipart"`; its body schema gets text fields as strings and files
 * as `Upload`. On its own because of the parser, which is in the bundles of those who import this file only.
 */
export const multipartEndpoint = <Q, B, R, P, H>(route: Route<Q, B, R, "multipart", P, H>) =>
  endpointReading(route, multipartBody);
