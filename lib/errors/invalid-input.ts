import { ApiError, type FieldError } from "./api-error.ts";
import { invalidRequest } from "./table.ts";

/** 400 for a request that is wrong as a whole. */
export const badRequest = (message: string, options?: ErrorOptions): ApiError =>
  new ApiError(invalidRequest(message), options);

/** 400 for one or more fields. The message is the first one's; `errors` has them all. */
export const invalidFields = (
  errors: readonly [FieldError, ...FieldError[]],
  row = invalidRequest(errors[0].message),
): ApiError => new ApiError(row, { errors });

export const invalidField = (field: string, message: string): ApiError => invalidFields([{ field, message }]);

export const repeatedField = (field: string): ApiError =>
  invalidFields([{ field, message: `${field} must be given once, not repeated` }]);
