import type { APIGatewayProxyEvent } from "aws-lambda";
import type * as z from "zod/mini";
import type { FieldError } from "#lib/faults/fault.ts";
import { invalidField, invalidFields } from "#lib/faults/invalid-input.ts";

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
 * Finds a text with U+FFFD: a program that read it with the wrong encoding lost a letter there. Sent on, stored or
 * compared, it would be a wrong statement.
 */
const findDamaged = (input: unknown, path = ""): string | undefined => {
  if (typeof input === "string") return input.includes("\uFFFD") ? path : undefined;
  if (typeof input !== "object" || input === null || input instanceof Uint8Array) return undefined;
  for (const [name, value] of Object.entries(input)) {
    const found = findDamaged(value, path === "" ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
};

/**
 * Validates input against its schema.
 *
 * @throws Fault 400 that lists each invalid field with the schema's message, or `params.fault` of the first issue; and for
 * a text with U+FFFD.
 */
export const check = <T>(schema: z.ZodMiniType<T>, input: unknown, where: Where): T => {
  const damaged = where === "headers" ? undefined : findDamaged(input);
  if (damaged !== undefined)
    throw invalidField(
      damaged,
      `A character was lost (U+FFFD) in ${damaged}; the text was read with another encoding: read and send it as UTF-8`,
    );
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
