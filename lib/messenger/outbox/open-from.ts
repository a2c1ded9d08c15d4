import type postgres from "postgres";
import { steadyNow } from "#lib/steady-clock.ts";

const lookEveryMs = 1_000;
/** Numbers are given before the commit: so many later messages may be seen before one. */
const marginSeq = 256;

const look = async (sql: postgres.Sql): Promise<number> => {
  const [row] = await sql<{ seq: number }[]>`
    select coalesce(min(seq + 0), (select max(seq) from messaging.message), 0)::float8 as seq
    from messaging.message where is_open and not_before <= now()`;
  return (row?.seq ?? 0) - marginSeq;
};

/**
 * Remembers before which message none is open and due. As long as any transaction is open, vacuum leaves the index entries of all
 * that have been closed meanwhile, and PostgreSQL would look at each of their rows to find the next message. What becomes open or due
 * before it, late or again, is found within a second. One that is scheduled does not count before: bulk runs have some for a month.
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
