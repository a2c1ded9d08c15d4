import { createHmac, randomUUID } from "node:crypto";
import { Agent, type buildConnector, type Dispatcher } from "undici";
import { errorCode } from "#lib/channels/channel.ts";
import type { Failure } from "./event.ts";

/** From the lookup of the address to the end of the answer. */
const timeoutMs = 10_000;
/** A receiver cannot delay its callbacks for longer. */
const maxRetryAfterSeconds = 3_600;

/** Undefined if the address has accepted the event. */
export type Outcome = (Failure & { readonly reason: string }) | undefined;

/** The forms of a date in HTTP (RFC 9110, 5.6.7). */
const httpDate = /^(\w{3}, \d\d \w{3} \d{4}|\w{6,9}, \d\d-\w{3}-\d\d) [\d:]{8} GMT$/;
const asctimeDate = /^\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}$/;

const readDate = (text: string): number => {
  if (httpDate.test(text)) return Date.parse(text);
  return asctimeDate.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
};

/** Reads seconds or a date (RFC 9110, 10.2.3). @returns 0 for a date in the past, undefined for anything else. */
export const readRetryAfter = (value: unknown, now: number): number | undefined => {
  if (typeof value !== "string") return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((readDate(value) - now) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), maxRetryAfterSeconds);
};

/** What a receiver says about one event; any other status, such as 401 or 404, would be that of all others too. */
const ofEvent: readonly number[] = [400, 409, 413, 422];

type Answer =
  | { readonly status: number; readonly retryAfterSeconds: number | undefined }
  | { readonly reason: string };

type Signature = Readonly<Record<string, string>>;

/** Redirects are not followed: the signature is for one address. */
const ask = async (
  dispatcher: Dispatcher,
  url: string,
  signature: Signature,
  body: string,
): Promise<Answer> => {
  const own = { "content-type": "application/json", "user-agent": "municipal-messaging-gateway/1.0" };
  const { origin, pathname, search } = new URL(url);
  try {
    const { statusCode, headers, ...answer } = await dispatcher.request({
      ...{ method: "POST", origin, path: pathname + search, headers: { ...signature, ...own }, body },
      signal: AbortSignal.timeout(timeoutMs),
    });
    await answer.body.dump({ limit: 64 * 1024 });
    return { status: statusCode, retryAfterSeconds: readRetryAfter(headers["retry-after"], Date.now()) };
  } catch (error) {
    // its message may contain the address
    return { reason: (error instanceof Error && errorCode(error)) || "no answer" };
  }
};

export const isAccepted = (status: number): boolean => status >= 200 && status < 300;
export const isRedirect = (status: number): boolean => status >= 300 && status < 400;

/**
 * Sends a callback once.
 *
 * @returns undefined if the address has accepted it, with any status from 200 to 299.
 */
export const post = async (...call: Parameters<typeof ask>): Promise<Outcome> => {
  const answer = await ask(...call);
  if ("reason" in answer) return { isOfAddress: true, ...answer };
  const { status } = answer;
  if (isAccepted(status)) return undefined;
  return { ...answer, isOfAddress: !ofEvent.includes(status), reason: `status ${status}` };
};

export interface Trial {
  /** Undefined without an answer. */
  readonly status: number | undefined;
  /** Why there was no answer. */
  readonly reason: string | undefined;
  readonly ms: number;
}

/** Sends an event of the type `test` now, signed like any other. Its message does not exist. */
export const postTest = async (
  connect: buildConnector.connector,
  url: string,
  secrets: readonly Uint8Array[],
): Promise<Trial> => {
  const now = new Date();
  const timestamp = now.toISOString();
  const data = { id: "test", status: "SENT", accepted_at: timestamp, changed_at: timestamp };
  const body = JSON.stringify({ type: "test", timestamp, data });
  const signature = sign(secrets, `evt_${randomUUID()}`, Math.floor(now.getTime() / 1_000), body);
  const agent = new Agent({ connect, allowH2: false });
  const startedAt = performance.now();
  const answer = await ask(agent, url, signature, body);
  const ms = Math.round(performance.now() - startedAt);
  await agent.destroy();
  return { status: undefined, reason: undefined, ...answer, ms };
};

const prefix = "whsec_";

/** Makes the text of a secret from its bytes. */
export const secretText = (bytes: Uint8Array): string => `${prefix}${Buffer.from(bytes).toString("base64")}`;

/** @param text as `secretText` has made it. */
export const readSecretText = (text: string): Buffer => Buffer.from(text.slice(prefix.length), "base64");

/**
 * Signs an event in the format of Standard Webhooks, with each secret.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 *
 * @param seconds Unix time of the attempt.
 * @returns the headers of the request.
 */
export const sign = (
  secrets: readonly Uint8Array[],
  id: string,
  seconds: number,
  body: string,
): Record<string, string> => ({
  "webhook-id": id,
  "webhook-timestamp": `${seconds}`,
  "webhook-signature": secrets
    .map((secret) => `v1,${createHmac("sha256", secret).update(`${id}.${seconds}.${body}`).digest("base64")}`)
    .join(" "),
});
