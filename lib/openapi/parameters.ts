import type { Route } from "#lib/routes/route.ts";
import { type Schema, schemaOf } from "./schema.ts";
import type { FieldWords, Language, RouteWords } from "./words.ts";

/** @throws Error for an undocumented field. */
export const wordsOf = (fields: RouteWords["fields"], name: string, fn: string): FieldWords => {
  const words = fields[name];
  if (!words) throw new Error(`no documentation for ${name} of ${fn}`);
  return words;
};

const parameterOf = (
  place: "path" | "query" | "header",
  [name, found]: readonly [string, Schema],
  isRequired: boolean,
  { example, schema = found, ...text }: FieldWords,
  language: Language,
) => ({
  // header names are case-insensitive; the usual spelling reads better
  name: place === "header" ? name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()) : name,
  in: place,
  required: isRequired,
  description: text[language],
  schema,
  example,
});

/** Lists the parameters of a route in the order path, query, headers. */
export const parametersOf = (route: Route, words: RouteWords, language: Language): object[] => {
  const places = [
    ["path", route.params],
    ["query", route.query],
    ["header", route.headers],
  ] as const;
  return places.flatMap(([place, schema]): object[] => {
    if (!schema) return [];
    const { properties = {}, required = [] } = schemaOf(schema, "input");
    return Object.entries(properties).map((entry) =>
      parameterOf(
        place,
        entry,
        required.includes(entry[0]),
        wordsOf(words.fields, entry[0], route.fn),
        language,
      ),
    );
  });
};
