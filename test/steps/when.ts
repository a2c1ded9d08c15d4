import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { APIGatewayAuthorizerResult, APIGatewayProxyResult } from "aws-lambda";
import { inject, vi } from "vitest";
import { authorizers, routes } from "#lib/routes/index.ts";
import { authorizerEvent, proxyEvent, type Request } from "../../infra/local/gateway/event.ts";

/** The switch: over HTTP to the bundles behind the gateway, or the handler's source in this process. */
export const ways = ["over HTTP", "in process"] as const;
export type Way = (typeof ways)[number];

interface Question {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  /** Sent as it is when it is a string, as a form when it is one, as JSON otherwise. */
  body?: unknown;
}

interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body's JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  json: any;
}

const prepare = ({ method = "POST", path, headers = {}, body }: Question) => {
  const isForm = body instanceof URLSearchParams;
  const isText = body === undefined || typeof body === "string";
  return {
    method,
    path,
    headers: {
      ...(body !== undefined && {
        "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
      }),
      ...(method === "POST" && { apikey: inject("city").apiKey }),
      ...headers,
    } as Record<string, string>,
    body: isText ? body : isForm ? body.toString() : JSON.stringify(body),
  };
};

const toAnswer = (status: number, headers: Headers, text: string): Answer => ({
  status,
  headers,
  text,
  json: text === "" ? undefined : JSON.parse(text),
});

const overHttp = async (question: Question): Promise<Answer> => {
  const { method, path, headers, body } = prepare(question);
  const response = await fetch(`${inject("city").baseUrl}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(15_000),
  });
  return toAnswer(response.status, response.headers, await response.text());
};

type Handler = (event: unknown, context: unknown) => Promise<unknown>;
const handlers = new Map<string, Promise<Handler>>();

/** The handler from source, with modules and environment of its own, as a Lambda has. */
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

const inProcess = async (question: Question): Promise<Answer> => {
  const { method, path, headers, body } = prepare(question);
  const url = new URL(path, "http://gateway");
  const route = routes.find((candidate) => candidate.path === url.pathname && candidate.method === method);
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
  return toAnswer(result.statusCode, new Headers(result.headers as Record<string, string>), result.body);
};

/** Asks one and the same question on either way. */
export const when = (way: Way) => (way === "over HTTP" ? overHttp : inProcess);
