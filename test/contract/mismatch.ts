import * as z from "zod/mini";
import type { Answer } from "./system.ts";

/** An answer that breaks the contract. Contains no value of a body, which may be personal data. */
export class Mismatch extends Error {
  override readonly name = "Mismatch";
  readonly expected: string;
  readonly received: string;
  readonly request: string;
  readonly requestId: string | undefined;

  constructor(answer: Answer, expected: string, received: string) {
    super(`${answer.request}: expected ${expected}, received ${received}`);
    this.expected = expected;
    this.received = received;
    this.request = answer.request;
    this.requestId =
      answer.headers.get("x-request-id") ?? answer.headers.get("x-amzn-requestid") ?? undefined;
  }
}

/** Long numbers may be personal data. */
const withoutNumbers = (text: string) => text.replace(/\d{6,}/g, "…").slice(0, 200);

/** The status, and of an error its code and message, which describe the request and contain no data. */
const describe = ({ status, headers, json, text }: Answer): string => {
  if (status < 400) return String(status);
  const words = [json?.code, json?.message].filter((part) => typeof part === "string").join(": ");
  const type = headers.get("content-type")?.split(";")[0] ?? "no content type";
  return `${status} ${words ? withoutNumbers(words) : `(${type}, ${text.length} characters)`}`;
};

export const expectStatus = (answer: Answer, status: number): void => {
  if (answer.status !== status) throw new Mismatch(answer, String(status), describe(answer));
};

/** @param pattern undefined where the header must be absent. */
export const expectHeader = (answer: Answer, name: string, pattern: RegExp | undefined): void => {
  const value = answer.headers.get(name);
  if (pattern ? value !== null && pattern.test(value) : value === null) return;
  const expected = pattern ? `the header ${name} like ${pattern}` : `no header ${name}`;
  throw new Mismatch(answer, expected, value === null ? "none" : `«${withoutNumbers(value)}»`);
};

/** @param rule what should hold. @param received what was found instead, without personal data. */
export const expectRule = (
  answer: Answer,
  holds: boolean,
  rule: string,
  received = "something else",
): void => {
  if (!holds) throw new Mismatch(answer, rule, received);
};

const kindOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (value === undefined) return "nothing";
  return typeof value === "number" && !Number.isInteger(value) ? "a fraction" : `a ${typeof value}`;
};

const ruleOf = (issue: z.core.$ZodIssue): string => {
  switch (issue.code) {
    case "invalid_type":
      return issue.expected;
    case "invalid_value":
      return issue.values.map((value) => JSON.stringify(value)).join(" or ");
    case "invalid_format":
      return `text like ${issue.pattern ?? issue.format}`;
    case "unrecognized_keys":
      return `no field ${issue.keys.join(", ")}`;
    default:
      return issue.message;
  }
};

/** For issues where the type of the value is the expected one. */
const receivedInstead: Partial<Record<string, string>> = {
  unrecognized_keys: "that field",
  invalid_format: "text of another form",
  invalid_value: "another value",
};

/** @returns the body, which has exactly this shape. @throws Mismatch that names the field and its type, not its value. */
export const expectShape = <T>(answer: Answer, schema: z.ZodMiniType<T>): T => {
  const result = schema.safeParse(answer.json);
  if (result.success) return result.data;
  const [issue] = result.error.issues as [z.core.$ZodIssue];
  const found = issue.path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown>)[key],
    answer.json,
  );
  const place = issue.path.length === 0 ? "the body" : issue.path.join(".");
  const received = receivedInstead[issue.code] ?? kindOf(found);
  throw new Mismatch(answer, `${place}: ${ruleOf(issue)}`, received);
};

const FieldErrors = z.array(z.strictObject({ field: z.string(), message: z.string() }));
const IntegrationError = z.object({
  status: z.literal("error"),
  code: z.string(),
  message: z.string(),
  errors: z.optional(FieldErrors),
  request_id: z.string(),
});

const MessagingError = z.strictObject({ status: z.literal(false), code: z.string(), message: z.string() });

const expectCode = (answer: Answer, status: number, code: string) => {
  if (answer.status !== status || answer.json?.code !== code)
    throw new Mismatch(answer, `${status} ${code}`, describe(answer));
};

/**
 * An error of the integration API in its own shape.
 *
 * @param field the wrong one. @param words part of its message, which says how to fix it.
 */
export const expectRefusal = (
  answer: Answer,
  status: number,
  code: string,
  field?: string,
  words = "",
): void => {
  expectCode(answer, status, code);
  const { errors, message } = expectShape(answer, IntegrationError);
  expectHeader(answer, "content-type", /^application\/json/);
  expectRule(answer, message.includes(words), `a message with «${words}»`, describe(answer));
  if (field === undefined) return;
  const [named] = errors ?? [];
  expectRule(
    answer,
    named?.field === field,
    `an error of the field ${field}`,
    `one of ${named?.field ?? "no field"}`,
  );
  expectRule(answer, named?.message === message, "the field's message as the message", "another message");
};

/** A 400 of the integration API for wrong input. */
export const expectInvalid = (answer: Answer, field?: string, words?: string): void =>
  expectRefusal(answer, 400, "invalid_request", field, words);

/** An error of the messaging API in its own shape. @param words part of its message. */
export const expectMessagingRefusal = (answer: Answer, status: number, code: string, words = ""): void => {
  expectCode(answer, status, code);
  const { message } = expectShape(answer, MessagingError);
  expectRule(answer, message.includes(words), `a message with «${words}»`, describe(answer));
};

/** A 400 of the messaging API for wrong input. */
export const expectMessagingInvalid = (answer: Answer, words?: string): void =>
  expectMessagingRefusal(answer, 400, "VALIDATION_ERROR", words);
