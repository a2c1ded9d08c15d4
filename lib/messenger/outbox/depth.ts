import type postgres from "postgres";

export interface Depth {
  readonly state: string;
  readonly count: number;
  readonly oldestSeconds: number;
}

/** Counts pending and sending messages; a state without messages has no row. */
export const listDepths = (sql: postgres.Sql) => sql<Depth[]>`
  select state, count(*)::int as count,
    extract(epoch from now() - min(accepted_at))::float8 as "oldestSeconds"
  from messaging.message where is_open group by state order by state`;
