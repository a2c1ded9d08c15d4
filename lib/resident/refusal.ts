import { ApiError } from "#lib/errors/api-error.ts";
import { invalidField } from "#lib/errors/invalid-input.ts";
import {
  nameNotAgreed,
  tooManyFailedVerifications,
  tooManyResidents,
  tooManyUnknownNumbers,
} from "#lib/errors/table.ts";
import type { Partner } from "#lib/http/caller.ts";
import { log } from "#lib/log.ts";
import type { Purpose } from "#lib/routes/resident.ts";

/** The caller, for the audit row that the database writes with every read. */
export interface Reader extends Pick<Partner, "partnerId" | "keyId">, Purpose {
  readonly requestId: string;
}

const wrongPurpose = (codes: string) =>
  codes === ""
    ? "X-Purpose must be sent once, as a code of up to 40 letters, digits, dots, dashes and underscores without 15 digits in a row"
    : `Your agreement requires a purpose. Send X-Purpose once, as one of ${codes}`;

/** Why the database refuses a read, by SQLSTATE. */
const refusals: Readonly<Record<string, (detail: string) => ApiError>> = {
  MI400: (codes) => invalidField("x-purpose", wrongPurpose(codes)),
  MI403: () => new ApiError(nameNotAgreed),
  MI429: (detail) => new ApiError(tooManyUnknownNumbers(Number(detail))),
  MI430: (detail) => new ApiError(tooManyFailedVerifications(Number(detail))),
  MI431: (detail) => {
    const [left = 0, seconds] = detail.trim().split(" ").map(Number);
    return new ApiError(tooManyResidents(left, seconds));
  },
};

/** The lines that alarms count. */
const messages: Readonly<Record<string, string>> = {
  MI429: "too many guesses",
  MI430: "too many guesses",
  MI431: "more read than agreed",
};

/**
 * Explains to the caller why the database refuses a read.
 *
 * @throws ApiError, or the given error if it is no refusal.
 */
export const explainRefusal =
  ({ partnerId, keyId, requestId }: Reader) =>
  (error: { cause?: { code?: string; detail?: string } }): never => {
    const { code = "", detail = "" } = error.cause ?? {};
    const fault = refusals[code]?.(detail);
    if (!fault) throw error;
    const message = messages[code];
    if (message) log.warn(message, { partner_id: partnerId, key_id: keyId, request_id: requestId });
    throw fault;
  };
