import type { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import type postgres from "postgres";
import type { Batch } from "./batch.ts";

const send = async (sql: postgres.Sql, copy: Writable, text: readonly Buffer[]): Promise<void> => {
  const write = promisify<Buffer, void>(copy.write.bind(copy));
  for (const block of text) await write(block);
  copy.end();
  await setImmediate(); // the stream has told the server by then; too early, the next line would throw
  await sql`select`;
};

/**
 * Copies rows into a table, within a transaction. The stream of postgres 3.4.9 falls silent when the server
 * refuses what came last, or the connection goes away: so the next statement is asked, which fails too then.
 *
 * @param sql one connection (`max: 1`). @param target table and columns, such as `staging (a, b)`.
 * @throws PostgresError the server's, or 25P02 (in_failed_sql_transaction), which does not say why.
 */
export const copyRows = async (sql: postgres.Sql, target: string, rows: Batch): Promise<void> => {
  const broken = Promise.withResolvers<never>();
  sql.options.onclose = () =>
    broken.reject(
      Object.assign(new Error("the connection broke during COPY"), { code: "CONNECTION_CLOSED" }),
    );
  try {
    const copy = await sql.unsafe(`copy ${target} from stdin`).writable();
    copy.on("error", broken.reject);
    await Promise.race([send(sql, copy, rows.text), broken.promise]);
  } finally {
    sql.options.onclose = () => {};
    broken.promise.catch(() => {});
  }
};
