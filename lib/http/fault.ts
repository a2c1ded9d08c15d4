/** One input that is wrong: where it stands and how to mend it. */
export interface FieldError {
  field: string;
  message: string;
}

interface FaultOptions extends ErrorOptions {
  errors?: readonly FieldError[];
  retryAfterSeconds?: number;
}

/** A failure the caller may see. Anything else that is thrown is a 500 that says nothing. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly status: number;
  readonly code: string;
  readonly errors: readonly FieldError[];
  /** When it may be tried again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, code: string, message: string, options: FaultOptions = {}) {
    const { errors = [], retryAfterSeconds, ...rest } = options;
    super(message, rest);
    this.status = status;
    this.code = code;
    this.errors = errors;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** 400. With several wrong fields the message is the first one's; `errors` has them all. */
export const invalidRequest = (errors: readonly [FieldError, ...FieldError[]], code = "invalid_request") =>
  new Fault(400, code, errors[0].message, { errors });

export const badRequest = (message: string, options?: ErrorOptions) =>
  new Fault(400, "invalid_request", message, options);

export const unauthorized = (message: string) => new Fault(401, "unauthorized", message);

export const forbidden = (message: string) => new Fault(403, "forbidden", message);

export const payloadTooLarge = (maxBytes: number) =>
  new Fault(413, "payload_too_large", `The body is larger than the ${maxBytes} bytes that are allowed here`);

export const tooManyRequests = (message: string, retryAfterSeconds: number) =>
  new Fault(429, "too_many_requests", message, { retryAfterSeconds });

export const timedOut = () => new Fault(504, "timeout", "The request took too long; try again");

/** 500 for anything that was not meant for the caller; the cause is for the log alone. */
export const internal = (cause: unknown) =>
  new Fault(
    500,
    "internal_error",
    "Something went wrong on our side; quote the request id when you report it",
    {
      cause,
    },
  );
