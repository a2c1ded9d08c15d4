import type postgres from "postgres";
import type { MessageState, State } from "#lib/messaging/submission.ts";
import { describeAccount, type StateRow } from "../outbox/state.ts";

/** What callbacks say about themselves. */
export const changeType = "message.state";

/** A change of a message's state that its sender's address has not accepted yet. */
export interface Event {
  readonly seq: number;
  readonly id: string;
  readonly callbackId: number;
  readonly sender: string;
  readonly url: string;
  /** Encrypted: one, or two while they are rotated. */
  readonly secrets: readonly Uint8Array[];
  readonly attempts: number;
  /** As it was after the change. */
  readonly message: MessageState;
}

type Row = Omit<Event, "secrets" | "message"> & {
  secret: Uint8Array;
  previous: Uint8Array | null;
  messageId: string;
  status: State;
  reason: string | null;
  at: Date;
  duration: number | null;
  acceptedAt: Date;
} & Pick<StateRow, "kind" | "content" | "account" | "channel">;

/** Of one address at once; while it fails, one event shows whether it is back. */
const perCallback = 8;
/** The secrets that sign now. */
export const secretsOf = <T extends Uint8Array>({
  secret,
  previous,
}: {
  secret: T;
  previous: T | null;
}): T[] => (previous === null ? [secret] : [secret, previous]);

const toEvent = ({
  secret,
  previous,
  messageId,
  status,
  reason,
  at,
  duration,
  kind,
  content,
  account,
  channel,
  acceptedAt,
  ...event
}: Row): Event => ({
  ...event,
  secrets: secretsOf({ secret, previous }),
  message: {
    id: messageId,
    status,
    ...(reason !== null && { reason }),
    ...(duration !== null && { duration }),
    ...describeAccount({ kind, duration, content, account, channel }),
    accepted_at: acceptedAt.toISOString(),
    changed_at: at.toISOString(),
  },
});

/** Why an attempt has failed. */
export interface Failure {
  /** Undefined without an answer. */
  readonly status?: number | undefined;
  /** Whether other events to the address would fail too. */
  readonly isOfAddress: boolean;
  /** Asked for by the receiver. */
  readonly retryAfterSeconds?: number | undefined;
}

/** When attempts start. */
export interface Schedule {
  /** Within which a change is noticed. */
  readonly everyMs: number;
  /** Longer than an attempt may take: after that, another task tries an event whose task was killed. */
  readonly leaseSeconds: number;
  /** From an attempt that failed to the next one; it doubles each time. */
  readonly firstSeconds: number;
  /** Of one event. */
  readonly longestSeconds: number;
  /** Of the address. */
  readonly longestOfAddressSeconds: number;
}

const isFree = (sql: postgres.Sql, except: readonly number[]) =>
  sql`disabled_at is null and retry_at <= now() and callback.id <> all(string_to_array(${except.join()}, ',')::bigint[])`;

/** Whether there is anything to claim: an idle task writes nothing. */
const isAnyDue = async (sql: postgres.Sql, except: readonly number[]): Promise<boolean> => {
  const due = await sql`
    select from messaging.callback where ${isFree(sql, except)} and exists (
      select from messaging.callback_event
      where callback_id = callback.id and given_up_at is null and due_at <= now()) limit 1`;
  return due.count > 0;
};

/**
 * Claims events that are due: of each message only its first, so that its changes arrive in order.
 *
 * @param except callbacks whose events are under way.
 */
export const claimEvents = async (
  sql: postgres.Sql,
  except: readonly number[],
  { leaseSeconds }: Pick<Schedule, "leaseSeconds">,
): Promise<Event[]> => {
  if (!(await isAnyDue(sql, except))) return [];
  const rows = await sql<Row[]>`
    with due as materialized (
      select first.seq from messaging.callback cross join lateral (
        select seq, row_number() over () as place from (
          select event.seq from messaging.callback_event event
          where callback_id = callback.id and given_up_at is null and due_at <= now()
            -- not an equation alone, nor NOT EXISTS, of which the planner expects hardly one: it would look at all that wait
            and case when seq = (
              select seq from messaging.callback_event other
              where other.message_id = event.message_id and other.callback_id = event.callback_id and other.given_up_at is null
              order by message_id, seq limit 1) then true end
          -- a constant: of another limit the planner expects a tenth of all that wait
          order by due_at limit ${sql.unsafe(String(perCallback))} for update skip locked) locked) first
      where ${isFree(sql, except)} and (failures = 0 or place = 1)
    )
    update messaging.callback_event claimed
    set attempts = attempts + 1, due_at = now() + ${leaseSeconds} * interval '1 second'
    from due, messaging.callback
    where claimed.seq = due.seq and callback.id = claimed.callback_id
    returning claimed.seq::float8 as seq, claimed.id, callback.id::float8 as "callbackId", callback.sender, url, secret,
      case when previous_until > now() then previous_secret end as previous, attempts, message_id as "messageId",
      state as status, reason, at, duration_seconds as duration, claimed.accepted_at as "acceptedAt",
      (select name from messaging.account a where a.id = claimed.account) as account,
      (select channel from messaging.account a where a.id = claimed.account) as channel,
      coalesce((select kind from messaging.message m where m.id = claimed.message_id), 'text') as kind,
      coalesce((select content - 'text' - 'sealed' from messaging.message m where m.id = claimed.message_id), '{}') as content`;
  return rows.map(toEvent);
};

/** Removes an event that its address has accepted. */
export const completeEvent = async (sql: postgres.Sql, { seq, callbackId }: Event): Promise<void> => {
  await sql`
    with accepted as (delete from messaging.callback_event where seq = ${seq})
    update messaging.callback set failures = 0, retry_at = now() where id = ${callbackId} and failures > 0`;
};

/** Doubles with each attempt; half of it is random, so that the tasks do not retry at once. */
const delay = (sql: postgres.Sql, attempts: postgres.Fragment, first: number, longest: number) =>
  sql`(0.5 + random() / 2) * least(${first}::float8 * 2 ^ least(${attempts}, 30), ${longest}::float8)`;

/** Returns an event to the others that are due: nobody has seen it. */
export const releaseEvent = async (sql: postgres.Sql, { seq }: Event): Promise<void> => {
  await sql`update messaging.callback_event set attempts = attempts - 1, due_at = now() where seq = ${seq}`;
};

/** Schedules the next attempt of an event, or gives it up. */
export const failEvent = async (
  sql: postgres.Sql,
  { seq, callbackId }: Event,
  { status, isOfAddress, retryAfterSeconds = 0 }: Failure,
  { firstSeconds, longestSeconds, longestOfAddressSeconds }: Schedule,
): Promise<void> => {
  await sql`
    with failed as (
      update messaging.callback_event
      -- it may have been given up meanwhile, with the others of its address
      set last_status = ${status ?? null}, given_up_at = case when retry_until <= now() then now() else given_up_at end,
        due_at = now() + interval '1 second' *
          ${isOfAddress ? sql`0` : delay(sql, sql`attempts - 1`, firstSeconds, longestSeconds)}
      where seq = ${seq}
    )
    -- attempts at the same time fail for one reason: the first of them counts
    update messaging.callback set failures = failures + (retry_at <= now())::integer,
      retry_at = greatest(retry_at, now() + interval '1 second' * greatest(${retryAfterSeconds}::float8,
        case when retry_at <= now() then ${delay(sql, sql`failures`, firstSeconds, longestOfAddressSeconds)} else 0 end))
    where id = ${callbackId} and ${isOfAddress}`;
};

/** Sends nothing more to an address that is gone, and gives up the events that wait for it. */
export const disableCallback = async (
  sql: postgres.Sql,
  { seq, callbackId }: Event,
  status: number,
): Promise<void> => {
  await sql`
    with disabled as (
      update messaging.callback set disabled_at = coalesce(disabled_at, now()), failures = failures + 1
      where id = ${callbackId})
    update messaging.callback_event
    set given_up_at = now(), last_status = case when seq = ${seq} then ${status} else last_status end
    where callback_id = ${callbackId} and given_up_at is null`;
};

/** Status of the last failed attempt of the events that wait for the `callback` of a query; null without an answer. */
export const lastStatus = (sql: postgres.ISql) => sql`(
  select last_status from messaging.callback_event
  -- not an attempt that has no outcome yet
  where callback_id = callback.id and given_up_at is null and attempts > 0
    and (due_at <= now() or last_status is not null)
  order by due_at desc limit 1)`;

/** Gives up the events that wait too long for an address that fails. @returns how many. */
export const giveUpEvents = async (sql: postgres.Sql): Promise<number> => {
  const failing = await sql`select from messaging.callback where failures > 0 limit 1`;
  if (failing.count === 0) return 0;
  const { count } = await sql`
    update messaging.callback_event set given_up_at = now() from messaging.callback
    where callback.id = callback_id and given_up_at is null and retry_until <= now() and failures > 0`;
  return count;
};
