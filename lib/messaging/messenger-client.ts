import type * as z from "zod/mini";
import { cached, prepare } from "#lib/cached.ts";
import { getSetting } from "#lib/config.ts";
import { Fault } from "#lib/faults/fault.ts";
import { messengerAway, notAccepted, outcomeUnknown } from "#lib/faults/table.ts";
import { type Answer, httpClient, NoAnswer, type Question } from "#lib/http-client.ts";
import { log } from "#lib/log.ts";
import { messengerTokenSchema } from "#lib/secrets/schemas.ts";
import { readSecret } from "#lib/secrets/secret.ts";
import { Accepted, AcceptedBatch, MessageState, Refused, type Submission } from "./submission.ts";

/** The task stands in the same network: what does not answer a connection at once is not there. */
const send = httpClient({ connectTimeoutMs: 1_000, maxAnswerBytes: 64 * 1024 });
const totalTimeoutMs = 8_000;
/** It fetches what an address leads to before it answers; API Gateway gives up after 29 s. */
const downloadTimeoutMs = 25_000;
/** Where a 503 of the task does not say. */
const retryAfterSeconds = 5;
/** The token that was before the last rotation is accepted longer than this. */
const tokenMaxAgeMs = 300_000;

const token = cached("the messenger's token", tokenMaxAgeMs, async () =>
  readSecret(getSetting("MESSENGER_TOKEN_SECRET_ID"), messengerTokenSchema()),
);

/** A submission before the defaults are filled in, which the task does. */
export type Draft = z.input<typeof Submission>;

/** For the log: what went wrong with the task, never what was handed over. */
const note = (reason: string) => log.warn("messenger request failed", { reason });

/** Of these the caller hears nothing: 401 and 403 are between us and the task, 500 is not what it meant to say. */
const internal = [401, 403, 500];

/** What the task says against it, where it does so in the agreed words: then it has kept nothing of it. */
const findRefusal = ({ status, json }: Answer): Fault | undefined => {
  const refused = Refused.safeParse(json);
  if (status < 400 || internal.includes(status) || !refused.success) return undefined;
  const { code, message, retry_after_seconds } = refused.data;
  const seconds = retry_after_seconds ?? (status === 503 ? retryAfterSeconds : undefined);
  return new Fault({ status, code, message, retryAfterSeconds: seconds });
};

/** The messenger's address and the token that it accepts. */
export interface MessengerAccess {
  readonly url: string;
  readonly token: string;
}
type FindAccess = () => Promise<MessengerAccess>;

const findConfigured: FindAccess = async () => ({
  url: getSetting("MESSENGER_URL"),
  token: (await token.get()).token,
});

const bearer = ({ token: text }: MessengerAccess) => ({ authorization: `Bearer ${text}` });

const encode = (draft: Draft, content: Buffer | undefined) => {
  const json = JSON.stringify(draft);
  if (!content) return { headers: { "content-type": "application/json" }, body: json };
  const submission = Buffer.from(json).toString("base64url");
  return {
    headers: { "content-type": "application/octet-stream", "x-submission": submission },
    body: content,
  };
};

/** Asks the task to take something, once. @throws Fault as `submit` does. */
const handOver = async <T>(
  question: Question,
  timeoutMs: number,
  reply: z.ZodMiniType<T>,
  { idempotency_key }: Pick<Draft, "idempotency_key">,
): Promise<T> => {
  const unknown = outcomeUnknown(idempotency_key !== undefined);
  const answer = await send(question, timeoutMs).catch((error: unknown) => {
    if (!(error instanceof NoAnswer)) throw error;
    note(error.message);
    throw new Fault(error.unsent ? notAccepted : unknown);
  });
  const accepted = reply.safeParse(answer.json);
  if (answer.status === 201 && accepted.success) return accepted.data;
  const refusal = findRefusal(answer);
  if (refusal) throw refusal;
  note(`status ${answer.status}, neither accepted nor refused`);
  throw new Fault(answer.status >= 400 && answer.status < 500 ? notAccepted : unknown);
};

/**
 * Hands a message over to the messenger, once.
 *
 * @param content the bytes of an image or a file that was uploaded.
 * @throws Fault 503 that says whether the message may have been accepted; or what the task refused it with.
 */
export const submit = async (
  draft: Draft,
  content?: Buffer,
  findTarget: FindAccess = findConfigured,
): Promise<Accepted> => {
  const { headers, body } = encode(draft, content);
  const access = await findTarget();
  const question: Question = {
    method: "POST",
    url: access.url,
    path: "/messages",
    headers: { ...headers, ...bearer(access) },
    body,
  };
  const timeoutMs = draft.url === undefined ? totalTimeoutMs : downloadTimeoutMs;
  return handOver(question, timeoutMs, Accepted, draft);
};

/**
 * Hands texts over together, each with a key of its own: all of them or none. One whose key is known is not
 * taken again, whatever it says now.
 *
 * @returns the message ids in the same order.
 * @throws Fault as `submit` does.
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
    headers: { "content-type": "application/json", ...bearer(access) },
    body: JSON.stringify({ submissions }),
  };
  const { ids } = await handOver(question, totalTimeoutMs, AcceptedBatch, { idempotency_key: "each" });
  return ids;
};

/** What became of a message, or undefined where the task knows none by this id. @throws Fault 503 */
export const findMessage = async (id: string): Promise<MessageState | undefined> => {
  const access = await findConfigured();
  const question: Question = {
    method: "GET",
    url: access.url,
    path: `/messages/${encodeURIComponent(id)}`,
    headers: bearer(access),
  };
  const answer = await send(question, totalTimeoutMs).catch((error: unknown) => {
    if (!(error instanceof NoAnswer)) throw error;
    note(error.message);
    throw new Fault(messengerAway);
  });
  const state = MessageState.safeParse(answer.json);
  if (answer.status === 200 && state.success) return state.data;
  const refusal = findRefusal(answer);
  if (refusal?.status === 404) return undefined;
  if (refusal) throw refusal;
  note(`status ${answer.status}, no state of a message`);
  throw new Fault(messengerAway);
};

/** Starts the fetch of the internal token while the module loads; a failure shows at the first use. */
export const prepareMessenger = (): void => prepare(token);
