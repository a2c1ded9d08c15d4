import type postgres from "postgres";
import { hasChangedNothing } from "#lib/db/outage.ts";
import { deadline } from "#lib/deadline.ts";
import { ApiError } from "#lib/errors/api-error.ts";
import { badRequest } from "#lib/errors/invalid-input.ts";
import { notAccepted, optedOut } from "#lib/errors/table.ts";
import { type Accepted, priorities, type Submission } from "#lib/messaging/submission.ts";
import * as idempotency from "../outbox/idempotency.ts";
import { discardMedia, type MediaInfo, storeMedia } from "../outbox/media.ts";
import { findState } from "../outbox/state.ts";
import { type NewMessage, storeOnce } from "../outbox/store.ts";
import type { Quota } from "./quota.ts";

/** The media of a submission before they are stored. */
export interface Source extends MediaInfo {
  readonly body: AsyncIterable<Uint8Array>;
}

export interface AcceptanceOptions {
  readonly sql: postgres.Sql;
  /** Makes a message id of the channel, so that the id of an accepted message is also that of its frame. */
  readonly newId: () => string;
  readonly quota: Pick<Quota, "take" | "takeBytes">;
  /** Whether a number gets no reminders and no bulk messages. */
  readonly isOptedOut: (phone: string) => Promise<boolean>;
  /** Encrypts the text of a one-time code. @returns base64 */
  readonly seal: (id: string, text: string) => string;
  /** Stores a message; once it resolves the message survives a crash. */
  readonly store: (message: NewMessage) => Promise<Date>;
  /** Downloads and checks the media of an image or a file. @throws ApiError for invalid media. */
  readonly fetchMedia: (submission: Submission, inline: Uint8Array | undefined) => Promise<Source>;
  readonly notify: () => void;
  readonly maxMediaMs?: number;
}

const requireValid = ({ kind, text, url }: Submission, inline: Uint8Array | undefined) => {
  if (kind === "text" && !text) throw badRequest("A text message needs text");
  const sources = (url === undefined ? 0 : 1) + (inline === undefined ? 0 : 1);
  if (sources !== (kind === "text" ? 0 : 1))
    throw badRequest(
      kind === "text" ? "A text message has no media" : "Send exactly one of the media and its URL",
    );
};

type MessageOptions = Pick<AcceptanceOptions, "newId" | "seal">;

const newMessage = (
  { newId, seal }: MessageOptions,
  submission: Submission,
  mediaId: number | null = null,
) => {
  const id = newId();
  const { class: messageClass, text } = submission;
  return {
    id,
    submission,
    mediaId,
    sealedText: messageClass === "one-time-code" && text ? seal(id, text) : undefined,
  };
};

/** The error of a step before the message is stored: whatever has failed, it is not accepted. */
const beforeStored = (error: unknown): unknown =>
  error instanceof ApiError || (error instanceof Error && error.name === "AbortError")
    ? error
    : new ApiError(notAccepted, { cause: error });

/** The error of storing the message: it may be stored, unless the database says otherwise. */
const whileStored = (error: unknown): unknown => (hasChangedNothing(error) ? beforeStored(error) : error);

/** @param explain makes the error to throw. */
const orThrow = <T>(work: Promise<T>, explain: (error: unknown) => unknown): Promise<T> =>
  work.catch((error: unknown) => {
    throw explain(error);
  });

/**
 * Takes room of the sender's quota, for a number that wants the message.
 *
 * @returns a function to call when the message is stored or rejected; or the first answer to a repeated request for which
 * there is no room, so that its caller need not wait.
 * @throws ApiError 403 or 429 for a new request without room.
 */
const takeRoom = async (
  { sql, quota, isOptedOut }: AcceptanceOptions,
  submission: Submission,
  inline: Uint8Array | undefined,
  claim: idempotency.Claim | undefined,
): Promise<Accepted | (() => void)> => {
  const { phone, class: messageClass, text = "" } = submission;
  try {
    if (priorities[messageClass] >= priorities.reminder && (await isOptedOut(phone)))
      throw new ApiError(optedOut);
    return await quota.take(submission, Buffer.byteLength(text) + (inline?.length ?? 0));
  } catch (error) {
    const id = claim && (await idempotency.getClaimedMessage(sql, claim).catch(() => undefined));
    if (id === undefined) throw beforeStored(error);
    return (await repeatedAnswer(sql, id)).accepted;
  }
};

/**
 * Accepts a message: once this resolves it is in the database, with its media, and will be sent.
 *
 * @param signal aborted when the caller disconnects: media whose caller got no response are not sent.
 * @throws ApiError 400, 403, 409, 413, 422, 429, 503; then nothing is stored. After any other error the message may be stored.
 */
export const accept = async (
  options: AcceptanceOptions,
  submission: Submission,
  inline: Uint8Array | undefined,
  signal?: AbortSignal,
): Promise<Accepted> => {
  requireValid(submission, inline);
  const { idempotency_key: key, kind } = submission;
  const claim = key === undefined ? undefined : idempotency.digestClaim(key, submission, inline);
  const leave = await takeRoom(options, submission, inline, claim);
  if (typeof leave !== "function") return leave;
  try {
    const { accepted, isNew } =
      kind === "text"
        ? await acceptText(options, submission, claim)
        : await acceptMedia(options, submission, inline, claim, signal);
    if (isNew) options.notify();
    return accepted;
  } finally {
    leave();
  }
};

/**
 * Accepts texts with an Idempotency-Key each, in one commit. A key that is in use yields its first message. Notification
 * jobs have no quota: one that stops halfway would leave out recipients. They leave out those who have opted out, and the
 * sender those who have since.
 *
 * @returns the ids in the order of the submissions.
 * @throws ApiError 409 while another request with one of the keys is in progress.
 */
export const acceptBatch = async (
  options: Omit<AcceptanceOptions, "store" | "fetchMedia" | "quota" | "isOptedOut">,
  submissions: readonly Submission[],
): Promise<string[]> => {
  const { sql, notify } = options;
  const messages = submissions.map((submission) => ({
    ...newMessage(options, submission),
    claim: idempotency.digestClaim(submission.idempotency_key ?? "", submission, undefined),
  }));
  const stored = await storeOnce(sql, messages);
  if (stored.size > 0) notify();
  const others = messages.filter(({ id }) => !stored.has(id));
  const first =
    others.length > 0
      ? await idempotency.getClaimedMessages(
          sql,
          others.map(({ claim }) => claim),
        )
      : [];
  const known = new Map(others.map(({ id }, index) => [id, first[index] ?? id]));
  return messages.map(({ id }) => known.get(id) ?? id);
};

interface Answer {
  readonly accepted: Accepted;
  /** False if it was accepted before, under the same key. */
  readonly isNew: boolean;
}

const newAnswer = (id: string, acceptedAt: Date): Answer => ({
  accepted: { id, status: "PENDING", accepted_at: acceptedAt.toISOString() },
  isNew: true,
});

/** Stores claim and message in one statement: a crash leaves no claim that blocks a retry. */
const acceptText = async (
  options: AcceptanceOptions,
  submission: Submission,
  claim: idempotency.Claim | undefined,
): Promise<Answer> => {
  const { sql, store } = options;
  const message = newMessage(options, submission);
  if (!claim) return newAnswer(message.id, await orThrow(store(message), whileStored));
  const stored = await orThrow(storeOnce(sql, [{ ...message, claim }]), whileStored);
  const acceptedAt = stored.get(message.id);
  return acceptedAt
    ? newAnswer(message.id, acceptedAt)
    : repeatedAnswer(sql, await idempotency.getClaimedMessage(sql, claim));
};

/** Shorter than a claim without a message is held (`idempotency.isFree`), so that slow media do not lose it. */
const defaultMaxMediaMs = 90_000;

/** Claims the key first, so that a concurrent retry is rejected while the media are being fetched. */
const acceptMedia = async (
  options: AcceptanceOptions,
  submission: Submission,
  inline: Uint8Array | undefined,
  claim: idempotency.Claim | undefined,
  signal: AbortSignal | undefined,
): Promise<Answer> => {
  const { sql, store, fetchMedia, quota, maxMediaMs = defaultMaxMediaMs } = options;
  const heldKey = claim && (await orThrow(idempotency.takeClaim(sql, claim), beforeStored));
  if (claim && !heldKey) return repeatedAnswer(sql, await idempotency.getClaimedMessage(sql, claim));
  let mediaId: number | undefined;
  const storeSource = async () => {
    const { body, ...info } = await fetchMedia(submission, inline);
    const { id, sizeBytes } = await storeMedia(sql, submission.sender, info, body);
    mediaId = id;
    if (!inline) await quota.takeBytes(submission.sender, sizeBytes);
    return id;
  };
  try {
    const stored = await orThrow(deadline(storeSource(), maxMediaMs), beforeStored);
    signal?.throwIfAborted();
    const message = newMessage(options, submission, stored);
    return newAnswer(message.id, await orThrow(store({ ...message, heldKey }), whileStored));
  } catch (error) {
    if (heldKey) await idempotency.releaseClaim(sql, heldKey).catch(() => {});
    // fails if the message was stored, which is not known when the connection broke at its commit
    if (mediaId !== undefined) await discardMedia(sql, mediaId).catch(() => {});
    throw error;
  }
};

/** Repeats the first answer, whatever the state of the message is now. */
const repeatedAnswer = async (sql: postgres.Sql, id: string): Promise<Answer> => {
  const state = await findState(sql, id);
  if (!state) throw new Error("the message of a claimed key does not exist");
  return { accepted: { id, status: "PENDING", accepted_at: state.accepted_at }, isNew: false };
};
