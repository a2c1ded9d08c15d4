import { createHash } from "node:crypto";
import type postgres from "postgres";
import { Fault } from "#lib/faults/fault.ts";
import { keyInUse, keyReused } from "#lib/faults/table.ts";
import type { Submission } from "#lib/messaging/submission.ts";

/** A request that is to be carried out once: its key, and what it asks for. */
export interface Claim {
  readonly keyDigest: Buffer;
  readonly payloadDigest: Buffer;
}

const digest = (...parts: (string | Uint8Array)[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(String(part.length)).update(" ").update(part);
  return hash.digest();
};

/** Tells two requests with one key apart: by everything that was asked for, and the bytes that came along. */
export const digestClaim = (key: string, submission: Submission, media: Uint8Array | undefined): Claim => {
  const { idempotency_key: _, ...rest } = submission;
  return { keyDigest: digest(key), payloadDigest: digest(JSON.stringify(rest), media ?? "") };
};

/** A key is held for 24 hours; one that a task claimed and did not use for two minutes was killed with it. */
export const isFree = (sql: postgres.Sql) => sql`
  held.created_at < now() - interval '24 hours'
  or (held.message_id is null and held.created_at < now() - interval '2 minutes')`;

/**
 * Claims an Idempotency-Key, before its message is there.
 *
 * @returns false when somebody has it.
 */
export const takeClaim = async (sql: postgres.Sql, { keyDigest, payloadDigest }: Claim): Promise<boolean> => {
  const claimed = await sql`
    insert into messaging.idempotency as held (key_digest, payload_digest) values (${keyDigest}, ${payloadDigest})
    on conflict (key_digest) do update
    set payload_digest = excluded.payload_digest, message_id = null, created_at = now()
    where ${isFree(sql)}
    returning 1`;
  return claimed.length > 0;
};

/**
 * The message of a claim that somebody has.
 *
 * @throws Fault 422 when the key was used for something else, 409 while its first request is under way.
 */
export const getFirst = async (sql: postgres.Sql, { keyDigest, payloadDigest }: Claim): Promise<string> => {
  const [held] = await sql<{ same: boolean; messageId: string | null }[]>`
    select payload_digest = ${payloadDigest} as same, message_id as "messageId"
    from messaging.idempotency where key_digest = ${keyDigest}`;
  if (held && !held.same) throw new Fault(keyReused);
  if (!held?.messageId) throw new Fault(keyInUse);
  return held.messageId;
};

/**
 * The first messages of keys that somebody has, whatever they were used for.
 *
 * @throws Fault 409 while the first request of one of them is under way.
 */
export const getAllFirst = async (sql: postgres.Sql, claims: readonly Claim[]): Promise<string[]> => {
  const keys = claims.map(({ keyDigest }) => keyDigest.toString("hex"));
  const held = await sql<{ key: string; messageId: string | null }[]>`
    select encode(key_digest, 'hex') as key, message_id as "messageId" from messaging.idempotency
    where key_digest in (select decode(key, 'hex') from unnest(string_to_array(${keys.join()}, ',')) key)`;
  const byKey = new Map(held.map(({ key, messageId }) => [key, messageId]));
  return keys.map((key) => {
    const first = byKey.get(key);
    if (!first) throw new Fault(keyInUse);
    return first;
  });
};

/** Gives a key back whose message was refused: the next request with it is a first one. */
export const releaseClaim = async (sql: postgres.Sql, { keyDigest }: Claim): Promise<void> => {
  await sql`delete from messaging.idempotency where key_digest = ${keyDigest} and message_id is null`;
};
