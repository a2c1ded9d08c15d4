import type * as z from "zod/mini";
import { cached, prepare } from "#lib/cached.ts";
import { getSetting } from "#lib/config.ts";
import { ApiError } from "#lib/errors/api-error.ts";
import { classNotAllowed, messengerAway, notAccepted, optedOut, outcomeUnknown } from "#lib/errors/table.ts";
import { type Answer, httpClient, NoAnswer, type Question } from "#lib/http-client.ts";
import { log } from "#lib/log.ts";
import { messengerTokenSchema } from "#lib/secrets/schemas.ts";
import { readSecret } from "#lib/secrets/secret.ts";
import type { ChannelEvents } from "./channel-events.ts";
import {
  Accepted,
  AcceptedBatch,
  Applied,
  MessagePage,
  type MessageQuery,
  MessageState,
  Rejected,
  type Submission,
} from "./submission.ts";

/** The task is in the same network: if it does not accept a connection at once, it is down. */
const send = httpClient({ connectTimeoutMs: 1_000, maxAnswerBytes: 128 * 1024 });
const totalTimeoutMs = 8_000;
/** The task downloads a URL before it answers; API Gateway times out after 29 s. */
const downloadTimeoutMs = 25_000;
/** For a 503 of the task without a retry hint. */
const defaultRetryAfterSeconds = 5;
/** Shorter than the time for which the task accepts the previous token after a rotation. */
const tokenMaxAgeMs = 300_000;

const token = cached("the messenger's token", tokenMaxAgeMs, async () =>
  readSecret(getSetting("MESSENGER_TOKEN_SECRET_ID"), messengerTokenSchema()),
);

/** A submission without defaults, which the task adds. */
export type Draft = z.input<typeof Submission>;

/** Logs why a request to the task failed, never its content. */
const logFailure = (reason: string, requestId: string | undefined) =>
  log.warn("messenger request failed", { request_id: requestId, reason });

/** Of the message, and not of our credentials. */
const ofMessage: readonly string[] = [classNotAllowed([]).code, optedOut.code];

/** Not passed on: 401 and other 403 concern our credentials, 500 carries no useful message. */
const isInternal = (status: number, code: string) =>
  status === 401 || status === 500 || (status === 403 && !ofMessage.includes(code));

/** Returns the error of a request that the task rejected; then it has stored nothing. */
const findRejection = ({ status, json }: Answer): ApiError | undefined => {
  const rejected = Rejected.safeParse(json);
  if (status < 400 || !rejected.success) return undefined;
  const { code, message, retry_after_seconds } = rejected.data;
  if (isInternal(status, code)) return undefined;
  const seconds = retry_after_seconds ?? (status === 503 ? defaultRetryAfterSeconds : undefined);
  return new ApiError({ status, code, message, retryAfterSeconds: seconds });
};

export interface MessengerAccess {
  readonly url: string;
  readonly token: string;
}
type FindAccess = () => Promise<MessengerAccess>;

const findConfigured: FindAccess = async () => ({
  url: getSetting("MESSENGER_URL"),
  token: (await token.get()).token,
});

/** The task logs the id, so that one id finds the lines of a request on its whole way. */
const identify = ({ token: text }: MessengerAccess, requestId?: string) => ({
  authorization: `Bearer ${text}`,
  ...(requestId !== undefined && { "x-request-id": requestId }),
});

const encode = (draft: Draft, content: Buffer | undefined) => {
  const json = JSON.stringify(draft);
  if (!content) return { headers: { "content-type": "application/json" }, body: json };
  const submission = Buffer.from(json).toString("base64url");
  return {
    headers: { "content-type": "application/octet-stream", "x-submission": submission },
    body: content,
  };
};

/** What belongs to a submission, but is not part of the message. */
interface Handover {
  /** The bytes of an uploaded image or file. */
  readonly content?: Buffer | undefined;
  /** Id of the caller's request. */
  readonly requestId?: string | undefined;
  readonly findTarget?: FindAccess;
}

/** Sends a request once, without retry. @throws ApiError as `submit` does. */
const submitOnce = async <T>(
  question: Question,
  timeoutMs: number,
  reply: z.ZodMiniType<T>,
  { idempotency_key, requestId }: Pick<Draft, "idempotency_key"> & Pick<Handover, "requestId">,
): Promise<T> => {
  const unknown = outcomeUnknown(idempotency_key !== undefined);
  const answer = await send(question, timeoutMs).catch((error: unknown) => {
    if (!(error instanceof NoAnswer)) throw error;
    logFailure(error.message, requestId);
    throw new ApiError(error.unsent ? notAccepted : unknown);
  });
  const accepted = reply.safeParse(answer.json);
  if (answer.status === 201 && accepted.success) return accepted.data;
  const rejection = findRejection(answer);
  if (rejection) throw rejection;
  logFailure(`status ${answer.status}, neither accepted nor rejected`, requestId);
  throw new ApiError(answer.status >= 400 && answer.status < 500 ? notAccepted : unknown);
};

/**
 * Submits a message to the messenger once, without retry.
 *
 * @throws ApiError 503 that says whether the message may have been accepted, or the error with which the task rejected it.
 */
export const submit = async (
  draft: Draft,
  { content, requestId, findTarget = findConfigured }: Handover = {},
): Promise<Accepted> => {
  const { headers, body } = encode(draft, content);
  const access = await findTarget();
  const question: Question = {
    method: "POST",
    url: access.url,
    path: "/messages",
    headers: { ...headers, ...identify(access, requestId) },
    body,
  };
  const timeoutMs = draft.url === undefined ? totalTimeoutMs : downloadTimeoutMs;
  return submitOnce(question, timeoutMs, Accepted, { ...draft, requestId });
};

/**
 * Submits texts with distinct idempotency keys: all are accepted or none. A text whose key is in use is not accepted
 * again, even if its content differs.
 *
 * @returns the message ids in the same order.
 * @throws ApiError as `submit` does.
 */
export const submitBatch = async (
  submissions: readonly Draft[],
  findTarget: FindAccess = findConfigured,
): Promise<string[]> => {
  const access = await findTarget();
  const question: Question = {
    method: "POST",
    url: access.url,
    path: "/messages/batch",
    headers: { "content-type": "application/json", ...identify(access) },
    body: JSON.stringify({ submissions }),
  };
  const { ids } = await submitOnce(question, totalTimeoutMs, AcceptedBatch, { idempotency_key: "each" });
  return ids;
};

/** Asks for something that may be repeated. @returns undefined for a 404. @throws ApiError 503, or the task's rejection. */
const inquire = async <T>(
  question: Pick<Question, "method" | "path" | "query" | "body">,
  reply: z.ZodMiniType<T>,
  { requestId, findTarget = findConfigured }: Pick<Handover, "requestId" | "findTarget">,
): Promise<T | undefined> => {
  const access = await findTarget();
  const type = question.body === undefined ? {} : { "content-type": "application/json" };
  const headers = { ...type, ...identify(access, requestId) };
  const whole: Question = { ...question, url: access.url, headers };
  const answer = await send(whole, totalTimeoutMs).catch((error: unknown) => {
    if (!(error instanceof NoAnswer)) throw error;
    logFailure(error.message, requestId);
    throw new ApiError(messengerAway);
  });
  const wanted = reply.safeParse(answer.json);
  if (answer.status === 200 && wanted.success) return wanted.data;
  const rejection = findRejection(answer);
  if (rejection?.status === 404) return undefined;
  if (rejection) throw rejection;
  logFailure(`status ${answer.status} without what was asked for`, requestId);
  throw new ApiError(messengerAway);
};

const pathOf = (id: string) => `/messages/${encodeURIComponent(id)}`;

/** Returns the state of a sender's message, or undefined for an unknown id. @throws ApiError 503 */
export const findMessage = (
  id: string,
  sender: string,
  requestId?: string,
): Promise<MessageState | undefined> =>
  inquire({ method: "GET", path: pathOf(id), query: { sender } }, MessageState, { requestId });

/** Lists messages of a sender. @throws ApiError 400 for an `after` that is not this sender's, 503 */
export const listMessages = async (
  { limit, ...filter }: MessageQuery,
  requestId?: string,
): Promise<MessagePage> => {
  const given = Object.entries({ ...filter, limit: String(limit) }).filter(
    ([, value]) => value !== undefined,
  );
  const query = Object.fromEntries(given) as Record<string, string>;
  const page = await inquire({ method: "GET", path: "/messages", query }, MessagePage, { requestId });
  if (!page) throw new ApiError(messengerAway);
  return page;
};

/**
 * Cancels a message that waits; undefined for an unknown id.
 *
 * @throws ApiError 409 for one that does not wait, 503; then it may be cancelled, and the request may be repeated.
 */
export const cancelMessage = (
  id: string,
  sender: string,
  requestId?: string,
): Promise<MessageState | undefined> =>
  inquire({ method: "DELETE", path: pathOf(id), query: { sender } }, MessageState, { requestId });

/** Passes on what a channel's webhook received; may be repeated. @throws ApiError 503; then the platform must repeat it. */
export const passOn = async (
  events: ChannelEvents,
  requestId?: string,
  findTarget: FindAccess = findConfigured,
): Promise<void> => {
  const question = { method: "POST", path: "/channel-events", body: JSON.stringify(events) } as const;
  // a 404 is that of a task without this endpoint: it is not deployed yet
  if (!(await inquire(question, Applied, { requestId, findTarget }))) throw new ApiError(messengerAway);
};

/** Starts fetching the internal token while the module loads; an error surfaces at first use. */
export const prepareMessenger = (): void => prepare(token);
