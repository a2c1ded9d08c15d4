import type { Dispatcher } from "undici";
import { errorCode } from "../channels/channel.ts";
import type { Failure } from "./event.ts";

/** From the lookup of the address to the end of the answer. */
const timeoutMs = 10_000;
const maxRetryAfterDigits = 6;

/** Undefined if the address has accepted the event. */
export type Outcome = (Failure & { readonly reason: string }) | undefined;

const readRetryAfter = (value: unknown): number | undefined =>
  typeof value === "string" && new RegExp(`^\\d{1,${maxRetryAfterDigits}}$`).test(value)
    ? Number(value)
    : undefined;

/** What a receiver says about one event; any other status, such as 401 or 404, would be that of all others too. */
const ofEvent: readonly number[] = [400, 409, 413, 422];

/**
 * Sends a callback once. Redirects are not followed: the signature is for one address.
 *
 * @returns undefined if the address has accepted it, with any status from 200 to 299.
 */
export const post = async (
  dispatcher: Dispatcher,
  url: string,
  signature: Readonly<Record<string, string>>,
  body: string,
): Promise<Outcome> => {
  const own = { "content-type": "application/json", "user-agent": "municipal-messaging-gateway/1.0" };
  const { origin, pathname, search } = new URL(url);
  try {
    const answer = await dispatcher.request({
      ...{ method: "POST", origin, path: pathname + search, headers: { ...signature, ...own }, body },
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { statusCode: status, headers } = answer;
    await answer.body.dump({ limit: 64 * 1024 });
    if (status >= 200 && status < 300) return undefined;
    const retryAfterSeconds = readRetryAfter(headers["retry-after"]);
    return { status, isOfAddress: !ofEvent.includes(status), retryAfterSeconds, reason: `status ${status}` };
  } catch (error) {
    // its message may contain the address
    return { isOfAddress: true, reason: (error instanceof Error && errorCode(error)) || "no answer" };
  }
};
