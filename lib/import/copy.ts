import type { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import type postgres from "postgres";
import type { Batch } from "./batch.ts";

const send = async (sql: postgres.Sql, copy: Writable, text: readonly Buffer[]): Promise<void> => {
  const write = promisify<Buffer, void>(copy.write.bind(copy));
  for (const block of text) await write(block);
  copy.end();
  await setImmediate(); // the stream sends the end of COPY in this turn; a query before that would throw
  await sql`select`;
};

/**
 * Copies rows into a table, within a transaction that notices a lost connection: the stream of postgres 3.4.9 reports
 * no error when the server rejects the last data or the connection is lost, so a statement after it checks the outcome.
 *
 * @param sql one connection (`max: 1`). @param target table and columns, such as `resident.resident (nik, name)`.
 * @throws PostgresError from the server, or 25P02 (in_failed_sql_transaction), which does not name the cause.
 */
export const copyRows = async (sql: postgres.Sql, target: string, rows: Batch): Promise<void> => {
  const failed = Promise.withResolvers<never>();
  const copy = await sql.unsafe(`copy ${target} from stdin`).writable();
  copy.on("error", failed.reject);
  await Promise.race([send(sql, copy, rows.text), failed.promise]);
};
