import * as z from "zod/mini";
import { getSetting } from "#lib/config.ts";
import { ApiError } from "#lib/errors/api-error.ts";
import { oldSystemFailed, oldSystemSlow } from "#lib/errors/table.ts";
import { type Answer, httpClient, NoAnswer } from "#lib/http-client.ts";
import type { LegacySystem } from "#lib/routes/route.ts";

/** Callers wait at most 10 s. */
const defaultTimeoutMs = 8_000;
/** Shorter for identity checks, which may first wait for the rate limit. */
export const proofTimeoutMs = 5_000;
/** A list of 20,000 employees is 3 MB; a Lambda response is limited to 6 MB. */
const send = httpClient({ connectTimeoutMs: 2_000, maxAnswerBytes: 5 * 1024 * 1024 });

/**
 * A list as PHP encodes it: an array whose keys have gaps is an object with numbers as keys, and an empty list may be
 * `{}`, `false` or null.
 */
export const listOf = <Item extends z.ZodMiniType>(item: Item) =>
  z.pipe(
    z.transform((value: unknown) => {
      if (value === null || value === false) return [];
      const isNumbered =
        typeof value === "object" &&
        !Array.isArray(value) &&
        Object.keys(value).every((key) => /^\d+$/.test(key));
      return isNumbered ? Object.values(value) : value;
    }),
    z.array(item),
  );

interface Question {
  readonly method: "GET" | "POST";
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  /** Total time for connecting, sending and reading. */
  readonly timeoutMs?: number;
}

const encode = (form: Readonly<Record<string, string>>) => ({
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(form).toString(),
});

/** Makes the 502 for an invalid response of a legacy system; the reason is only logged. */
export const invalidResponse = (system: LegacySystem, reason: string): ApiError =>
  new ApiError(oldSystemFailed, { cause: new Error(`${system} gave an invalid response: ${reason}`) });

/**
 * Sends a request to a legacy system.
 *
 * @throws ApiError 504 when the system does not respond in time (8 s by default), or the connection takes over 2 s.
 * @throws ApiError 502 when it is unreachable, breaks the connection, or sends more than 5 MB.
 */
export const sendRequest = async (
  system: LegacySystem,
  { form, timeoutMs, ...question }: Question,
): Promise<Answer> => {
  const whole = { ...question, url: getSetting(system), ...(form && encode(form)) };
  return send(whole, timeoutMs ?? defaultTimeoutMs).catch((error: unknown) => {
    if (!(error instanceof NoAnswer)) throw error;
    if (!error.timedOut) throw invalidResponse(system, error.message);
    throw new ApiError(oldSystemSlow, { cause: new Error(`${system} timed out`) });
  });
};
