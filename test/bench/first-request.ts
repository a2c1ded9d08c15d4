import { randomUUID } from "node:crypto";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import { routes } from "#lib/routes/index.ts";
import type { Route } from "#lib/routes/route.ts";
import type { City } from "../../infra/local/city.ts";
import { authorizerEvent, proxyEvent, type Request } from "../../infra/local/gateway/event.ts";

interface Sample {
  readonly query?: Record<string, string>;
  /** Sent as JSON, or as a form where the route takes one. */
  readonly body?: Record<string, unknown>;
}

const credentialsOf = ({ upstreams: { demo } }: City) => ({
  username: demo.username,
  password: demo.password,
});

const login = async (city: City): Promise<{ token: string; refresh_token: string }> => {
  const response = await fetch(`${city.baseUrl}/v1/simpeg/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(credentialsOf(city)),
  });
  return response.json() as Promise<{ token: string; refresh_token: string }>;
};

/** For each route one request that takes the whole way to its database or old system and back. */
const samples: Readonly<Record<string, (city: City) => Sample | Promise<Sample>>> = {
  "employee/login": (city) => ({ body: credentialsOf(city) }),
  "employee/refresh": async (city) => ({
    body: { grant_type: "refresh_token", refresh_token: (await login(city)).refresh_token },
  }),
  "employee/ticket": ({ upstreams: { demo } }) => ({
    query: { user: "servicelogin", username: demo.nip, pass: demo.passphrase },
  }),
  "employee/employees": () => ({ query: { nama: "siti" } }),
  "resident/list": () => ({ body: { page_number: 1, page_size: 10 } }),
  "resident/search": () => ({ body: { p_nama: "siti", page_size: 10 } }),
  "tourism/categories": () => ({}),
  "tourism/gallery": () => ({ query: { where: "(pr_id,eq,1)" } }),
};

const encode = ({ encoding }: Route, body: Record<string, unknown>) =>
  encoding === "form" ? new URLSearchParams(body as Record<string, string>).toString() : JSON.stringify(body);

/** @throws Error for a route that has no sample yet. */
const getRequest = async (route: Route, city: City) => {
  const { fn, method, path, encoding, auth } = route;
  const makeSample = samples[fn];
  if (!makeSample) throw new Error(`test/bench/first-request.ts has no request for ${fn}`);
  const { query, body } = await makeSample(city);
  const request: Request = {
    id: randomUUID(),
    method,
    path,
    query: new URLSearchParams(query),
    headers: [
      ["apikey", city.apiKey],
      ["content-type", encoding === "form" ? "application/x-www-form-urlencoded" : "application/json"],
      ...(auth.kind === "bearer" ? [["authorization", `Bearer ${(await login(city)).token}`] as const] : []),
    ],
    sourceIp: "127.0.0.1",
    receivedAt: Date.now(),
  };
  return { request, body: Buffer.from(body ? encode(route, body) : "") };
};

/** The event of a route's first request, with what its authorizer handed on. */
export const routeEvent = async (
  route: Route,
  city: City,
  authorizer: Record<string, unknown> | undefined,
) => {
  const { request, body } = await getRequest(route, city);
  return proxyEvent(request, { body, binary: false, resourcePath: route.path, authorizer });
};

/** The event of an authorizer's first request: the one of the first route that it guards. */
export const guardEvent = async ({ fn, kind }: Authorizer, city: City) => {
  const route = routes.find(({ auth }) => auth.kind === kind);
  if (!route) throw new Error(`${fn} guards no route`);
  return authorizerEvent((await getRequest(route, city)).request, route.path);
};
