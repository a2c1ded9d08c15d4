import { generateMessageIDV2 } from "baileys";
import type postgres from "postgres";
import { badRequest } from "#lib/faults/invalid-input.ts";
import type { Accepted, Submission } from "#lib/messaging/submission.ts";
import { digestClaim, getAllFirst, getFirst, releaseClaim, takeClaim } from "../outbox/idempotency.ts";
import { type MediaInfo, storeMedia } from "../outbox/media.ts";
import { findState } from "../outbox/state.ts";
import { type NewMessage, storeOnce } from "../outbox/store.ts";

/** The media of a submission, before it is stored. */
export interface Source extends MediaInfo {
  readonly body: AsyncIterable<Uint8Array>;
}

export interface AcceptanceOptions {
  readonly sql: postgres.Sql;
  /** Stores a message; when it resolves the message outlives any crash. */
  readonly store: (message: NewMessage) => Promise<Date>;
  /** Downloads, checks and compresses the media of an image or a file. @throws Fault for one that cannot be sent. */
  readonly fetchMedia: (submission: Submission, inline: Uint8Array | undefined) => Promise<Source>;
  /** Says that there is something to send. */
  readonly notify: () => void;
}

const check = ({ kind, text, url }: Submission, inline: Uint8Array | undefined) => {
  if (kind === "text" && !text) throw badRequest("A text message needs its text");
  const sources = (url === undefined ? 0 : 1) + (inline === undefined ? 0 : 1);
  if (sources !== (kind === "text" ? 0 : 1))
    throw badRequest(
      kind === "text" ? "A text message has no media" : "Send either the media or its address, not both",
    );
};

/**
 * Takes a message over: once this resolves it is in the database, with its media, and will be sent.
 *
 * @throws Fault 400, 409, 413, 422; nothing of the message is kept then.
 */
export const accept = async (
  options: AcceptanceOptions,
  submission: Submission,
  inline: Uint8Array | undefined,
): Promise<Accepted> => {
  check(submission, inline);
  const { accepted, isNew } =
    submission.kind === "text"
      ? await acceptText(options, submission)
      : await acceptMedia(options, submission, inline);
  if (isNew) options.notify();
  return accepted;
};

/**
 * Takes texts over that each have a key, all in one commit. A key that is known stands for its first message.
 *
 * @returns the ids in the order of the submissions.
 * @throws Fault 409 while another request with one of the keys is under way.
 */
export const acceptBatch = async (
  { sql, notify }: Pick<AcceptanceOptions, "sql" | "notify">,
  submissions: readonly Submission[],
): Promise<string[]> => {
  const messages = submissions.map((submission) => ({
    ...{ id: generateMessageIDV2(), submission, mediaId: null },
    claim: digestClaim(submission.idempotency_key ?? "", submission, undefined),
  }));
  const stored = await storeOnce(sql, messages);
  if (stored.size > 0) notify();
  const others = messages.filter(({ id }) => !stored.has(id));
  const first =
    others.length > 0
      ? await getAllFirst(
          sql,
          others.map(({ claim }) => claim),
        )
      : [];
  const known = new Map(others.map(({ id }, index) => [id, first[index] ?? id]));
  return messages.map(({ id }) => known.get(id) ?? id);
};

/** What a submission is answered with. */
interface Answer {
  readonly accepted: Accepted;
  /** False where the same was accepted before, under the same key. */
  readonly isNew: boolean;
}

const answerNew = (id: string, acceptedAt: Date): Answer => ({
  accepted: { id, status: "PENDING", accepted_at: acceptedAt.toISOString() },
  isNew: true,
});

/** Claim and message go in one statement: a task that is killed leaves no claim that refuses the repetition. */
const acceptText = async ({ sql, store }: AcceptanceOptions, submission: Submission): Promise<Answer> => {
  const message = { id: generateMessageIDV2(), submission, mediaId: null };
  const { idempotency_key: key } = submission;
  if (key === undefined) return answerNew(message.id, await store(message));
  const claim = digestClaim(key, submission, undefined);
  const acceptedAt = (await storeOnce(sql, [{ ...message, claim }])).get(message.id);
  return acceptedAt ? answerNew(message.id, acceptedAt) : answerAgain(sql, await getFirst(sql, claim));
};

/** The media may take long to come: the claim is there for all to see meanwhile. */
const acceptMedia = async (
  { sql, store, fetchMedia }: AcceptanceOptions,
  submission: Submission,
  inline: Uint8Array | undefined,
): Promise<Answer> => {
  const { idempotency_key: key } = submission;
  const claim = key === undefined ? undefined : digestClaim(key, submission, inline);
  if (claim && !(await takeClaim(sql, claim))) return answerAgain(sql, await getFirst(sql, claim));
  try {
    const mediaId = await keepMedia(sql, await fetchMedia(submission, inline));
    const id = generateMessageIDV2();
    return answerNew(id, await store({ id, submission, mediaId, keyDigest: claim?.keyDigest }));
  } catch (error) {
    if (claim) await releaseClaim(sql, claim).catch(() => {});
    throw error;
  }
};

const keepMedia = async (sql: postgres.Sql, { body, ...info }: Source): Promise<number> =>
  (await storeMedia(sql, info, body)).id;

/** The same answer as the first time: what became of the message since is asked for elsewhere. */
const answerAgain = async (sql: postgres.Sql, id: string): Promise<Answer> => {
  const state = await findState(sql, id);
  if (!state) throw new Error("a claimed key has lost its message");
  return { accepted: { id, status: "PENDING", accepted_at: state.accepted_at }, isNew: false };
};
