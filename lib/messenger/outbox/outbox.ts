import type postgres from "postgres";
import { type MessageState, priorities, type State, type Submission } from "#lib/messaging/submission.ts";
import { type Claim, isFree } from "../accept/idempotency.ts";
import type { Content, Outgoing } from "./message.ts";

/** After so many sends without an answer nobody knows whether it arrived: it is not sent again. */
const maxAttempts = 5;

export interface NewMessage {
  readonly id: string;
  readonly submission: Submission;
  readonly mediaId: number | null;
  /** Digest of the Idempotency-Key under which it was claimed before. */
  readonly keyDigest?: Buffer | undefined;
}

const contentOf = ({ text, view_once, is_forwarded, duration_seconds, reply_to }: Submission): Content => ({
  ...(text !== undefined && { text }),
  ...{ view_once, is_forwarded },
  ...(duration_seconds !== undefined && { duration_seconds }),
  ...(reply_to !== undefined && { reply_to }),
});

interface StateRow {
  id: string;
  state: State;
  reason: string | null;
  acceptedAt: Date;
  changedAt: Date;
}

/** Messages as rows, each with what else is to be done with it in the same statement. */
const rowsOf = (sql: postgres.Sql, messages: readonly (NewMessage & { readonly claim?: Claim })[]) => {
  const given = messages.map(({ id, submission, mediaId, keyDigest, claim }, n) => ({
    ...{ n, id, kind: submission.kind, phone: submission.phone, content: contentOf(submission) },
    ...{ media_id: mediaId, priority: priorities[submission.class] },
    ...{ seconds: submission.expires_in_seconds, quiet_hours: submission.quiet_hours, run: submission.run },
    ...{
      key: (claim?.keyDigest ?? keyDigest)?.toString("hex"),
      payload: claim?.payloadDigest.toString("hex"),
    },
  }));
  return sql`
    select * from jsonb_to_recordset(${JSON.stringify(given)}::text::jsonb) as g (
      n integer, id text, kind text, phone text, content jsonb, media_id bigint, priority smallint,
      seconds integer, quiet_hours jsonb, run uuid, key text, payload text)`;
};

/** Puts rows into the outbox. @param from where they stand, as `given` */
const insertRows = (sql: postgres.Sql, from: postgres.Fragment) => sql`
  insert into messaging.message
    (id, kind, phone, content, media_id, priority, expires_at, quiet_hours, run, not_before)
  select given.id, kind, phone, content, media_id, priority, now() + seconds * interval '1 second', quiet_hours, run,
    coalesce(messaging.quiet_until(quiet_hours, now()), now())
  from ${from} order by n`;

/**
 * Stores messages in their order, all or none; once this resolves they outlive any crash.
 *
 * @returns when they were accepted.
 */
export const storeMessages = async (sql: postgres.Sql, messages: readonly NewMessage[]): Promise<Date> => {
  const [row] = await sql<{ acceptedAt: Date; count: number }[]>`
    with given as materialized (${rowsOf(sql, messages)}), stored as (
      ${insertRows(sql, sql`given`)} returning id
    ), answered as (
      update messaging.idempotency i set message_id = given.id from given
      where given.key is not null and i.key_digest = decode(given.key, 'hex')
    )
    select now() as "acceptedAt", count(*)::int as count from stored`;
  if (row?.count !== messages.length) throw new Error("not all messages were stored");
  return row.acceptedAt;
};

/** A message with its claim on an Idempotency-Key. */
export interface ClaimedMessage extends NewMessage {
  readonly claim: Claim;
}

/**
 * Stores messages whose keys nobody has, each with its claim, all in one commit.
 *
 * @param messages with a key each of their own.
 * @returns when those that were stored were accepted, by message id; of the others somebody has the key.
 */
export const storeOnce = async (
  sql: postgres.Sql,
  messages: readonly ClaimedMessage[],
): Promise<Map<string, Date>> => {
  const rows = await sql<{ id: string; acceptedAt: Date }[]>`
    with given as materialized (${rowsOf(sql, messages)}), claimed as (
      insert into messaging.idempotency as held (key_digest, payload_digest, message_id)
      -- two that have keys in common wait for each other in one order
      select decode(key, 'hex'), decode(payload, 'hex'), id from given order by key
      on conflict (key_digest) do update
      set payload_digest = excluded.payload_digest, message_id = excluded.message_id, created_at = now()
      where ${isFree(sql)}
      returning message_id
    )
    ${insertRows(sql, sql`given join claimed on claimed.message_id = given.id`)}
    returning id, accepted_at as "acceptedAt"`;
  return new Map(rows.map(({ id, acceptedAt }) => [id, acceptedAt]));
};

/** What became of a message, or undefined for an unknown id. */
export const findState = async (sql: postgres.ISql, id: string): Promise<MessageState | undefined> => {
  const [row] = await sql<StateRow[]>`
    select id, state, reason, accepted_at as "acceptedAt", changed_at as "changedAt"
    from messaging.message where id = ${id}`;
  return (
    row && {
      id: row.id,
      status: row.state,
      ...(row.reason !== null && { reason: row.reason }),
      accepted_at: row.acceptedAt.toISOString(),
      changed_at: row.changedAt.toISOString(),
    }
  );
};

/** How the next message is to be chosen. */
export interface Choice {
  /** The leader's; nothing is taken for one that is leader no more. */
  readonly epoch: number;
  /** Numbers that must rest a while. */
  readonly resting: readonly string[];
  /** Whether numbers that were never written to may be taken. */
  readonly newContacts: boolean;
}

/**
 * Takes the next message to be sent: by priority, then in the order of acceptance. What was put back, by this
 * leader or one before, keeps its place before later messages to the same number.
 */
export const takeNext = async (sql: postgres.Sql, choice: Choice): Promise<Outgoing | undefined> => {
  const { epoch, resting, newContacts } = choice;
  const [row] = await sql<Outgoing[]>`
    with term as materialized (
      -- the next leader's term begins after this has ended, so that what it takes over holds all of it
      select from messaging.leadership where epoch = ${epoch} for share
    ), held as materialized (
      -- read once: to look for them beside each waiting message takes the square of the queue's length
      select phone, seq, priority from messaging.message
      where state = 'PENDING' and epoch is not null and not_before > now()
    )
    update messaging.message taken
    set state = 'SENDING', attempts = attempts + 1, epoch = ${epoch}, changed_at = now()
    where id = (
      select id from messaging.message waiting
      where state = 'PENDING' and not_before <= now() and expires_at > now()
        and not exists (select from messaging.control where paused)
        and phone <> all(string_to_array(${resting.join()}, ','))
        and (${newContacts} or exists (select from messaging.contact c where c.phone = waiting.phone))
        and not exists (
          select from messaging.message earlier
          where earlier.state = 'SENDING' and earlier.phone = waiting.phone and earlier.seq < waiting.seq)
        and not exists (
          select from held earlier
          where earlier.phone = waiting.phone and earlier.seq < waiting.seq
            and earlier.priority <= waiting.priority)
      -- one that is locked is waited for: to skip it would be to send a later one first
      order by priority, seq limit 1 for update)
    and exists (select from term)
    returning id, kind, phone, content, media_id as "mediaId", attempts, epoch, payload,
      messaging.quiet_until(quiet_hours, now()) as "quietUntil",
      not exists (select from messaging.contact c where c.phone = taken.phone) as "isNewContact"`;
  return row;
};

/** A message that a leader took and nobody has taken over since: whose epoch is past changes nothing any more. */
const underWay = (sql: postgres.Sql, id: string, epoch: number) =>
  sql`id = ${id} and state = 'SENDING' and epoch = ${epoch}`;

/** Keeps what goes out, so that a second send is byte for byte the first. @returns false for a leader no more. */
export const storePayload = async (
  sql: postgres.Sql,
  epoch: number,
  id: string,
  payload: Uint8Array,
): Promise<boolean> => {
  const { count } = await sql`
    update messaging.message set payload = ${payload as Buffer}
    where ${underWay(sql, id, epoch)}`;
  return count === 1;
};

export const findPayload = async (sql: postgres.Sql, id: string): Promise<Uint8Array | undefined> => {
  const [row] = await sql<{ payload: Uint8Array | null }[]>`
    select payload from messaging.message where id = ${id}`;
  return row?.payload ?? undefined;
};

/** The platform has it. A receipt may have said so before. */
export const markSent = async (sql: postgres.Sql, { id, phone }: Outgoing): Promise<void> => {
  await sql`
    with contact as (
      insert into messaging.contact (phone) values (${phone}) on conflict do nothing
    )
    update messaging.message
    set state = case state when 'SENDING' then 'SENT' else state end, sent_at = now(), changed_at = now()
    where id = ${id}`;
};

export const markFailed = async (
  sql: postgres.Sql,
  { id, epoch }: Outgoing,
  reason: string,
): Promise<void> => {
  await sql`
    update messaging.message set state = 'FAILED', reason = ${reason}, changed_at = now()
    where ${underWay(sql, id, epoch)}`;
};

/** Back in the queue, unless it was sent too often. */
const waitingAgain = (sql: postgres.Sql) => sql`
  state = case when attempts >= ${maxAttempts} then 'UNCERTAIN' else 'PENDING' end,
  reason = case when attempts >= ${maxAttempts} then 'the platform gave no answer' end`;

/**
 * Puts a message back that nobody knows to have arrived. After too many sends it is UNCERTAIN instead.
 *
 * @param delaySeconds before it may be taken again.
 */
export const putBack = async (
  sql: postgres.Sql,
  { id, epoch }: Outgoing,
  delaySeconds: number,
): Promise<void> => {
  await sql`
    update messaging.message
    set ${waitingAgain(sql)},
      not_before = now() + ${delaySeconds} * interval '1 second', changed_at = now()
    where ${underWay(sql, id, epoch)}`;
};

/** Puts a message back whose frame has not left: this send does not count. */
export const undo = async (
  sql: postgres.Sql,
  { id, epoch }: Outgoing,
  delaySeconds: number,
): Promise<void> => {
  await sql`
    update messaging.message
    set state = 'PENDING', attempts = attempts - 1,
      not_before = now() + ${delaySeconds} * interval '1 second', changed_at = now()
    where ${underWay(sql, id, epoch)}`;
};

/** Lets a message that was taken in its quiet hours wait for their end, and with it all that have the same ones. */
export const waitForQuietEnd = async (
  sql: postgres.Sql,
  { id, epoch, quietUntil }: Outgoing,
): Promise<void> => {
  await sql`
    with taken as (
      -- without an epoch, as one that was never taken: what is sent meanwhile to its number need not wait for it
      update messaging.message set state = 'PENDING', attempts = attempts - 1, epoch = null,
        not_before = ${quietUntil}, changed_at = now()
      where ${underWay(sql, id, epoch)}
      returning id, quiet_hours
    )
    update messaging.message waiting set not_before = ${quietUntil} from taken
    where waiting.state = 'PENDING' and waiting.quiet_hours = taken.quiet_hours
      and waiting.not_before < ${quietUntil} and waiting.id <> taken.id`;
};

/** Takes over what is under way though nobody sends it now. @returns how many are to be sent again. */
export const recover = async (sql: postgres.Sql, epoch: number): Promise<number> => {
  const { count } = await sql`
    update messaging.message
    set ${waitingAgain(sql)}, changed_at = now()
    where state = 'SENDING' and epoch <= ${epoch}`;
  return count;
};

/**
 * Notes what the recipient's phone reported; reports may come late and in any order. One that was put back,
 * because its leader was lost before the answer came, has arrived and is not sent again.
 */
export const applyReceipt = async (
  sql: postgres.Sql,
  id: string,
  state: "DELIVERED" | "READ",
): Promise<void> => {
  const before =
    state === "READ" ? "PENDING,SENDING,SENT,UNCERTAIN,DELIVERED" : "PENDING,SENDING,SENT,UNCERTAIN";
  await sql`
    update messaging.message set state = ${state}, reason = null, sent_at = coalesce(sent_at, now()), changed_at = now()
    where id = ${id} and state = any(string_to_array(${before}, ','))`;
};

/** Ends what came too late to be sent. @returns how many. */
export const expire = async (sql: postgres.Sql): Promise<number> => {
  const { count } = await sql`
    update messaging.message
    set state = case when attempts > 0 then 'UNCERTAIN' else 'EXPIRED' end,
      reason = 'not sent before it expired', changed_at = now()
    where state in ('PENDING', 'SENDING') and expires_at + case state when 'SENDING' then interval '5 minutes'
      else interval '0' end <= now()`;
  return count;
};
