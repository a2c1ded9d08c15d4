/** An input that is invalid: where it stands and how to correct it. */
export interface FieldError {
  field: string;
  message: string;
}

/** What the caller of a request that failed gets: a row of `table.ts`. */
export interface ErrorRow {
  readonly status: number;
  /** In lower case; each envelope spells it in its own way. */
  readonly code: string;
  /** What is wrong, then what to do. */
  readonly message: string;
  /** When a retry may succeed. */
  readonly retryAfterSeconds?: number | undefined;
}

interface ApiErrorOptions extends ErrorOptions {
  errors?: readonly FieldError[];
}

/** A failure the caller may see. Anything else that is thrown is a 500 that says nothing. */
export class ApiError extends Error implements ErrorRow {
  override readonly name = "ApiError";
  declare readonly status: number;
  declare readonly code: string;
  declare readonly retryAfterSeconds: number | undefined;
  readonly errors: readonly FieldError[];

  constructor(row: ErrorRow, { errors = [], ...options }: ApiErrorOptions = {}) {
    super(row.message, options);
    Object.assign(this, row);
    this.errors = errors;
  }
}
