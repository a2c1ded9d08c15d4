import type postgres from "postgres";
import { steadyNow } from "#lib/steady-clock.ts";

const lookEveryMs = 1_000;
/** A `seq` is assigned before the commit: so many later messages may be visible before one. */
const marginSeq = 256;

/**
 * Remembers where the open messages begin. While any transaction is held open, vacuum keeps the index entries of all messages
 * that have been closed since, and PostgreSQL would look at each of their rows to find the next one. A message that becomes open
 * below it, late or again, is found within a second.
 */
export class OpenFrom {
  #seq = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** @returns a `messaging.message.seq`. */
  async find(sql: postgres.Sql): Promise<number> {
    const now = steadyNow();
    if (now - this.#lookedAt < lookEveryMs) return this.#seq;
    const [row] = await sql<{ seq: number }[]>`
      select coalesce(min(seq + 0), (select max(seq) from messaging.message), 0)::float8 as seq
      from messaging.message where is_open`;
    this.#lookedAt = now;
    this.#seq = (row?.seq ?? 0) - marginSeq;
    return this.#seq;
  }
}
