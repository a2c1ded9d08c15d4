import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { APIGatewayAuthorizerResult, APIGatewayProxyResult } from "aws-lambda";
import { inject, vi } from "vitest";
import { authorizers, routes } from "#lib/routes/index.ts";
import { authorizerEvent, proxyEvent, type Request } from "../../infra/local/gateway/event.ts";
import { readPath } from "../../infra/local/gateway/path.ts";
import { demoPhone } from "../../infra/local/messenger/messenger.ts";
import type { RunningCity, Way } from "../steps/city/running-city.ts";
import {
  type Answer,
  type Credentials,
  openSystem,
  overHttp,
  type Question,
  type Send,
  type System,
} from "./system.ts";

/** Over HTTP to the bundles behind the gateway, or to the handler's source in this process. */
export const { ways } = inject("city");

const credentialsOf = ({ apiKey, basic, employee }: RunningCity): Credentials => ({
  apiKey,
  basic,
  account: { username: employee.username, password: employee.password },
  employee: { nip: employee.nip, passphrase: employee.passphrase },
  phone: demoPhone,
});

type Handler = (event: unknown, context: unknown) => Promise<unknown>;
const handlers = new Map<string, Promise<Handler>>();

/** The handler from source, with its own modules and environment, as in Lambda. */
const loadHandler = (fn: string): Promise<Handler> => {
  const load = async () => {
    vi.resetModules();
    // biome-ignore lint/style/noProcessEnv: a Lambda is given its settings so
    Object.assign(process.env, inject("city").variables[fn], { LOG_LEVEL: "error" });
    const module = fileURLToPath(new URL(`../../functions/${fn}.ts`, import.meta.url));
    return (await import(/* @vite-ignore */ module)).handler as Handler;
  };
  const loaded = handlers.get(fn) ?? load();
  handlers.set(fn, loaded);
  return loaded;
};

const context = { getRemainingTimeInMillis: () => 10_000 };

const inProcess: Send = async ({ method, path, headers, body }) => {
  if (body instanceof FormData) throw new Error("the gateway alone encodes a form for its handler");
  const url = new URL(path, "http://gateway");
  const route = routes.find((one) => one.method === method && readPath(one.path, url.pathname));
  if (!route) throw new Error(`no route ${method} ${url.pathname}`);
  const request: Request = {
    id: randomUUID(),
    method,
    path: url.pathname,
    query: url.searchParams,
    headers: Object.entries(headers),
    sourceIp: "127.0.0.1",
    receivedAt: Date.now(),
  };
  const guard = authorizers.find(({ kind }) => kind === route.auth.kind);
  const policy =
    guard &&
    ((await (
      await loadHandler(guard.fn)
    )(authorizerEvent(request, route.path), context)) as APIGatewayAuthorizerResult);
  const event = proxyEvent(request, {
    body: Buffer.from(body ?? ""),
    binary: false,
    resourcePath: route.path,
    authorizer: policy?.context ?? undefined,
  });
  const result = (await (await loadHandler(route.fn))(event, context)) as APIGatewayProxyResult;
  const { statusCode: status, headers: answered, body: text } = result;
  return { status, headers: new Headers(answered as Record<string, string>), text };
};

/** The running city, on either way. */
export const systemOf = (way: Way): System => {
  const city = inject("city");
  const gateway = way === "over HTTP";
  const addresses = { integration: city.baseUrl, messaging: city.messagingBaseUrl };
  return openSystem({
    credentials: credentialsOf(city),
    gateway,
    send: gateway ? overHttp(addresses) : inProcess,
  });
};

/** Sends the same request in either way; a POST has the partner's key. */
export const when = (way: Way) => {
  const { ask } = systemOf(way);
  return (question: Question): Promise<Answer> =>
    ask({ ...((question.method ?? "POST") === "POST" && { as: "partner" }), ...question });
};
