import type { APIGatewayProxyEvent } from "aws-lambda";
import type * as z from "zod/mini";
import type { FieldError } from "#lib/faults/fault.ts";
import { invalidFields } from "#lib/faults/invalid-input.ts";

type Where = "body" | "query" | "path" | "headers";

/** Lower-cases header names: they are case-insensitive, keys of objects are not. */
export const lowerCaseNames = (
  headers: Record<string, string | undefined> | null,
): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));

/**
 * Returns the headers by lower-case name. Repeated ones are joined by commas (RFC 9110, 5.2), which the schema of a
 * single value rejects.
 */
export const readHeaders = ({ headers, multiValueHeaders }: APIGatewayProxyEvent) => ({
  ...lowerCaseNames(headers),
  ...Object.fromEntries(
    Object.entries(multiValueHeaders ?? {}).map(([name, values]) => [name.toLowerCase(), values?.join(", ")]),
  ),
});

/**
 * Validates input against its schema.
 *
 * @throws Fault 400 that lists each invalid field with the schema's message, or `params.fault` of the first issue.
 */
export const check = <T>(schema: z.ZodMiniType<T>, input: unknown, where: Where): T => {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const [issue] = issues;
  const messages = issues.map(({ path, message }) => [path.join(".") || where, message] as const);
  // one message per field, even if it fails several checks
  const [first, ...others] = [...new Map(messages)].map(
    ([field, message]): FieldError => ({ field, message }),
  );
  throw invalidFields(
    [first ?? { field: where, message: `The ${where} is not valid` }, ...others],
    issue?.code === "custom" ? issue.params?.fault : undefined,
  );
};
