import { schemaOf } from "#lib/openapi/schema.ts";
import { allWords } from "#lib/openapi/words/index.ts";
import type { Route } from "#lib/routes/route.ts";

type Values = Readonly<Record<string, unknown>>;

/** The values of a request, for the path's segments in braces, the query and the body. */
export interface DocumentedRequest {
  readonly params: Values;
  readonly query: Values | undefined;
  readonly body: Values | undefined;
}

/** The request that the document shows first: a whole body, or the example of each field; of a query the required ones. */
export const documentedRequest = ({ fn, params, query, body }: Route): DocumentedRequest => {
  const words = allWords[fn];
  const [example] = Object.values(words?.examples ?? {}) as Values[];
  const pick = (names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const field = words?.fields[name];
        return field ? [[name, field.example]] : [];
      }),
    );
  const examplesOf = (schema: Parameters<typeof schemaOf>[0]) =>
    pick(Object.keys(schemaOf(schema, "input").properties ?? {}));
  return {
    params: params ? examplesOf(params) : {},
    query: query && pick(schemaOf(query, "input").required ?? []),
    body: body && (example ?? examplesOf(body)),
  };
};

/** @returns the path with its values, and the query. */
export const pathOf = ({ path }: Route, { params, query }: DocumentedRequest): string => {
  const filled = path.replace(/\{(\w+)\+?\}/g, (_, name) => encodeURIComponent(String(params[name])));
  const search = new URLSearchParams(query as Record<string, string>).toString();
  return search ? `${filled}?${search}` : filled;
};
