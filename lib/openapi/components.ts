import type { Schema } from "./schema.ts";

export const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const mapValues = <T, R>(values: Readonly<Record<string, T>>, change: (value: T, name: string) => R) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));

/**
 * Splits a schema into named ones, which client generators make types of.
 *
 * @param names by path, with `[]` for the items of a list and the index of an alternative; the path of the schema itself
 * is blank.
 */
export const splitSchema = (
  schema: Schema,
  names: Readonly<Record<string, string>>,
): Record<string, Schema> => {
  const named: Record<string, Schema> = {};
  const split = (found: Schema, path: readonly string[]): Schema => {
    const { properties, items, anyOf, oneOf } = found;
    const alternatives = (all: readonly Schema[]) =>
      all.map((one, index) => split(one, [...path, String(index)]));
    const whole = {
      ...found,
      ...(properties && {
        properties: mapValues(properties, (field, name) => split(field, [...path, name])),
      }),
      ...(items && { items: split(items, [...path, "[]"]) }),
      ...(anyOf && { anyOf: alternatives(anyOf) }),
      ...(oneOf && { oneOf: alternatives(oneOf) }),
    };
    const name = names[path.join(".")];
    if (!name) return whole;
    named[name] = whole;
    return reference(name);
  };
  split(schema, []);
  return named;
};

/** Leaves out what nothing refers to: a document of one API needs fewer components. */
export const usedOnly = <T>(components: Readonly<Record<string, T>>, paths: unknown): Record<string, T> => {
  const text = JSON.stringify({ components, paths });
  const all = Object.entries(components);
  const used = all.filter(([name]) => text.includes(`/${name}"`));
  // what was left out may have been the only one to refer to another
  return used.length === all.length ? { ...components } : usedOnly(Object.fromEntries(used), paths);
};
