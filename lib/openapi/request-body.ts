import type { Encoding, Route } from "#lib/routes/route.ts";
import { reference, splitSchema } from "./components.ts";
import { wordsOf } from "./parameters.ts";
import { type Schema, schemaOf } from "./schema.ts";
import type { Language, RouteWords, Text } from "./words.ts";

const mediaTypes: Readonly<Record<Encoding, string>> = {
  json: "application/json",
  raw: "application/json",
  form: "application/x-www-form-urlencoded",
  multipart: "multipart/form-data",
};

/** Returns the encoding of each part of a form. */
const encodingOf = (schema: Schema, words: RouteWords, fn: string) =>
  Object.fromEntries(
    Object.keys(schema.properties ?? {}).map((name) => [
      name,
      { contentType: wordsOf(words.fields, name, fn).mediaType ?? "text/plain" },
    ]),
  );

const byDefault: Text = { en: "By default", id: "Nilai bawaan:" };

/** Defaults stand in the text: openapi-typescript makes a field with a default a required one. */
const describe = (found: Schema, words: RouteWords, fn: string, language: Language): Schema => {
  const properties = Object.entries(found.properties ?? {}).map(([name, field]) => {
    const { example, schema = field, ...text } = wordsOf(words.fields, name, fn);
    const { default: fallback, ...rest } = schema;
    const suffix = fallback === undefined ? "" : ` ${byDefault[language]} \`${fallback}\`.`;
    return [name, { ...rest, description: `${text[language]}${suffix}`, examples: [example] }];
  });
  return { ...found, properties: Object.fromEntries(properties) };
};

/** Returns each form as a complete schema, because client generators ignore rules beside the fields. */
const inForms = (schema: Schema, { forms }: RouteWords): Schema => {
  if (!forms) return schema;
  const { properties = {}, required = [] } = schema;
  const each = forms.each.map(({ title, needs, without }) => ({
    type: "object",
    title,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => name !== without)),
    required: [...required, needs],
  }));
  return { [forms.keyword]: each };
};

const capitalized = (name: string) => name.replace(/^./, (letter) => letter.toUpperCase());
const nameOf = ({ operationId }: RouteWords, form = "request") =>
  `${capitalized(operationId)}${capitalized(form)}`;

/** The named schemas of a route's body: the body, and each of its forms. */
export const bodySchemas = (
  { fn, body }: Route,
  words: RouteWords,
  language: Language,
): Record<string, Schema> => {
  if (!body) return {};
  const schema = inForms(describe(schemaOf(body, "input"), words, fn, language), words);
  const forms = (words.forms?.each ?? []).map(({ title }, index) => [index, nameOf(words, title)]);
  return splitSchema(schema, { "": nameOf(words), ...Object.fromEntries(forms) });
};

/** Describes the body of a route, or returns undefined when it has none. */
export const requestBodyOf = ({ fn, body, encoding = "json" }: Route, words: RouteWords) => {
  if (!body) return undefined;
  const found = schemaOf(body, "input");
  const examples = Object.entries(words.examples ?? {}).map(([name, value]) => [name, { value }]);
  return {
    // an empty body is read as {}, which is valid when no field is required
    required: (found.required ?? []).length > 0 || words.forms !== undefined,
    content: {
      [mediaTypes[encoding]]: {
        schema: reference(nameOf(words)),
        ...(encoding === "multipart" && { encoding: encodingOf(found, words, fn) }),
        examples: Object.fromEntries(examples),
      },
    },
  };
};
