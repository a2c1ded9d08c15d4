import type postgres from "postgres";
import { expect } from "vitest";
import type { TemporaryDatabase } from "../temporary-database.ts";
import { insertSeries } from "./resident-series.ts";

/** Stores a resident in a transaction that stays open: an import of the same one waits for its end. */
export const holdResident = async (database: TemporaryDatabase, nik: string): Promise<postgres.Sql> => {
  const sql = database.connect("importerUrl");
  await sql`begin`;
  await insertSeries(sql, Number(nik.slice(2)), 1);
  return sql;
};

/**
 * Resolves once this many connections of the importer wait for another transaction.
 *
 * @param sql an administrator's connection.
 * @returns their process ids.
 */
export const untilImportersWait = async (sql: postgres.Sql, count: number): Promise<readonly number[]> => {
  // to see what its connections wait for
  await sql.unsafe("grant municipal_importer to current_user");
  const find = () => sql<{ pid: number }[]>`
    select pid from pg_stat_activity where wait_event = 'transactionid' and datname = current_database()
      and usename = 'municipal_importer'`;
  await expect.poll(async () => (await find()).length).toBe(count);
  return (await find()).map(({ pid }) => pid);
};
