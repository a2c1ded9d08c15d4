import type { APIGatewayProxyEvent } from "aws-lambda";
import type * as z from "zod/mini";
import { invalidField, repeatedField } from "#lib/errors/invalid-input.ts";
import type { Route } from "#lib/routes/route.ts";

/** Lists the parameters of a query: an object, or a pipe that starts with one. */
export const parameterNames = (query: z.core.$ZodType | undefined): string[] => {
  const def = query?._zod.def as z.core.$ZodPipeDef | z.core.$ZodObjectDef | undefined;
  if (!def) return [];
  return def.type === "pipe" ? parameterNames(def.in) : Object.keys(def.shape);
};

/** Levenshtein distance. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const letter of from) {
    let left = (row[0] ?? 0) + 1;
    row = row.map((above, column) => {
      if (column === 0) return left;
      left = Math.min(left + 1, above + 1, (row[column - 1] ?? 0) + (letter === to[column - 1] ? 0 : 1));
      return left;
    });
  }
  return row.at(-1) ?? 0;
};

/** Longer names are compared by their beginning. */
const maxNameLength = 40;

/** The known name that the sent one may mean, by itself or by its last word: client generators write `parameters[nama]`. */
const findNearest = (sent: string, known: readonly string[]): string | undefined => {
  const name = sent.slice(0, maxNameLength).toLowerCase();
  const [word = name] = name.match(/\w+(?=\W*$)/) ?? [];
  const far = (candidate: string) => Math.min(distance(name, candidate), distance(word, candidate));
  const [nearest] = known.toSorted((a, b) => far(a) - far(b));
  return nearest !== undefined && far(nearest) <= nearest.length / 2 ? nearest : undefined;
};

/** Does not repeat the sent name: an `&` in a passphrase makes a name of what follows it. */
const unknownParameter = (sent: string, known: readonly string[]) => {
  const nearest = findNearest(sent, known);
  const taken = known.join(", ");
  const advice = nearest
    ? `did you mean ${nearest}? The endpoint takes ${taken}`
    : known.length > 0
      ? `the endpoint takes ${taken}`
      : "remove it: this endpoint takes none";
  return invalidField(nearest ?? "query", `A query parameter is unknown; ${advice}`);
};

/**
 * Returns the query parameters.
 *
 * @throws ApiError 400 for a repeated one, which is ambiguous, and for one that the route does not know: ignored, a
 * misspelt filter would return everything.
 */
export const readQuery = (
  event: Partial<Pick<APIGatewayProxyEvent, "queryStringParameters" | "multiValueQueryStringParameters">>,
  { query, ignoredQuery = [] }: Pick<Route, "query" | "ignoredQuery">,
): Record<string, string | undefined> => {
  const sent = event.queryStringParameters ?? {};
  if (ignoredQuery === "all") return sent;
  const known = parameterNames(query);
  const unknown = Object.keys(sent).find((name) => ![...known, ...ignoredQuery].includes(name));
  if (unknown !== undefined) throw unknownParameter(unknown, known);
  const repeated = known.find((name) => (event.multiValueQueryStringParameters?.[name]?.length ?? 0) > 1);
  if (repeated) throw repeatedField(repeated);
  return sent;
};
