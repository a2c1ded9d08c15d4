import postgres from "postgres";
import { afterAll, onTestFinished } from "vitest";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";

/** The database of a test file: migrated once, which takes longer than most tests, and truncated for each. */
let shared: Promise<TemporaryDatabase> | undefined;
let isTaken = false;
const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
});

const empty = (admin: postgres.Sql) =>
  admin
    .unsafe(
      `set role municipal_owner;
       do $$ begin
         execute (select 'truncate ' || string_agg(format('%I.%I', schemaname, tablename), ', ') || ' restart identity'
           from pg_tables where schemaname in ('messaging', 'notification'));
       end $$;
       insert into messaging.control default values;
       insert into messaging.account (name) values ('main');
       reset role`,
    )
    .simple();

/**
 * Provides an empty messenger database for one test: its URL, and connections as the messenger's and the console's role that
 * are closed with the test; `sql` is one of the messenger's.
 */
export const createMessengerDatabase = async () => {
  if (isTaken) throw new Error("this test already has its messenger database");
  isTaken = true;
  onTestFinished(() => {
    isTaken = false;
  });
  shared ??= createDatabase((remove) => ends.push(remove));
  const database = await shared;
  const admin = database.connect("adminUrl");
  await empty(admin);
  const url = database.urlFor("messengerUrl");
  /** For tests that close it themselves. @param address another URL of the same database */
  const open = (max: number, onclose: () => void = () => {}, address = url): postgres.Sql => {
    const types = { bigint: { to: 20, from: [20], parse: Number, serialize: String } };
    return postgres(address, { max, fetch_types: false, types, onclose, onnotice: () => {} });
  };
  const connect = (max = 4, address = url): postgres.Sql => {
    const sql = open(max, undefined, address);
    onTestFinished(() => sql.end({ timeout: 1 }));
    return sql;
  };
  const connectConsole = (max = 1) => connect(max, database.urlFor("consoleUrl"));
  return { url, open, connect, connectConsole, sql: connect(1), admin };
};
