import type { Auth, Route } from "#lib/routes/route.ts";
import { invented } from "./addresses.ts";
import type { PublishedApi } from "./api.ts";
import { errorSchemas } from "./errors.ts";
import { parametersOf } from "./parameters.ts";
import { requestBodyOf } from "./request-body.ts";
import { responsesOf } from "./responses.ts";
import { describeFields, type Schema, schemaOf } from "./schema.ts";
import type { Language, Text } from "./text.ts";
import { allWords } from "./words/index.ts";
import { errorFields, headers, info, securitySchemes, servers, tags } from "./words/overview.ts";
import type { RouteWords } from "./words.ts";

const order = Object.keys(allWords);

const wordsOf = ({ fn }: Route): RouteWords => {
  const words = allWords[fn];
  if (!words) throw new Error(`no documentation for ${fn} in lib/openapi/words`);
  return words;
};

/** In the order of their words. The documentation functions are not documented. */
const describedOf = ({ routes }: PublishedApi) =>
  routes
    .filter(({ fn }) => !fn.startsWith("docs/"))
    .toSorted((one, other) => order.indexOf(one.fn) - order.indexOf(other.fn));

const securityOf = ({ kind }: Auth): object[] => (kind === "public" ? [] : [{ [kind]: [] }]);

const operationOf = (route: Route, api: PublishedApi, language: Language) => {
  const words = wordsOf(route);
  const curl = words.curl.replaceAll("{base}", invented[api.name]);
  const requestBody = requestBodyOf(route, words, language);
  return {
    operationId: words.operationId,
    tags: [route.fn.split("/")[0]],
    summary: language === "en" ? route.summary : words.summaryInIndonesian,
    description: `${words[language]}\n\n\`\`\`sh\n${curl}\n\`\`\``,
    security: securityOf(route.auth),
    parameters: parametersOf(route, words, language),
    ...(requestBody && { requestBody }),
    responses: responsesOf(route, api, words, language),
  };
};

const pathsOf = (api: PublishedApi, language: Language) =>
  describedOf(api).map((route) => {
    const item = {
      // the document's first server is the default
      ...(api.name === "messaging" && {
        servers: [{ url: invented.messaging, description: servers.messaging[language] }],
      }),
      [route.method.toLowerCase()]: operationOf(route, api, language),
    };
    return [route.path, item] as const;
  });

const replySchema = (route: Route, { reply }: RouteWords, language: Language): Schema =>
  describeFields(schemaOf(route.reply, "output"), (path) => {
    const text = reply.fields[path];
    if (!text) throw new Error(`no documentation for ${path} of ${reply.name}`);
    return { description: text[language] };
  });

const schemasOf = (routes: readonly Route[], language: Language): Record<string, Schema> => ({
  ...Object.fromEntries(
    routes.map((route) => {
      const words = wordsOf(route);
      return [words.reply.name, replySchema(route, words, language)];
    }),
  ),
  ...Object.fromEntries(
    Object.entries(errorSchemas()).map(([name, schema]) => [
      name,
      describeFields(schema, (path) => ({ description: errorFields[path]?.[language] })),
    ]),
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
 * Composes the OpenAPI 3.1 document of both APIs from their route tables and the texts in `words/`.
 *
 * @param version of the product.
 */
export const composeDocument = (apis: readonly PublishedApi[], version: string, language: Language) => {
  const routes = apis.flatMap(describedOf);
  return {
    openapi: "3.1.0",
    info: {
      title: info.title[language],
      version,
      description: info.description[language],
      license: { name: info.license[language], url: `${invented.integration}/docs/partner?lang=${language}` },
    },
    servers: [{ url: invented.integration, description: servers.integration[language] }],
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text[language] })),
    paths: Object.fromEntries(apis.flatMap((api) => pathsOf(api, language))),
    components: {
      securitySchemes: inLanguage(securitySchemes, language),
      headers: inLanguage(headers, language),
      schemas: schemasOf(routes, language),
    },
  };
};
