import postgres from "postgres";
import { onTestFinished } from "vitest";
import { migrate } from "#lib/db/migrate.ts";
import { createDatabase } from "./temporary-database.ts";

/**
 * The session task's database, empty: its address, and connections of the role until the test ends;
 * `sql` is one for those who need no more.
 */
export const createSessionDatabase = async () => {
  const database = await createDatabase();
  await migrate(database.connect("adminUrl"));
  const url = database.urlFor("sessionUrl");
  /** For whoever ends it by himself. */
  const open = (max: number, onclose: () => void = () => {}): postgres.Sql => {
    const types = { bigint: { to: 20, from: [20], parse: Number, serialize: String } };
    return postgres(url, { max, fetch_types: false, types, onclose, onnotice: () => {} });
  };
  const connect = (max = 4): postgres.Sql => {
    const sql = open(max);
    onTestFinished(() => sql.end({ timeout: 1 }));
    return sql;
  };
  return { url, open, connect, sql: connect(1), admin: database.connect("adminUrl") };
};
