import type postgres from "postgres";
import { steadyNow } from "#lib/deadline.ts";
import { priorities } from "#lib/messaging/submission.ts";
import { walkSenders } from "./list.ts";
import type { Lane, Outgoing } from "./message.ts";

export interface Choice {
  /** The leader's term; a former leader gets no message. */
  readonly epoch: number;
  /** Numbers that may not be sent to yet. */
  readonly resting: readonly string[];
  /** That sends. */
  readonly account: number;
  /** That is linked to it. */
  readonly number: string;
  /** The least urgent priority at which messages to new contacts of the account may be taken; -1 for none. */
  readonly newContactsUpTo: number;
  /** The least urgent priority that is read in the pool's queue; all by default. */
  readonly poolUpTo?: number | undefined;
  /** The only numbers that may be sent to while the platform does not answer for others; undefined for all. */
  readonly reachable: readonly string[] | undefined;
  /** Those that are free. */
  readonly lanes: readonly Lane[];
  /** Ids of messages under way: one of them may be PENDING again whose delivery has not learned of it. */
  readonly underWay: readonly string[];
  readonly rotation: Rotation;
  /** The `seq` before which no message is open and due; {@link OpenFrom}. */
  readonly openFrom: number;
}

export type Restrictions = Pick<Choice, "resting" | "account" | "number" | "newContactsUpTo" | "reachable">;

const leastUrgent = Math.max(...Object.values(priorities));

/**
 * The queues that accounts take messages from: what was given to them, and those of their pools.
 *
 * @param poolUpTo the least urgent priority that is read in the pools' queues.
 */
const queuesOf = (sql: postgres.ISql, accounts: readonly number[], poolUpTo = leastUrgent) => {
  const isAsked = sql`id = any(string_to_array(${accounts.join()}, ',')::smallint[])`;
  return sql`
    select 'account ' || id::text, id, ${leastUrgent}::smallint from messaging.account where ${isAsked}
    union all select 'pool ' || pool, id, ${poolUpTo}::smallint from messaging.account
      where ${isAsked} and messaging.takes_from_pool(id)`;
};

const mostReleased = 1_000;

/** Lets the first messages be taken whose time has come, since they were scheduled or held by quiet hours; takes up to 0.2 s. */
export const releaseDue = async (sql: postgres.Sql): Promise<void> => {
  await sql`
    update messaging.message set held_until = null where seq = any(array(
      select seq from messaging.message where is_open and held_until <= now()
      order by held_until, priority limit ${mostReleased} for update skip locked))`;
};

/**
 * Finds those of the accounts for which a message waits that may be taken now, as far as the outbox knows.
 *
 * @param openFrom as in {@link Choice}.
 */
export const listAwaited = async (
  sql: postgres.ISql,
  accounts: readonly number[],
  openFrom: number,
): Promise<readonly number[]> => {
  const rows = await sql<{ id: number }[]>`
    with recursive mine (queue, id) as materialized (${queuesOf(sql, accounts)}),
    senders (sender) as (${walkSenders(sql, sql`is_open and held_until is null and seq >= ${openFrom}`)}), awaited as materialized (
      select queue from (select distinct queue from mine) own
      where not exists (select from messaging.control where paused) and exists (
        select from senders s cross join lateral (
          select from messaging.message waiting
          where is_open and held_until is null and waiting.sender = s.sender and waiting.queue = own.queue and seq >= ${openFrom}
            and state = 'PENDING' and not_before <= now()
          -- by the index, although statistics promise a row anywhere
          order by lane, priority, seq limit 1) first)
    )
    select distinct id from mine join awaited using (queue)`;
  return rows.map(({ id }) => id);
};

/** What the outbox requires of a message that may be taken, as conditions on a row `waiting`; `mine` are the queues. */
const conditions = (sql: postgres.ISql, restrictions: Restrictions) => {
  const { resting, account, number, newContactsUpTo, reachable } = restrictions;
  const isContact = sql`exists (
    select from messaging.contact c where c.number = ${number} and c.phone = waiting.phone)`;
  return {
    isDue: sql`not_before <= now() and expires_at > now()`,
    isOn: sql`not exists (select from messaging.control where paused)`,
    isRested: sql`phone <> all(string_to_array(${resting.join()}, ','))`,
    isReachable: reachable ? sql`phone = any(string_to_array(${reachable.join()}, ','))` : sql`true`,
    isContact,
    /** Whether the recipient knows no other account of the queue that can send, and gets no message of it now. */
    isFree: sql`(waiting.account is not null or not exists (
      select from (
        select r.account from messaging.route r where r.pool = waiting.pool and r.phone = waiting.phone
        union all
        select o.account from messaging.message o
        where o.is_open and o.phone = waiting.phone and o.pool = waiting.pool) known
      where known.account <> ${account} and messaging.can_send(known.account)
        and messaging.takes_from_pool(known.account)))`,
    isAllowed: sql`(priority <= ${newContactsUpTo} or ${isContact})`,
    /** The first message to the number from these queues: others keep behind it. */
    firstOfNumber: sql`
      select seq as first_seq from messaging.message other
      where other.is_open and other.phone = waiting.phone and other.queue in (select queue from mine)
        and (other.epoch is not null or (other.not_before <= now() and other.expires_at > now()))
      order by other.priority, other.seq limit 1`,
  };
};

/**
 * Takes the next message to send: by priority, then of the sender whose last message was longest ago, then in the order of
 * acceptance. Messages to a number keep their order, whoever sends them, unless the earlier one waits for quiet hours.
 */
export const takeNext = async (sql: postgres.Sql, choice: Choice): Promise<Outgoing | undefined> => {
  const { epoch, account, number, lanes, underWay, rotation, openFrom, poolUpTo } = choice;
  const { isDue, isOn, isRested, isReachable, isAllowed, isFree, firstOfNumber } = conditions(sql, choice);
  // not after the answer, which takes a while: the message would be sent that much too late
  const asked = steadyNow();
  const [row] = await sql<(Omit<Outgoing, "expiresAt"> & { expiresIn: number })[]>`
    with recursive term as materialized (
      -- the lock delays the next leader's term until this statement has ended, so that its recovery sees the row
      select from messaging.leadership where epoch = ${epoch} for share
    ), mine (queue, reader, up_to) as materialized (${queuesOf(sql, [account], poolUpTo)}),
    senders (sender) as (${walkSenders(sql, sql`is_open and held_until is null and seq >= ${openFrom}`)})
    update messaging.message taken
    set state = 'SENDING', attempts = attempts + 1, epoch = ${epoch}, account = ${account}, number = ${number},
      changed_at = now()
    where id = (
      select id
      from senders s cross join mine cross join unnest(string_to_array(${lanes.join()}, ',')) free (lane)
      cross join lateral (
        select id, priority, seq from messaging.message waiting cross join lateral (
          -- not NOT EXISTS, which the planner may execute as a join of all pending messages
          ${firstOfNumber}) of_number
        where is_open and held_until is null and waiting.sender = s.sender and waiting.queue = mine.queue
          and waiting.lane = free.lane and waiting.priority <= mine.up_to and seq >= ${openFrom} and state = 'PENDING'
          and ${isDue} and ${isOn} and ${isRested} and ${isReachable} and ${isAllowed} and ${isFree}
          and id <> all(string_to_array(${underWay.join()}, ','))
          and seq = first_seq
        order by priority, seq limit 1) first
      order by priority, (${JSON.stringify(rotation)}::text::jsonb ->> concat(priority, ' ', s.sender))::bigint
        nulls first, seq
      limit 1)
    -- unless it has expired, or another account has taken it, meanwhile
    and state = 'PENDING' and exists (select from term)
    returning id, lane, sender, priority, kind, phone, content, media_id as "mediaId", attempts, failed_early as "failedEarly", epoch, account, number,
      coalesce(rejections, '{}') as rejections,
      (select bytes from messaging.payload p join messaging.account a using (channel)
        where p.seq = taken.seq and a.id = ${account}) as payload,
      messaging.quiet_until(quiet_hours, now()) as "quietUntil",
      extract(epoch from expires_at - now())::float8 as "expiresIn",
      not exists (
        select from messaging.contact c where c.number = ${number} and c.phone = taken.phone) as "isNewContact"`;
  if (!row) return undefined;
  rotation.recordTaken(row);
  return { ...row, expiresAt: asked + row.expiresIn * 1_000 };
};

/** What the outbox says of a message that waits. */
export interface Explained {
  readonly id: string;
  readonly phone: string;
  readonly priority: number;
  readonly isNewContact: boolean;
  readonly isOn: boolean;
  readonly isReachable: boolean;
  /** Whether an earlier message to its number must be sent first. */
  readonly isBehind: boolean;
  /** When it may be taken, if that is in the future. */
  readonly notBefore: Date | null;
  /** What it waits for until then. */
  readonly cause: "quiet-hours" | "scheduled" | "retry";
  readonly lane: Lane;
  /** Messages of its lane that are under way. */
  readonly underWay: number;
  /**
   * Whether another may be taken before it, now; false while it waits for its time or for the end of its quiet hours. If it is
   * held back as a new contact, or by an outage of the platform's directory, those that are held back likewise count too.
   */
  readonly isInLine: boolean;
}

/** Explains why messages wait, by the conditions with which {@link takeNext} chooses. */
export const explainQueue = (sql: postgres.ISql, restrictions: Restrictions, ids: readonly string[]) => {
  const { isOn, isReachable, isContact, isAllowed, isFree, firstOfNumber } = conditions(sql, restrictions);
  const isInLine = sql`${isFree} and state = 'PENDING' and expires_at > now() and not_before <= now()
    and (not combination.allowed or ${isAllowed}) and (not combination.reachable or ${isReachable})`;
  return sql<Explained[]>`
    with recursive mine (queue, reader, up_to) as materialized (${queuesOf(sql, [restrictions.account], restrictions.newContactsUpTo)}),
    senders (sender) as (${walkSenders(sql, sql`is_open and held_until is null`)}), asked as materialized (
      -- a retry keeps its place
      select id, ${isAllowed} as allowed, ${isReachable} as reachable, epoch is not null or not_before <= now() as "isLinedUp"
      from messaging.message waiting
      where id = any(string_to_array(${ids.join()}, ',')) and state = 'PENDING' and expires_at > now()
        and queue in (select queue from mine) and ${isFree}
    ), busy as materialized (
      select lane, count(*)::int as count from messaging.message 
      where is_open and state = 'SENDING' and account = ${restrictions.account} group by lane
    ), heads as materialized (
      -- for each combination of restrictions among those asked about: the first message that may be taken under the same ones
      select combination.*, head.priority as head_priority, head.seq as head_seq
      from (select distinct allowed, reachable from asked where "isLinedUp") combination cross join lateral (
        select of_sender.* from senders s cross join mine
          cross join unnest(string_to_array('code,upload,other', ',')) of_lane
          cross join lateral (
            select priority, seq from messaging.message waiting
            where is_open and held_until is null and waiting.sender = s.sender and waiting.queue = mine.queue and lane = of_lane
              -- as the sender, which reads no further in the queue of a pool
              and priority <= case when combination.allowed then up_to else ${leastUrgent} end and ${isInLine}
            order by priority, seq limit 1) of_sender
        order by priority, seq limit 1) head
    )
    select id, phone, waiting.priority, not ${isContact} as "isNewContact", ${isOn} as "isOn",
      ${isReachable} as "isReachable",
      coalesce(first_seq <> waiting.seq, false) as "isBehind",
      case when not_before > now() then not_before end as "notBefore",
      case when epoch is not null then 'retry' when quiet_hours is null then 'scheduled' else 'quiet-hours' end as cause, lane,
      coalesce((select count from busy where busy.lane = waiting.lane), 0) as "underWay",
      "isLinedUp" and coalesce((head_priority, head_seq) < (waiting.priority, waiting.seq), false) as "isInLine"
    from asked join messaging.message waiting using (id) left join heads using (allowed, reachable)
    left join lateral (${firstOfNumber}) of_number on true`;
};

/** Remembers when each sender was last served at each priority. In memory: a new leader starts a new round. */
export class Rotation {
  readonly #servedAt = new Map<string, number>();
  #taken = 0;

  recordTaken({ priority, sender }: Pick<Outgoing, "priority" | "sender">): void {
    this.#taken += 1;
    this.#servedAt.set(`${priority} ${sender}`, this.#taken);
  }

  /** @returns the number of the last message of each sender, by priority and sender. */
  toJSON(): Record<string, number> {
    return Object.fromEntries(this.#servedAt);
  }
}

const lookEveryMs = 1_000;
/** A `seq` is assigned before the commit: so many later messages may be visible before one. */
const marginSeq = 256;

const look = async (sql: postgres.Sql): Promise<number> => {
  const [row] = await sql<{ seq: number }[]>`
    select coalesce(min(seq + 0), (select max(seq) from messaging.message), 0)::float8 as seq
    from messaging.message where is_open and held_until is null and seq + 0 is not null and not_before <= now()`;
  return (row?.seq ?? 0) - marginSeq;
};

/**
 * Remembers where the messages begin that are open and due. While any transaction is held open, vacuum keeps the index entries
 * of all messages that have been closed since, and PostgreSQL would look at each of their rows to find the next one. A message that
 * becomes open or due below it, late or again, is found within a second. One that is held does not count before its time: bulk runs
 * have some for a month.
 */
export class OpenFrom {
  #seq = Promise.resolve(0);
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** Callers at the same time share a look. @returns a `messaging.message.seq`. */
  find(sql: postgres.Sql): Promise<number> {
    const now = steadyNow();
    if (now - this.#lookedAt < lookEveryMs) return this.#seq;
    this.#lookedAt = now;
    this.#seq = look(sql);
    this.#seq.catch(() => {
      this.#lookedAt = Number.NEGATIVE_INFINITY;
    });
    return this.#seq;
  }
}
