import type { APIGatewayProxyEvent } from "aws-lambda";
import type * as z from "zod/mini";
import type { FieldError } from "#lib/faults/fault.ts";
import { invalidFields, repeatedField } from "#lib/faults/invalid-input.ts";
import { lowerCaseNames } from "./headers.ts";

type Where = "body" | "query" | "path" | "headers";

/** The query parameters. @throws Fault 400 for one that is sent more than once: which one is meant? */
export const readQuery = (event: APIGatewayProxyEvent): Record<string, string | undefined> => {
  const repeated = Object.entries(event.multiValueQueryStringParameters ?? {}).find(
    ([, values]) => (values?.length ?? 0) > 1,
  );
  if (repeated) throw repeatedField(repeated[0]);
  return event.queryStringParameters ?? {};
};

/**
 * The headers by their names in lower case. What came in several lines is one list (RFC 9110, 5.2): a value
 * that may be there once shows by its comma.
 */
export const readHeaders = ({ headers, multiValueHeaders }: APIGatewayProxyEvent) => ({
  ...lowerCaseNames(headers),
  ...Object.fromEntries(
    Object.entries(multiValueHeaders ?? {}).map(([name, values]) => [name.toLowerCase(), values?.join(", ")]),
  ),
});

/**
 * Checks input against its schema.
 *
 * @throws Fault 400 that names each wrong field and its rule, in the schema's own words. It is the fault in
 * `params.fault` of the first broken rule, if it has one.
 */
export const check = <T>(schema: z.ZodMiniType<T>, input: unknown, where: Where): T => {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const [issue] = issues;
  const messages = issues.map(({ path, message }) => [path.join(".") || where, message] as const);
  // one message a field: a number that breaks two bounds breaks one rule
  const [first, ...others] = [...new Map(messages)].map(
    ([field, message]): FieldError => ({ field, message }),
  );
  throw invalidFields(
    [first ?? { field: where, message: `The ${where} is not valid` }, ...others],
    issue?.code === "custom" ? issue.params?.fault : undefined,
  );
};
