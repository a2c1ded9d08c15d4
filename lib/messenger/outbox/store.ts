import type postgres from "postgres";
import { cityPool, priorities, type Submission } from "#lib/messaging/submission.ts";
import { toKnownDuration } from "#lib/messaging/times.ts";
import { type Claim, type HeldKey, isFree } from "./idempotency.ts";
import type { Content } from "./message.ts";

export interface NewMessage {
  readonly id: string;
  readonly submission: Submission;
  readonly mediaId: number | null;
  /** The encrypted text as base64, to be stored instead of the text. */
  readonly sealedText?: string | undefined;
  /** The Idempotency-Key that was claimed for it before. */
  readonly heldKey?: HeldKey | undefined;
}

const contentOf = ({ submission, sealedText }: NewMessage): Content => {
  const { kind, text, compress, view_once, is_forwarded, duration_seconds, reply_to } = submission;
  const known = duration_seconds === undefined ? undefined : toKnownDuration(duration_seconds);
  const shown = {
    ...{ view_once, is_forwarded, duration_seconds: known, reply_to },
    ...(kind === "image" && compress && { compress }),
  };
  return sealedText === undefined ? { text, ...shown } : { sealed: sealedText, ...shown };
};

/** Passes messages to SQL as rows, each with its Idempotency-Key. */
const toRows = (sql: postgres.ISql, messages: readonly (NewMessage & { readonly claim?: Claim })[]) => {
  const given = messages.map((message, n) => {
    const { id, submission, mediaId, heldKey, claim } = message;
    return {
      n,
      id,
      sender: submission.sender,
      kind: submission.kind,
      phone: submission.phone,
      content: contentOf(message),
      media_id: mediaId,
      // of the text; that of a one-time code is not in the content
      bytes: Buffer.byteLength(submission.text ?? ""),
      priority: priorities[submission.class],
      seconds: submission.expires_in_seconds,
      send_at: submission.send_at,
      quiet_hours: submission.quiet_hours,
      run: submission.run,
      key: (claim ?? heldKey)?.keyDigest.toString("hex"),
      since: heldKey?.since,
      payload: claim?.payloadDigest.toString("hex"),
    };
  });
  return sql`
    select * from jsonb_to_recordset(${JSON.stringify(given)}::text::jsonb) as g (
      n integer, id text, sender text, kind text, phone text, content jsonb, media_id bigint, bytes bigint,
      priority smallint, seconds integer, send_at timestamptz, quiet_hours jsonb, run uuid, key text, since timestamptz,
      payload text)`;
};

/**
 * Stores the rows, and counts them for the quotas of their senders: in slots, because two acceptances that count in one row
 * wait for each other's commit.
 *
 * @param from has the rows of `given`.
 */
const insertRows = (sql: postgres.ISql, from: postgres.Fragment) => sql`
  stored as (
    insert into messaging.message
      (id, sender, kind, phone, content, media_id, priority, expires_at, quiet_hours, run, not_before, due_at, held_until, pool,
        account)
    select id, sender, kind, phone, content, media_id, priority, due + seconds * interval '1 second', quiet_hours, run,
      start, start, case when start > now() then start end, pool, (
        select r.account from messaging.route r
        where r.pool = given.pool and r.phone = given.phone and messaging.can_send(r.account))
    from (
      select *, greatest(now(), send_at) as due, coalesce((
        select s.pool from messaging.sender s where s.name = substring(sender from '^api:(.*)$')), ${cityPool}) as pool
      from ${from}) given
    cross join lateral (select coalesce(messaging.quiet_until(quiet_hours, due), due) as start) waiting order by n
    returning id, accepted_at
  ), counted as (
    insert into messaging.sender_day as total (sender, day, slot, messages, bytes)
    select given.sender, messaging.today(), pg_backend_pid() % 16, count(*), sum(given.bytes + coalesce(size_bytes, 0))
    from stored join given using (id) left join messaging.media m on m.id = given.media_id
    -- sorted, so that two statements with senders in common do not deadlock
    group by given.sender order by given.sender
    on conflict (sender, day, slot) do update
    set messages = total.messages + excluded.messages, bytes = total.bytes + excluded.bytes
  )
  select id, accepted_at as "acceptedAt" from stored`;

type Stored = { id: string; acceptedAt: Date };
const timesById = (rows: readonly Stored[]) => new Map(rows.map(({ id, acceptedAt }) => [id, acceptedAt]));

/**
 * Stores messages in order and in one commit; once this resolves they survive a crash.
 *
 * @returns the time of acceptance by message id; messages whose key another request has claimed since are missing.
 */
export const storeMessages = async (
  sql: postgres.ISql,
  messages: readonly NewMessage[],
): Promise<Map<string, Date>> => {
  const rows = await sql<Stored[]>`
    with given as materialized (${toRows(sql, messages)}), answered as (
      update messaging.idempotency held set message_id = given.id from given
      where held.key_digest = decode(given.key, 'hex') and held.created_at = given.since and held.message_id is null
      returning given.id
    ), ${insertRows(sql, sql`given where key is null or id in (select id from answered)`)}`;
  return timesById(rows);
};

export interface ClaimedMessage extends NewMessage {
  readonly claim: Claim;
}

/**
 * Stores the messages whose keys are not in use, each with its claim, in one commit.
 *
 * @param messages with distinct keys.
 * @returns the time of acceptance by message id; messages whose key is in use are missing.
 */
export const storeOnce = async (
  sql: postgres.Sql,
  messages: readonly ClaimedMessage[],
): Promise<Map<string, Date>> => {
  const rows = await sql<Stored[]>`
    with given as materialized (${toRows(sql, messages)}), claimed as (
      insert into messaging.idempotency as held (key_digest, payload_digest, message_id)
      -- sorted, so that two statements with keys in common do not deadlock
      select decode(key, 'hex'), decode(payload, 'hex'), id from given order by key
      on conflict (key_digest) do update
      set payload_digest = excluded.payload_digest, message_id = excluded.message_id, created_at = now()
      where ${isFree(sql)}
      returning message_id
    ), ${insertRows(sql, sql`given join claimed on claimed.message_id = given.id`)}`;
  return timesById(rows);
};
