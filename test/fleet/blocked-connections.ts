import type postgres from "postgres";
import { expect } from "vitest";

/*
 * The connections of a role to a test's database that wait for a lock; a role sees no others. They are listed outside of
 * transactions, which would see a snapshot of the activity.
 */
export const listBlocked = (sql: postgres.Sql) => sql<{ pid: number }[]>`
  select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** Resolves once this many wait. */
export const untilBlocked = (sql: postgres.Sql, connections = 1) =>
  expect.poll(() => listBlocked(sql)).toHaveLength(connections);

/** Ends the one that waits, as a failover does. */
export const endBlocked = async (sql: postgres.Sql): Promise<void> => {
  await untilBlocked(sql);
  for (const { pid } of await listBlocked(sql)) await sql`select pg_terminate_backend(${pid})`;
};
