import type postgres from "postgres";
import { steadyNow } from "#lib/steady-clock.ts";

const lookEveryMs = 1_000;
/** Numbers are given before the commit: so many later messages may be seen before one. */
const marginSeq = 256;

/**
 * Remembers before which message none is open. As long as any transaction is open, vacuum leaves the index entries of all that
 * have been closed meanwhile, and PostgreSQL would look at each of their rows to find the next message. What becomes open before it, late
 * or again, is found within a second.
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
