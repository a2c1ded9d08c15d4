import type postgres from "postgres";

/** What a piece of work came to. */
interface Piece {
  /** Rows that it took away, changed or checked. */
  readonly rows: number;
  /** Whether there is more to do at once. */
  readonly more: boolean;
}

/** One kind of upkeep. */
export interface Step {
  /** As the log and the alarm's reader call it. */
  readonly name: string;
  /**
   * Does one piece and commits it: a run that is broken off goes on from there the next time. It is called
   * again while there is more and the run has time.
   *
   * A statement of the role is ended after 20 s; a piece must not take longer.
   *
   * @throws Error when upkeep finds something wrong: the other steps are done, and the run fails at its end.
   */
  readonly work: (sql: postgres.Sql) => Promise<Piece>;
}

/**
 * A step that takes away what has grown old, by a function that says how many rows it took.
 *
 * @param most rows at a time: so many, and there may be more.
 */
export const expiry = (
  name: string,
  most: number,
  expire: (sql: postgres.Sql, most: number) => Promise<readonly { rows: number }[]>,
): Step => ({
  name,
  async work(sql) {
    const rows = (await expire(sql, most))[0]?.rows ?? 0;
    return { rows, more: rows === most };
  },
});
