import type { APIGatewayProxyEvent } from "aws-lambda";
import type * as z from "zod/mini";
import type { FieldError } from "#lib/errors/api-error.ts";
import { invalidField, invalidFields } from "#lib/errors/invalid-input.ts";

type Where = "body" | "form" | "query" | "path" | "headers";

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
 * Finds a text with U+FFFD, or with half a surrogate pair: a program that read it with the wrong encoding, or cut it, lost a
 * letter there. Sent on, stored or compared, it would be a wrong statement.
 */
const findDamaged = (input: unknown, path = "", depth = 0): string | undefined => {
  if (typeof input === "string") return input.includes("\uFFFD") || !input.isWellFormed() ? path : undefined;
  if (typeof input !== "object" || input === null || input instanceof Uint8Array) return undefined;
  // no known field is deeper, and an unknown one may be nested without end
  if (depth > 3) return undefined;
  for (const [name, value] of Object.entries(input)) {
    const found = findDamaged(value, path === "" ? name : `${path}.${name}`, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** @throws ApiError 400 for a text with a lost letter. */
const requireWholeText = (input: unknown, where: Where): void => {
  const damaged = findDamaged(input);
  if (damaged === undefined) return;
  // a name that only the caller knows is not repeated
  const field = /^[a-z_]{1,40}$/.test(damaged) ? damaged : where;
  throw invalidField(
    field,
    `A character was lost (U+FFFD) in ${field}; the text was read with another encoding, or cut within a character: read and send it as UTF-8`,
  );
};

/**
 * Validates input against its schema. A header and a form may have any characters: the form's token is only looked up.
 *
 * @throws ApiError 400 that lists each invalid field with the schema's message, or `params.fault` of the first issue; and for
 * a text with a lost letter.
 */
export const check = <T>(schema: z.ZodMiniType<T>, input: unknown, where: Where): T => {
  if (where !== "headers" && where !== "form") requireWholeText(input, where);
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const whole = where === "form" ? "body" : where;
  const [issue] = issues;
  const messages = issues.map(({ path, message }) => [path.join(".") || whole, message] as const);
  // one message per field, even if it fails several checks
  const [first, ...others] = [...new Map(messages)].map(
    ([field, message]): FieldError => ({ field, message }),
  );
  throw invalidFields(
    [first ?? { field: whole, message: `The ${whole} is not valid` }, ...others],
    issue?.code === "custom" ? issue.params?.fault : undefined,
  );
};
