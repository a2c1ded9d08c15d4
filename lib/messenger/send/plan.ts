import type postgres from "postgres";
import { steadyNow } from "#lib/deadline.ts";
import type { ChannelName } from "#lib/messaging/channel.ts";
import { cityPool, maxPlanned } from "#lib/messaging/submission.ts";
import { type History, loadHistory } from "./history.ts";
import { type Pace, paceOf } from "./pace.ts";
import { slowFrom } from "./pacing.ts";

const dayMs = 24 * 60 * 60_000;
/** For what is sent later than in a year, or nobody knows when. */
const maxPlanDays = 366;

/** How many messages a number may still send on a day, and how many of them to new contacts. */
interface Room {
  all: number;
  fresh: number;
}

/** Of the platform's cap on new contacts: at the usual rate up to three quarters, the rest spread over its cycle. */
const shareOfCap = ({ cap }: History, perDay: number, now: number, day: number): number => {
  const cycle = cap ? Math.ceil((cap.endsAt - now) / dayMs) : 0;
  if (!cap || day >= cycle) return Number.POSITIVE_INFINITY;
  const fast = Math.max(0, slowFrom * cap.total - cap.used);
  const spread = (Math.max(0, cap.total - cap.used) - fast) / cycle;
  const sharesBefore = (days: number) => Math.floor(Math.min(fast, days * perDay || 0) + days * spread);
  return sharesBefore(day + 1) - sharesBefore(day);
};

/** Returns the daily limits of a number, counted from now. What it has sent in the last 24 hours counts for the first day. */
const roomOf =
  ({ perDay, newContactsPerDay, warmUp }: Pace, history: History, now: number) =>
  (day: number): Room => {
    const { firstSentAt = now, stoppedUntil, lockedUntil, pausedUntil } = history;
    const isBefore = (end: number) => day < Math.floor((end - now) / dayMs);
    const age = Math.floor((now - firstSentAt) / dayMs) + day;
    const daily = Math.min(perDay, warmUp[age] ?? perDay);
    const [sent, contacts] = day === 0 ? [history.sentAt.length, history.newContactsAt.length] : [0, 0];
    const fresh = Math.min(newContactsPerDay - contacts, shareOfCap(history, newContactsPerDay, now, day));
    return {
      all: isBefore(stoppedUntil) ? 0 : daily - sent,
      fresh: isBefore(Math.max(lockedUntil, pausedUntil)) ? 0 : fresh,
    };
  };

/** What a number may still send, as its messages are assigned to days. */
export class Calendar {
  readonly #roomOn: (day: number) => Room;
  readonly #rooms: Room[] = [];
  /** The first days that may have room. */
  readonly #first = { known: 0, fresh: 0 };

  constructor(pace: Pace, history: History, now: number) {
    this.#roomOn = roomOf(pace, history, now);
  }

  /** Finds the first day with room for another message; `maxPlanDays` for none. */
  find(isNew: boolean): number {
    const kind = isNew ? "fresh" : "known";
    let day = this.#first[kind];
    for (; day < maxPlanDays; day++) {
      this.#rooms[day] ??= this.#roomOn(day);
      const { all = 0, fresh = 0 } = this.#rooms[day] ?? {};
      if (all > 0 && (!isNew || fresh > 0)) break;
    }
    this.#first[kind] = day;
    return day;
  }

  /** Assigns a message to the first day with room. */
  take(isNew: boolean): number {
    const day = this.find(isNew);
    const room = this.#rooms[day];
    if (room) room.all -= 1;
    if (room && isNew) room.fresh -= 1;
    return day;
  }
}

/** Lists the city's numbers that bulk messages are sent from now; while none can send, the one that has sent last. */
const listNumbers = async (
  sql: postgres.Sql,
): Promise<{ readonly number: string; readonly channel: ChannelName }[]> => {
  const rows = await sql<{ number: string; channel: ChannelName }[]>`
    select number, channel from messaging.account
    where pool = ${cityPool} and messaging.can_send(id) and messaging.takes_from_pool(id) order by id`;
  if (rows.length > 0) return rows;
  const [last] = await sql<{ number: string }[]>`
    select number from messaging.message where sent_at is not null order by sent_at desc limit 1`;
  return [{ number: last?.number ?? "", channel: "whatsapp" }];
};

/**
 * Assigns bulk messages to days by the daily limits of the city's numbers, after all messages that wait. A known contact is
 * written to by the number that knows it, a new one by the number with room first.
 *
 * @returns in how many days the message to each phone can be sent.
 */
export const planMessages = async (
  sql: postgres.Sql,
  pace: Pace,
  phones: readonly string[],
): Promise<number[]> => {
  const accounts = await listNumbers(sql);
  const numbers = accounts.map(({ number }) => number);
  const knownBy = (phone: postgres.Fragment) => sql`(
    select c.number from messaging.contact c
    where c.number = any(string_to_array(${numbers.join()}, ',')) and c.phone = ${phone} limit 1) as known`;
  const waiting = await sql<{ known: string | null }[]>`
    select ${knownBy(sql`m.phone`)} from messaging.message m
    where is_open and pool = ${cityPool} order by priority, seq limit ${maxPlanned}`;
  const wanted = await sql<{ known: string | null }[]>`
    select ${knownBy(sql`given.phone`)}
    from unnest(string_to_array(${phones.join()}, ',')) with ordinality given (phone, place) order by place`;
  const now = steadyNow();
  const calendars = new Map<string, Calendar>();
  for (const { number, channel } of accounts)
    calendars.set(number, new Calendar(paceOf(pace, channel), await loadHistory(sql, number), now));
  const all = [...calendars.values()];
  const days = [...waiting, ...wanted].map(({ known }) => {
    const own = known === null ? undefined : calendars.get(known);
    if (own) return own.take(false);
    return all.reduce((best, other) => (other.find(true) < best.find(true) ? other : best)).take(true);
  });
  return days.slice(waiting.length);
};
