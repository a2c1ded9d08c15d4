import type postgres from "postgres";
import { ApiError } from "#lib/errors/api-error.ts";
import { badRequest } from "#lib/errors/invalid-input.ts";
import { classNotAllowed, dailyQuotaReached, tooManyWaiting } from "#lib/errors/table.ts";
import { explainSubmitted } from "#lib/messaging/phone-reading.ts";
import type { Submission } from "#lib/messaging/submission.ts";

/** Counting 10,000 messages takes some milliseconds: too much for each request. */
const defaultMaxAgeMs = 1_000;

/** What a sender may send until the next count. Null is no limit. */
interface Room {
  /** How many more messages may wait. */
  waiting: number;
  /** How many more messages and bytes are accepted today. */
  messages: number | null;
  bytes: number | null;
  /** Joined by spaces. */
  readonly classes: string | null;
  /** Country codes that the sender is known to mean, joined by spaces. */
  readonly countries: string | null;
  readonly secondsToMidnight: number;
}

/**
 * Limits what each sender may send: how many messages wait, and by the terms of a sender of the API (`npm run city -- sender`) its
 * classes, messages and bytes of a day. Other tasks' acceptances, and changed terms, count after a second.
 */
export class Quota {
  readonly #sql: postgres.Sql;
  readonly #maxWaiting: number;
  readonly #maxAgeMs: number;
  /** Downloads, which take longer than a count lasts, by sender. */
  readonly #underWay = new Map<string, number>();
  readonly #counts = new Map<string, { readonly startedAt: number; readonly room: Promise<Room> }>();

  constructor(sql: postgres.Sql, maxWaiting: number, maxAgeMs = defaultMaxAgeMs) {
    this.#sql = sql;
    this.#maxWaiting = maxWaiting;
    this.#maxAgeMs = maxAgeMs;
  }

  /**
   * @param bytes of the text and of uploaded media.
   * @returns a function to call when the message is stored or rejected.
   * @throws ApiError 400 for a number that does not exist or has two meanings, 403 for a class that the sender may not send, 429 if it may not have one more message.
   */
  async take(
    { sender, class: wanted, url, phone }: Pick<Submission, "sender" | "class" | "url" | "phone">,
    bytes: number,
  ): Promise<() => void> {
    const room = await this.#find(sender);
    const problem = explainSubmitted(phone, room.countries?.split(" ") ?? []);
    if (problem !== undefined) throw badRequest(problem);
    const allowed = room.classes?.split(" ");
    if (allowed && !allowed.includes(wanted)) throw new ApiError(classNotAllowed(allowed));
    if (room.messages !== null && room.messages < 1)
      throw new ApiError(dailyQuotaReached(room.secondsToMidnight));
    if (room.waiting < 1) throw new ApiError(tooManyWaiting);
    takeBytes(room, bytes);
    room.waiting -= 1;
    if (room.messages !== null) room.messages -= 1;
    if (url === undefined) return () => {};
    this.#add(sender, 1);
    return () => this.#add(sender, -1);
  }

  #add(sender: string, change: number): void {
    const count = (this.#underWay.get(sender) ?? 0) + change;
    if (count > 0) this.#underWay.set(sender, count);
    else this.#underWay.delete(sender);
  }

  /** The same for downloaded media, whose size was not known before. @throws ApiError 429 */
  async takeBytes(sender: string, bytes: number): Promise<void> {
    takeBytes(await this.#find(sender), bytes);
  }

  /** Concurrent requests share a count, even an unfinished one, so that they stay in order. */
  #find(sender: string): Promise<Room> {
    const startedAt = performance.now();
    const known = this.#counts.get(sender);
    if (known && startedAt < known.startedAt + this.#maxAgeMs) return known.room;
    const room = this.#count(sender);
    room.catch(() => this.#counts.delete(sender));
    this.#counts.set(sender, { startedAt, room });
    return room;
  }

  async #count(sender: string): Promise<Room> {
    const [row] = await this.#sql<Room[]>`
      select
        -- by the indexes of those that may be taken, and of those that are held
        ${this.#maxWaiting}::int
          - (select count(*)::int from messaging.message where is_open and held_until is null and sender = ${sender})
          - (select count(*)::int from messaging.message where is_open and held_until is not null and sender = ${sender})
          as waiting,
        array_to_string(classes, ' ') as classes,
        array_to_string(countries, ' ') as countries,
        per_day - today.messages as messages,
        (bytes_per_day - today.bytes)::float8 as bytes,
        ceil(extract(epoch from (messaging.today() + 1)::timestamp at time zone city.time_zone() - now()))::int
          as "secondsToMidnight"
      from (
        select coalesce(sum(messages), 0)::int as messages, coalesce(sum(bytes), 0) as bytes
        from messaging.sender_day where sender = ${sender} and day = messaging.today()
      ) today
      left join messaging.sender on 'api:' || name = ${sender}`;
    if (!row) throw new Error("the sender's room was not counted");
    const underWay = this.#underWay.get(sender) ?? 0;
    return {
      ...row,
      waiting: row.waiting - underWay,
      messages: row.messages === null ? null : row.messages - underWay,
    };
  }
}

const takeBytes = (room: Room, bytes: number): void => {
  if (room.bytes === null) return;
  if (room.bytes < bytes) throw new ApiError(dailyQuotaReached(room.secondsToMidnight));
  room.bytes -= bytes;
};
