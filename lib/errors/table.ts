import type { ErrorRow } from "./api-error.ts";

/*
 * Every way in which a client's request can fail. Functions and the messenger throw these rows, the gateway
 * answers with them, and `lib/openapi/words/errors.ts` explains each of them, by its name here.
 *
 * The helpers are marked as free of side effects, so that a bundle contains only the rows that it uses.
 */
export type ErrorName = keyof typeof import("./table.ts");

/* @__NO_SIDE_EFFECTS__ */
const row = (status: number, code: string, message: string): ErrorRow => ({ status, code, message });
/* @__NO_SIDE_EFFECTS__ */
const unauthorized = (message: string) => row(401, "unauthorized", message);
/* @__NO_SIDE_EFFECTS__ */
const retryable = (status: number, code: string, message: string, retryAfterSeconds: number): ErrorRow => ({
  ...row(status, code, message),
  retryAfterSeconds,
});
/* @__NO_SIDE_EFFECTS__ */
const tooMany = (message: string, retryAfterSeconds: number) =>
  retryable(429, "too_many_requests", message, retryAfterSeconds);
/* @__NO_SIDE_EFFECTS__ */
const unavailable = (message: string) => retryable(503, "session_unavailable", message, 5);

export const invalidRequest = (message: string) => row(400, "invalid_request", message);
export const spentToken = row(
  400,
  "invalid_grant",
  "The refresh token is unknown, expired or already used. Log in again.",
);
export const otherGrant = row(
  400,
  "unsupported_grant_type",
  "grant_type must be refresh_token. No other grant is supported.",
);
export const unreadable = row(
  400,
  "request_refused",
  "The gateway cannot read this request. Send it with a standard HTTP client.",
);

export const noKey = unauthorized("No active API key. Send it in the header apikey.");
export const noToken = unauthorized("No valid access token. Send it in Authorization: Bearer.");
export const expiredToken = unauthorized("The access token has expired. Refresh it, or log in again.");
export const noCredentials = unauthorized(
  "No valid credentials. Send the base64 of username:password in Authorization: Basic.",
);
export const wrongSignature = unauthorized(
  "The signature in X-Hub-Signature-256 is missing or wrong. Sign the body's bytes with the app secret.",
);
export const noReportToken = unauthorized(
  "The token is wrong, or the account gets no reports. Send the token of the account's settings.",
);
export const wrongLogin = unauthorized("Username or password is wrong. Check both and log in again.");

export const noScope = (scope: string) =>
  row(403, "forbidden", `The scope ${scope} is missing. Ask the operator for it.`);
export const noAccess = row(403, "forbidden", "These credentials give no access. Ask the operator for it.");
export const nameNotAgreed = row(
  403,
  "forbidden",
  "The agreement of this key does not have the field nama, so it cannot search by name. Search by p_nik alone, or ask the operator for the field.",
);
export const classNotAllowed = (classes: readonly string[]) =>
  row(
    403,
    "class_not_allowed",
    `This sender may send only the classes ${classes.join(", ")}. Use one of them, or ask the operator for another.`,
  );
export const firewall = row(
  403,
  "forbidden",
  "The firewall blocked this request. If that is a mistake, send the request ID to the operator.",
);
export const optedOut = row(
  403,
  "opted_out",
  "This number has opted out of reminders and bulk messages. Transactional messages still reach it.",
);
export const ticketRefused = row(
  403,
  "ticket_refused",
  "The employee system rejected this NIP and passphrase. Correct them and try again.",
);

export const noEndpoint = (hint: string) =>
  row(404, "not_found", `No endpoint matches this path and method. ${hint}`);
export const noGuide = row(404, "not_found", "No guide has this name. Look it up at /docs.");
export const ticketNotFound = row(404, "ticket_not_found", "Unknown or expired ticket. Get a new one.");
export const messageNotFound = row(
  404,
  "message_not_found",
  "No message has this ID. Use the ID from the response to the send request.",
);

export const notWaiting = row(
  409,
  "not_waiting",
  "The message no longer waits, so it cannot be cancelled: it is being sent, may have been sent, or has ended. Read its state.",
);

export const keyInUse = retryable(
  409,
  "idempotency_key_in_use",
  "The first request with this Idempotency-Key is still in progress. Try again in a moment.",
  1,
);

export const bodyTooLarge = (maxBytes: number) =>
  row(413, "payload_too_large", `The body is larger than ${maxBytes} bytes. Send less data.`);
/** For forms and files. */
export const uploadTooLarge = (message: string) => row(413, "payload_too_large", message);
/** Answered by the gateway before the function is called. */
export const requestTooLarge = (takesFiles: boolean) =>
  row(
    413,
    "payload_too_large",
    `The request is too large. ${takesFiles ? "Send the file's URL in file_url or image_url instead." : "Send less data."}`,
  );

export const keyReused = row(
  422,
  "idempotency_key_reused",
  "This Idempotency-Key was used for another message. Use a new key for each message.",
);

export const tooManyAttempts = (retryAfterSeconds: number) =>
  tooMany(`Too many attempts. Try again in ${retryAfterSeconds} seconds.`, retryAfterSeconds);
export const throttled = tooMany("Too many requests at once. Try again in a second.", 1);
export const tooManyUnknownNumbers = (retryAfterSeconds: number) =>
  tooMany(
    `Too many searches today for numbers that do not exist. Check the source of the numbers. Searches by number work again when fewer than 200 in the last 24 hours had no result, in ${retryAfterSeconds} seconds.`,
    retryAfterSeconds,
  );
export const tooManyFailedVerifications = (retryAfterSeconds: number) =>
  tooMany(
    `Too many verifications with wrong values in the last 24 hours, of this number or by your agency. Check the values with the citizen, and try again in ${retryAfterSeconds} seconds.`,
    retryAfterSeconds,
  );
/** @param retryAfterSeconds undefined for a page with more residents than the whole agreement. */
export const tooManyResidents = (left: number, retryAfterSeconds?: number): ErrorRow => {
  const refusal =
    left > 0
      ? `This page has more residents than your agreement leaves in 24 hours: ${left}. Send page_size ${left} or less,`
      : "In the last 24 hours, your agency has read as many residents as its agreement allows.";
  const again = retryAfterSeconds && `${left > 0 ? "try" : "Try"} again in ${retryAfterSeconds} seconds,`;
  const message = [refusal, again, "or ask the operator for a higher limit."].filter(Boolean).join(" ");
  return { ...row(429, "too_many_requests", message), ...(retryAfterSeconds && { retryAfterSeconds }) };
};
export const overQuota = tooMany(
  "The daily quota of this key is used up. Ask the operator for a larger plan.",
  3_600,
);
export const tooManyWaiting = tooMany(
  "Too many of your messages are waiting to be sent; this one was not accepted. Send it again in a minute.",
  60,
);
export const dailyQuotaReached = (retryAfterSeconds: number) =>
  retryable(
    429,
    "daily_quota_reached",
    "The daily quota of this sender is used up; the message was not accepted. Send it again after midnight, in the city's time, or ask the operator for a larger quota.",
    retryAfterSeconds,
  );
export const addressThrottled = tooMany("Too many requests from this address. Try again in a minute.", 60);

/** A 500 with this message by contract, although the mistake is the caller's. */
export const badBoundary = row(
  500,
  "bad_boundary",
  "request Content-Type has bad boundary or is not multipart/form-data",
);
export const internal = row(
  500,
  "internal_error",
  "Something went wrong on our side. Report the request ID.",
);

export const oldSystemFailed = row(502, "bad_gateway", "A legacy system failed. Try again later.");
/** Of a function that crashed, or that had no environment left: then a retry soon succeeds. */
export const serviceFailed = retryable(
  502,
  "bad_gateway",
  "The service failed or is busy. Try again in a few seconds. When you resend a message, use the same Idempotency-Key so that it is sent only once.",
  2,
);

/** Every database connection of the function's role is in use. */
export const busy = retryable(
  503,
  "temporarily_unavailable",
  "Too many requests are being served at once. Try again in a few seconds.",
  2,
);
export const unconfirmed = retryable(
  503,
  "temporarily_unavailable",
  "The legacy system cannot confirm the account at present. Try again in a minute.",
  60,
);
export const messengerAway = unavailable("The messaging service is unavailable; try again.");
export const notAccepted = unavailable(
  "The messaging service is unavailable; the message was not accepted. Send it again.",
);
export const overloaded = unavailable(
  "The messaging service is busy; the message was not accepted. Send it again in a moment.",
);
export const outcomeUnknown = (hasKey: boolean) =>
  retryable(
    503,
    "outcome_unknown",
    hasKey
      ? "It is unknown whether the message was accepted. Send it again with the same Idempotency-Key; it will be sent only once."
      : "It is unknown whether the message was accepted. Retrying may deliver it twice. Next time, send an Idempotency-Key.",
    5,
  );

export const oldSystemSlow = row(504, "timeout", "A legacy system took too long. Try again later.");
export const tookTooLong = row(504, "timeout", "The request took too long. Try again, or ask for less.");
