import { type Addresses, invented, withAddresses } from "#lib/openapi/addresses.ts";
import { methodsOf, preflightHeaders, type Route } from "#lib/routes/route.ts";
import type { Api } from "../../aws/api.ts";
import type { Authorizer, Method, Mock, RestApi } from "./rest-api.ts";

/** API Gateway's default. It is longer than any function's timeout. */
const timeoutMs = 29_000;

const findAuthorizer = ({ authorizers }: Api, { auth, path }: Route): Authorizer | undefined => {
  if (auth.kind === "public") return undefined;
  const found = authorizers.find(({ kind }) => kind === auth.kind);
  if (!found) throw new Error(`${path} has no authorizer of the kind ${auth.kind}`);
  const { fn, identityHeaders, cacheSeconds } = found;
  return { fn, identityHeaders, cacheSeconds };
};

const preflight = (route: Route): Mock => ({
  status: 204,
  headers: {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": [...methodsOf(route), "OPTIONS"].join(),
    "access-control-allow-headers": preflightHeaders.join(),
    "access-control-max-age": "86400",
  },
});

const methodsFor = (api: Api, route: Route): Method[] => {
  const { path, fn, auth, cors, throttle } = route;
  const called = methodsOf(route).map((httpMethod) => ({
    httpMethod,
    path,
    authorizer: findAuthorizer(api, route),
    keyRequired: auth.kind === "apiKey",
    throttle: throttle ?? api.throttle,
    integration: { fn, timeoutMs },
  }));
  if (!cors) return called;
  const open = { authorizer: undefined, keyRequired: false, throttle: api.throttle };
  return [...called, { httpMethod: "OPTIONS", path, ...open, integration: preflight(route) }];
};

/**
 * Describes the REST API of a definition.
 *
 * @param addresses of both APIs, which a 404 names.
 * @throws Error if a route has no authorizer of its kind.
 */
export const restApiOf = (api: Api, addresses: Addresses = invented): RestApi => ({
  methods: api.routes.flatMap((route) => methodsFor(api, route)),
  responses: Object.fromEntries(
    Object.entries(api.responses).map(([type, response]) => [
      type,
      { ...response, body: withAddresses(response.body, addresses) },
    ]),
  ),
  binaryMediaTypes: api.binaryMediaTypes,
  usagePlans: api.usagePlans,
});
