import { createHash } from "node:crypto";
import type postgres from "postgres";
import { ApiError } from "#lib/errors/api-error.ts";
import { keyInUse, keyReused } from "#lib/errors/table.ts";
import type { Submission } from "#lib/messaging/submission.ts";

/** A request to be carried out once: digests of its key and its content. */
export interface Claim {
  readonly keyDigest: Buffer;
  readonly payloadDigest: Buffer;
}

/** A key that a request holds until its message is stored. */
export interface HeldKey {
  readonly keyDigest: Buffer;
  /** When it was claimed, in microseconds: another value means that another request has claimed it since. */
  readonly since: string;
}

const digest = (...parts: (string | Uint8Array)[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(String(part.length)).update(" ").update(part);
  return hash.digest();
};

/**
 * Digests a request: its key, which belongs to its sender, and its content with uploaded media, so that reuse of a key
 * for another request is detected. The key, which is not stored, is part of both: without it, a million
 * trials find the one-time code of a digest.
 */
export const digestClaim = (key: string, submission: Submission, media: Uint8Array | undefined): Claim => {
  const { idempotency_key: _, ...rest } = submission;
  return {
    keyDigest: digest(submission.sender, key),
    payloadDigest: digest(key, JSON.stringify(rest), media ?? ""),
  };
};

/** A key expires after 24 hours, or after two minutes without a message: the task that claimed it has crashed. */
export const isFree = (sql: postgres.Sql) => sql`
  held.created_at < now() - interval '24 hours'
  or (held.message_id is null and held.created_at < now() - interval '2 minutes')`;

/**
 * Claims an Idempotency-Key before its message is stored.
 *
 * @returns undefined when the key is in use.
 */
export const takeClaim = async (
  sql: postgres.Sql,
  { keyDigest, payloadDigest }: Claim,
): Promise<HeldKey | undefined> => {
  const [claimed] = await sql<{ since: string }[]>`
    insert into messaging.idempotency as held (key_digest, payload_digest) values (${keyDigest}, ${payloadDigest})
    on conflict (key_digest) do update
    set payload_digest = excluded.payload_digest, message_id = null, created_at = now()
    where ${isFree(sql)}
    returning created_at::text as since`;
  return claimed && { keyDigest, ...claimed };
};

/**
 * Gets the id of the message that a key was used for.
 *
 * @throws ApiError 422 when it was another message, 409 while the first request is in progress.
 */
export const getClaimedMessage = async (
  sql: postgres.Sql,
  { keyDigest, payloadDigest }: Claim,
): Promise<string> => {
  const [held] = await sql<{ same: boolean; messageId: string | null }[]>`
    select payload_digest = ${payloadDigest} as same, message_id as "messageId"
    from messaging.idempotency where key_digest = ${keyDigest}`;
  if (held && !held.same) throw new ApiError(keyReused);
  if (!held?.messageId) throw new ApiError(keyInUse);
  return held.messageId;
};

/**
 * Gets the ids of the messages that keys were used for, whatever their content.
 *
 * @throws ApiError 409 while the first request of one of them is in progress.
 */
export const getClaimedMessages = async (sql: postgres.Sql, claims: readonly Claim[]): Promise<string[]> => {
  const keys = claims.map(({ keyDigest }) => keyDigest.toString("hex"));
  const held = await sql<{ key: string; messageId: string | null }[]>`
    select encode(key_digest, 'hex') as key, message_id as "messageId" from messaging.idempotency
    where key_digest in (select decode(key, 'hex') from unnest(string_to_array(${keys.join()}, ',')) key)`;
  const byKey = new Map(held.map(({ key, messageId }) => [key, messageId]));
  return keys.map((key) => {
    const first = byKey.get(key);
    if (!first) throw new ApiError(keyInUse);
    return first;
  });
};

/** Releases the key of a rejected message, so that it can be used again. A key that another request holds stays. */
export const releaseClaim = async (sql: postgres.Sql, { keyDigest, since }: HeldKey): Promise<void> => {
  await sql`
    delete from messaging.idempotency
    where key_digest = ${keyDigest} and created_at = ${since}::text::timestamptz and message_id is null`;
};
