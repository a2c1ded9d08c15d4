import type postgres from "postgres";
import { Fault } from "#lib/faults/fault.ts";
import { tooManyWaiting } from "#lib/faults/table.ts";

/** Counting 10,000 messages takes some milliseconds: too much for each request. */
const defaultMaxAgeMs = 1_000;

interface Room {
  /** How many more messages are accepted until the next count. */
  left: number;
}

/** Limits how many messages of each sender wait to be sent. Other tasks' acceptances count after a second. */
export class Quota {
  readonly #sql: postgres.Sql;
  readonly #maxWaiting: number;
  readonly #maxAgeMs: number;
  readonly #counts = new Map<string, { readonly startedAt: number; readonly room: Promise<Room> }>();

  constructor(sql: postgres.Sql, maxWaiting: number, maxAgeMs = defaultMaxAgeMs) {
    this.#sql = sql;
    this.#maxWaiting = maxWaiting;
    this.#maxAgeMs = maxAgeMs;
  }

  /** @throws Fault 429 if the sender may not have one more message. */
  async take(sender: string): Promise<void> {
    const room = await this.#find(sender);
    if (room.left < 1) throw new Fault(tooManyWaiting);
    room.left -= 1;
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
    const [row] = await this.#sql<{ waiting: number }[]>`
      select count(*)::int as waiting from messaging.message where is_open and sender = ${sender}`;
    return { left: this.#maxWaiting - (row?.waiting ?? 0) };
  }
}
