import type postgres from "postgres";
import { steadyNow } from "#lib/deadline.ts";

/** The platform's quota of new contacts. */
export interface Cap {
  readonly total: number;
  readonly used: number;
  /** The end of its cycle by the steady clock. */
  readonly endsAt: number;
}

/** What limits an account: what it has sent, and what the platform said, before this task became leader. */
export interface History {
  /** The city's number that is linked: all limits are its own. */
  readonly number: string;
  /** Times of the sends of the last 24 hours by the steady clock, oldest first. */
  readonly sentAt: readonly number[];
  /** Times of the first send to each new number of the last 24 hours. */
  readonly newContactsAt: readonly number[];
  /** Of the first send ever; undefined for an account that has sent nothing. */
  readonly firstSentAt: number | undefined;
  /** The end of the platform's lock on new contacts, or a time in the past. */
  readonly lockedUntil: number;
  /** The end of a pause of new contacts that the platform has not asked for. */
  readonly pausedUntil: number;
  /** The end of a pause of all messages, because the account sent too fast. */
  readonly stoppedUntil: number;
  readonly cap: Cap | null;
  /** Numbers that are not sent to before a time. */
  readonly resting: readonly { readonly phone: string; readonly until: number }[];
}

interface Known {
  readonly lockedFor: number | null;
  readonly pausedFor: number | null;
  readonly stoppedFor: number | null;
  readonly total: number | null;
  readonly used: number;
  readonly endsIn: number | null;
}

/**
 * Loads what limits the sends of an account. Ages, not times: the database and this process may disagree about the time.
 *
 * @param account the city's number that is linked.
 */
export const loadHistory = async (sql: postgres.Sql, number: string): Promise<History> => {
  const sent = await sql<{ age: number }[]>`
    select extract(epoch from now() - sent_at)::float8 as age from messaging.message
    where sent_at > now() - interval '1 day' and number = ${number} order by sent_at`;
  const contacts = await sql<{ age: number }[]>`
    select extract(epoch from now() - since)::float8 as age from messaging.contact
    where number = ${number} and since > now() - interval '1 day' order by since`;
  const [first] = await sql<{ age: number | null }[]>`
    select extract(epoch from now() - min(since))::float8 as age from messaging.contact
    where number = ${number}`;
  const [known] = await sql<Known[]>`
    select extract(epoch from locked_until - now())::float8 as "lockedFor",
      extract(epoch from paused_until - now())::float8 as "pausedFor",
      extract(epoch from stopped_until - now())::float8 as "stoppedFor", cap_total as total,
      cap_used + (select count(*)::int from messaging.contact c
        where c.number = a.phone and since > capped_at) as used,
      extract(epoch from cap_ends_at - now())::float8 as "endsIn"
    from messaging.number a where phone = ${number}`;
  // messages that were requeued for later hold back the others to their number
  const resting = await sql<{ phone: string; seconds: number }[]>`
    select phone, extract(epoch from max(not_before) - now())::float8 as seconds from messaging.message
    where is_open and epoch is not null and not_before > now() group by phone`;
  const now = steadyNow();
  const age = first?.age ?? undefined;
  const { lockedFor, pausedFor, stoppedFor, total = null, used = 0, endsIn } = known ?? {};
  return {
    number,
    sentAt: sent.map(({ age }) => now - age * 1_000),
    newContactsAt: contacts.map(({ age }) => now - age * 1_000),
    firstSentAt: age === undefined ? undefined : now - age * 1_000,
    lockedUntil: now + (lockedFor ?? 0) * 1_000,
    pausedUntil: now + (pausedFor ?? 0) * 1_000,
    stoppedUntil: now + (stoppedFor ?? 0) * 1_000,
    cap: total === null ? null : { total, used, endsAt: now + (endsIn ?? 0) * 1_000 },
    resting: resting.map(({ phone, seconds }) => ({ phone, until: now + seconds * 1_000 })),
  };
};
