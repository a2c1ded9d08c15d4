import type postgres from "postgres";
import { steadyNow } from "#lib/steady-clock.ts";

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
