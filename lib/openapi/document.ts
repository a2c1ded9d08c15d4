import type { Envelope } from "#lib/errors/envelope.ts";
import type { Auth, Route } from "#lib/routes/route.ts";
import { invented } from "./addresses.ts";
import { splitSchema, usedOnly } from "./components.ts";
import { errorSchemas } from "./errors.ts";
import { parametersOf } from "./parameters.ts";
import { bodySchemas, requestBodyOf } from "./request-body.ts";
import { responsesOf } from "./responses.ts";
import { describeFields, type Schema, schemaOf } from "./schema.ts";
import { webhooksOf } from "./webhooks.ts";
import { allWords } from "./words/index.ts";
import { errorFields, headers, info, securitySchemes, servers, tags } from "./words/overview.ts";
import type { Language, RouteWords, Text } from "./words.ts";

const order = Object.keys(allWords);

const wordsOf = ({ fn }: Route): RouteWords => {
  const words = allWords[fn];
  if (!words) throw new Error(`no documentation for ${fn} in lib/openapi/words`);
  return words;
};

/** Functions of the documentation, and those that platforms call, are not documented. */
export const isDescribed = ({ fn, path }: Pick<Route, "fn" | "path">): boolean =>
  !fn.startsWith("docs/") && !path.startsWith("/webhooks/");

/** In the order of their words. */
const describedOf = ({ routes }: PublishedApi) =>
  routes.filter(isDescribed).toSorted((one, other) => order.indexOf(one.fn) - order.indexOf(other.fn));

const securityOf = ({ kind }: Auth): object[] => (kind === "public" ? [] : [{ [kind]: [] }]);

/** A call in a programming language. */
interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** In other languages than shell, by the id of the operation. */
export type CodeSamples = Readonly<Record<string, readonly CodeSample[]>>;

const operationOf = (route: Route, api: PublishedApi, language: Language, samples: CodeSamples) => {
  const words = wordsOf(route);
  const curl = words.curl.replaceAll("{base}", invented[api.name]);
  const requestBody = requestBodyOf(route, words);
  return {
    operationId: words.operationId,
    tags: [route.fn.split("/")[0]],
    summary: language === "en" ? route.summary : words.summaryInIndonesian,
    description: words[language],
    security: securityOf(route.auth),
    parameters: parametersOf(route, words, language),
    ...(requestBody && { requestBody }),
    responses: responsesOf(route, api, words, language),
    // https://redocly.com/docs-legacy/api-reference-docs/specification-extensions/x-code-samples
    "x-codeSamples": [{ lang: "shell", label: "curl", source: curl }, ...(samples[words.operationId] ?? [])],
  };
};

const serversOf = ({ name }: PublishedApi, language: Language) => [
  { url: invented[name], description: servers[name][language] },
];

/** @param isDefault whether the document's servers are those of this API. */
const pathsOf = (api: PublishedApi, isDefault: boolean, language: Language, samples: CodeSamples) =>
  Object.entries(Object.groupBy(describedOf(api), ({ path }) => path)).map(([path, routes = []]) => {
    const operations = routes.map((route) => [
      route.method.toLowerCase(),
      operationOf(route, api, language, samples),
    ]);
    const item = {
      ...(!isDefault && { servers: serversOf(api, language) }),
      ...Object.fromEntries(operations),
    };
    return [path, item] as const;
  });

const replySchema = (route: Route, { reply }: RouteWords, language: Language): Schema =>
  describeFields(schemaOf(route.reply, "output"), (path) => {
    const text = reply.fields[path];
    if (!text) throw new Error(`no documentation for ${path} of ${reply.name}`);
    return { description: text[language] };
  });

const withoutTexts = (schema: Schema) =>
  JSON.stringify(schema, (key, value) => (key === "description" ? undefined : value));

/** @throws Error when two endpoints give one name to different schemas: clients would get the wrong type. */
const unite = (named: readonly (readonly [string, Schema])[]): Record<string, Schema> => {
  const found: Record<string, Schema> = {};
  for (const [name, schema] of named) {
    const other = found[name];
    if (other && withoutTexts(other) !== withoutTexts(schema))
      throw new Error(`two different schemas have the name ${name}`);
    found[name] = schema;
  }
  return found;
};

const schemasOf = (routes: readonly Route[], language: Language): Record<string, Schema> => ({
  ...unite(
    routes.flatMap((route) => {
      const words = wordsOf(route);
      const { name, parts } = words.reply;
      return Object.entries({
        ...bodySchemas(route, words, language),
        ...splitSchema(replySchema(route, words, language), { "": name, ...parts }),
      });
    }),
  ),
  ...Object.fromEntries(
    Object.entries(errorSchemas()).flatMap(([name, schema]) =>
      Object.entries(
        splitSchema(
          describeFields(schema, (path) => ({ description: errorFields[path]?.[language] })),
          { "": name, "errors.[]": "FieldError" },
        ),
      ),
    ),
  ),
});

const inLanguage = (named: Readonly<Record<string, Text>>, language: Language) =>
  Object.fromEntries(
    Object.entries(named).map(([name, { en, id, ...one }]) => [
      name,
      { ...one, description: { en, id }[language] },
    ]),
  );

/**
 * Composes an OpenAPI 3.1 document of one or both APIs from their route tables and the texts in `words/`.
 *
 * @param apis the first one's address is the document's server. @param version of the product.
 */
export const composeDocument = (
  apis: readonly [PublishedApi, ...PublishedApi[]],
  version: string,
  language: Language,
  samples: CodeSamples = {},
) => {
  const [first, ...others] = apis;
  const routes = apis.flatMap(describedOf);
  const title = info.title[language];
  const paths = Object.fromEntries(apis.flatMap((api) => pathsOf(api, api === first, language, samples)));
  const isUsed = (kind: string) => routes.some(({ auth }) => auth.kind === kind);
  return {
    openapi: "3.1.0",
    info: {
      title: others.length > 0 ? title : `${title}: ${servers[first.name][language]}`,
      version,
      description: info.description[language],
      license: { name: info.license[language], url: `${invented.integration}/docs/partner?lang=${language}` },
    },
    servers: serversOf(first, language),
    tags: Object.entries(tags)
      .filter(([area]) => routes.some(({ fn }) => fn.startsWith(`${area}/`)))
      .map(([name, { title, text }]) => ({
        name,
        "x-displayName": title[language],
        description: text[language],
      })),
    paths,
    ...webhooksOf(routes, language),
    components: {
      securitySchemes: Object.fromEntries(
        Object.entries(inLanguage(securitySchemes, language)).filter(([kind]) => isUsed(kind)),
      ),
      headers: usedOnly(inLanguage(headers, language), paths),
      schemas: usedOnly(schemasOf(routes, language), paths),
    },
  };
};

/** The part of an API definition that the OpenAPI document needs. */
export interface PublishedApi {
  readonly name: "integration" | "messaging";
  readonly routes: readonly Route[];
  /** The error envelope of the gateway's own responses. */
  readonly envelope: Envelope;
  /** The gateway's own responses, by API Gateway response type. */
  readonly responses: Readonly<
    Record<string, { readonly body: string; readonly headers: Readonly<Record<string, string>> }>
  >;
  readonly firewall: {
    /** The response to an address over its rate limit, which each route has. */
    readonly perAddress: { readonly refusal: { readonly body: string } };
  };
}
