import { randomUUID } from "node:crypto";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import { routes } from "#lib/routes/index.ts";
import type { Route } from "#lib/routes/route.ts";
import { authorizerEvent, proxyEvent, type Request } from "../../infra/local/gateway/event.ts";

/** For each route one request that takes the whole way to the database and back. */
const requests: Readonly<Record<string, { readonly query?: string; readonly body?: unknown }>> = {
  "resident/list": { body: { page_number: 1, page_size: 10 } },
  "resident/search": { body: { p_nama: "siti", page_size: 10 } },
  "tourism/categories": {},
  "tourism/gallery": { query: "where=(pr_id,eq,1)" },
};

/** @throws Error for a route that has no request yet. */
const getRequest = ({ fn, method, path }: Route, apiKey: string) => {
  const sample = requests[fn];
  if (!sample) throw new Error(`test/bench/first-request.ts has no request for ${fn}`);
  const body = sample.body === undefined ? "" : JSON.stringify(sample.body);
  const request: Request = {
    id: randomUUID(),
    method,
    path,
    query: new URLSearchParams(sample.query),
    headers: [
      ["apikey", apiKey],
      ["content-type", "application/json"],
    ],
    sourceIp: "127.0.0.1",
    receivedAt: Date.now(),
  };
  return { request, body: Buffer.from(body) };
};

/** The event of a route's first request, with what its authorizer handed on. */
export const routeEvent = (route: Route, apiKey: string, authorizer: Record<string, unknown> | undefined) => {
  const { request, body } = getRequest(route, apiKey);
  return proxyEvent(request, { body, binary: false, resourcePath: route.path, authorizer });
};

/** The event of an authorizer's first request: the one of the first route that it guards. */
export const guardEvent = ({ fn, kind }: Authorizer, apiKey: string) => {
  const route = routes.find(({ auth }) => auth.kind === kind);
  if (!route) throw new Error(`${fn} guards no route`);
  return authorizerEvent(getRequest(route, apiKey).request, route.path);
};
