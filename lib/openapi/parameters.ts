import type { Route } from "#lib/routes/route.ts";
import { type Schema, schemaOf } from "./schema.ts";
import type { Language } from "./text.ts";
import type { FieldWords, RouteWords } from "./words.ts";

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

/** One form of a query that has several, which differ in their values. */
const formOf = (form: Schema, words: RouteWords, fn: string, language: Language): Schema => {
  const named = Object.entries(form.properties ?? {}).filter(
    // `form` is internal, and a property without type belongs to the other form
    ([name, field]) => name !== "form" && "type" in field,
  );
  return {
    type: "object",
    title: String(form.properties?.form?.const),
    properties: Object.fromEntries(
      named.map(([name, field]) => [
        name,
        { ...field, description: wordsOf(words.fields, name, fn)[language] },
      ]),
    ),
    required: (form.required ?? []).filter((name) => name !== "form"),
    additionalProperties: false,
  };
};

/** Describes the schema in words, for pages that do not show a parameter's schema. */
const listFields = ({ title, properties = {}, required = [] }: Schema): string =>
  [
    `**${title}**`,
    ...Object.entries(properties).map(
      ([name, { description }]) => `- \`${name}\`${required.includes(name) ? " *" : ""}: ${description}`,
    ),
  ].join("\n");

/**
 * Describes a query with several forms as one object parameter, because OpenAPI has no other way to say that
 * parameters exclude each other.
 */
const formsOf = (forms: readonly Schema[], words: RouteWords, fn: string, language: Language) => ({
  name: "parameters",
  in: "query",
  description: forms.map((form) => listFields(formOf(form, words, fn, language))).join("\n\n"),
  style: "form",
  explode: true,
  schema: { type: "object", oneOf: forms.map((form) => formOf(form, words, fn, language)) },
  examples: Object.fromEntries(
    Object.entries(words.examples ?? {}).map(([name, value]) => [name, { value }]),
  ),
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
    const { properties = {}, required = [], oneOf } = schemaOf(schema, "input");
    if (oneOf) return [formsOf(oneOf, words, route.fn, language)];
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
