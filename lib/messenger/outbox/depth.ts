import type postgres from "postgres";

/** Messages in a state that is not final. */
export interface Depth {
  readonly state: string;
  readonly count: number;
  readonly oldestSeconds: number;
}

/** How many messages wait and are being sent; a state that nothing is in has no row. */
export const listDepths = (sql: postgres.Sql) => sql<Depth[]>`
  select state, count(*)::int as count,
    extract(epoch from now() - min(accepted_at))::float8 as "oldestSeconds"
  from messaging.message where is_open group by state order by state`;
