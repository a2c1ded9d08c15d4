import type * as z from "zod";

/** A request whose body is validated. */
export interface Call<Body, Caller> {
  readonly body: Body;
  readonly caller: Caller;
  readonly idempotencyKey: string | undefined;
  readonly sourceIp: string;
  readonly requestId: string;
}

/** What an endpoint does, without a framework: each shell routes, parses, validates and answers in its own way. */
export interface Duty<Body, Caller> {
  readonly name: string;
  readonly method: "POST";
  readonly path: string;
  readonly maxBodyBytes: number;
  readonly body: z.ZodType<Body>;
  /** Returns who calls. @throws Problem 401 or 403. */
  readonly authenticate: (header: (name: string) => string | undefined) => Promise<Caller>;
  readonly answer: (call: Call<Body, Caller>) => Promise<object>;
  /** The body of an error. */
  readonly describe: (problem: Problem, requestId: string) => object;
}

interface Field {
  readonly field: string;
  readonly message: string;
}

/** A failure that the caller may see. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: readonly Field[];
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    { fields = [], retryAfterSeconds }: { fields?: readonly Field[]; retryAfterSeconds?: number } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = fields;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export const invalid = ({ issues }: Pick<z.ZodError, "issues">): Problem => {
  const fields = issues.map(({ path, message }) => ({ field: path.join(".") || "body", message }));
  return new Problem(400, "invalid_request", fields[0]?.message ?? "The body is not valid", { fields });
};

/** Returns the problem behind any error that a shell caught: a framework's own has a status. */
export const toProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  const { status, statusCode = status } = error as { status?: unknown; statusCode?: unknown };
  if (statusCode === 413) return new Problem(413, "payload_too_large", "The body is too large");
  if (statusCode === 404) return new Problem(404, "not_found", "There is no such path");
  if (typeof statusCode === "number" && statusCode < 500)
    return new Problem(400, "invalid_request", "The body is not valid JSON");
  return new Problem(500, "internal_error", "The request failed");
};

/** Headers of every answer, besides its content type. */
export const headersOf = (requestId: string, problem?: Problem): Record<string, string> => ({
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-request-id": requestId,
  ...(problem?.retryAfterSeconds !== undefined && { "retry-after": String(problem.retryAfterSeconds) }),
});

export const contentType = "application/json; charset=utf-8";

export const describePlainly = ({ code, message, fields }: Problem, requestId: string): object => ({
  status: "error",
  code,
  message,
  ...(fields.length > 0 && { errors: fields }),
  request_id: requestId,
});

/** What is logged of each request; never the input. */
export const lineOf = (fn: string, requestId: string, status: number, startedAt: number) => ({
  fn,
  request_id: requestId,
  status,
  ms: Math.round(performance.now() - startedAt),
});

/** Writes one JSON object per line. */
export const log = (message: string, fields: object): void => {
  process.stdout.write(
    `${JSON.stringify({ time: new Date().toISOString(), level: "info", message, ...fields })}\n`,
  );
};
