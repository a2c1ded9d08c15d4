import * as z from "zod/mini";

/** A JSON Schema of draft 2020-12, the dialect of OpenAPI 3.1. */
export interface Schema {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** The safe-integer bounds are implied. */
const withoutObviousBounds = (schema: Record<string, unknown>) => {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
};

/** Returns the JSON Schema of what a caller sends (`input`) or receives (`output`). */
export const schemaOf = (schema: z.ZodMiniType, io: "input" | "output"): Schema => {
  const { $schema: _, ...found } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ jsonSchema }) => withoutObviousBounds(jsonSchema),
  });
  return found as Schema;
};

/** Adds a description to each field of a schema. @param describe receives the field's path. */
export const describeFields = (
  schema: Schema,
  describe: (path: string) => Schema,
  path: readonly string[] = [],
): Schema => ({
  ...schema,
  ...(schema.properties && {
    properties: Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => {
        const below = [...path, name];
        return [name, { ...describeFields(field, describe, below), ...describe(below.join(".")) }];
      }),
    ),
  }),
  ...(schema.items && { items: describeFields(schema.items, describe, path) }),
  ...(schema.anyOf && { anyOf: schema.anyOf.map((one) => describeFields(one, describe, path)) }),
});
