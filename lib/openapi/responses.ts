import { ApiError } from "#lib/errors/api-error.ts";
import type { ErrorName } from "#lib/errors/table.ts";
import { check } from "#lib/http/input.ts";
import { readQuery } from "#lib/http/query.ts";
import type { Route } from "#lib/routes/route.ts";
import { reference } from "./components.ts";
import type { PublishedApi } from "./document.ts";
import { firewallErrorOf, gatewayTypes, isByFunction, listFaults, nameOf, rowOf } from "./errors.ts";
import { errorWords } from "./words/errors.ts";
import type { Language, RouteWords } from "./words.ts";

const requestId = "3b6a2fcb-0699-4783-a84b-839426f34251";
const header = (name: string) => ({ $ref: `#/components/headers/${name}` });

/** Returns the route's own error for an invalid input. */
const mistakeOf = (route: Route, words: RouteWords): ApiError => {
  const { where, input } = words.mistake;
  const of = route[where];
  try {
    if (where === "query") readQuery({ queryStringParameters: input }, route);
    if (of) check(of, input, where === "params" ? "path" : where);
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error(`the invalid example of ${route.fn} is valid`);
};

/** Returns the body of the gateway's or the firewall's own response. */
const gatewayBody = ({ responses, firewall }: PublishedApi, type: string): unknown => {
  const body = type === "firewall" ? firewall.perAddress.refusal.body : responses[type]?.body;
  return body && JSON.parse(body.replaceAll("$context.requestId", requestId));
};

const bodyOf = (name: ErrorName, route: Route, api: PublishedApi, words: RouteWords): unknown => {
  if (!isByFunction(name)) return gatewayBody(api, gatewayTypes[name] ?? "");
  const fault = name === "invalidRequest" ? mistakeOf(route, words) : new ApiError(rowOf(name, route));
  return route.errors.body(fault, requestId);
};

const schemasOf = (name: ErrorName, route: Route, api: PublishedApi): string[] => {
  if (gatewayTypes[name] === "firewall") return [firewallErrorOf(api.envelope)];
  return [
    ...(isByFunction(name) ? [nameOf(route.errors)] : []),
    ...(gatewayTypes[name] ? [nameOf(api.envelope)] : []),
  ];
};

const codeOf = (body: unknown) => String((body as { code: string }).code);

/** Describes one status with all its errors. */
const failureOf = (
  names: readonly ErrorName[],
  route: Route,
  api: PublishedApi,
  words: RouteWords,
  language: Language,
) => {
  const failures = names.map((name) => ({ name, body: bodyOf(name, route, api, words) }));
  const schemas = [...new Set(names.flatMap((name) => schemasOf(name, route, api)))].map(reference);
  const [first] = schemas;
  const challenged = names.some((name) => gatewayTypes[name] === "UNAUTHORIZED");
  const retried = names.some((name) => rowOf(name, route).retryAfterSeconds !== undefined);
  return {
    description: failures
      .map(({ name, body }) => `- \`${codeOf(body)}\`: ${errorWords[name][language]}`)
      .join("\n"),
    headers: {
      "X-Request-Id": header("X-Request-Id"),
      ...(retried && { "Retry-After": header("Retry-After") }),
      ...(challenged && { "WWW-Authenticate": header("WWW-Authenticate") }),
    },
    content: {
      "application/json": {
        schema: schemas.length === 1 ? first : { anyOf: schemas },
        examples: Object.fromEntries(failures.map(({ name, body }) => [name, { value: body }])),
      },
    },
  };
};

const cacheHeaders = { ETag: header("ETag"), "Cache-Control": header("Cache-Control") };

const successOf = ({ cache }: Route, { reply }: RouteWords, language: Language) => ({
  description: reply[language],
  headers: { "X-Request-Id": header("X-Request-Id"), ...(cache && cacheHeaders) },
  content: {
    "application/json": {
      schema: reference(reply.name),
      examples: Object.fromEntries(Object.entries(reply.examples).map(([name, value]) => [name, { value }])),
    },
  },
});

const notModified = {
  en: "Nothing changed since the answer whose `ETag` was sent in `If-None-Match`.",
  id: "Tidak ada perubahan sejak jawaban yang `ETag`-nya dikirim di `If-None-Match`.",
};

/** Describes the responses of a route, by status. */
export const responsesOf = (route: Route, api: PublishedApi, words: RouteWords, language: Language) => {
  const byStatus = Object.groupBy(listFaults(route), (name) => rowOf(name, route).status);
  return {
    200: successOf(route, words, language),
    ...(route.cache && {
      304: {
        description: notModified[language],
        headers: { "X-Request-Id": header("X-Request-Id"), ...cacheHeaders },
      },
    }),
    ...Object.fromEntries(
      Object.entries(byStatus).map(([status, names = []]) => [
        status,
        failureOf(names, route, api, words, language),
      ]),
    ),
  };
};
