import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type postgres from "postgres";
import { deadline, steadyNow } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { defaultZone } from "#lib/time-zone.ts";
import { advisoryLocks } from "./advisory-locks.ts";
import { runConcurrently } from "./index-build.ts";
import { listFunctionFiles, listMigrations, type Migration } from "./migration-files.ts";
import { replaceFunctions } from "./repeatable.ts";

const ourFolder = fileURLToPath(new URL("./", import.meta.url));

const { migration: lockKey } = advisoryLocks;
const lockPollMs = 500;

/** All queries of a table wait behind a migration that waits for its lock: then callers get timeouts. */
const lockTimeoutMs = 2_000;
const lockRetryMs = 3_000;
/** Lock not available, deadlock, serialization failure. */
const lockConflicts = ["55P03", "40P01", "40001"];

/**
 * Takes the lock for the session. It asks repeatedly: a session that waits inside of a statement would have a snapshot, and
 * `create index concurrently` waits for the end of all snapshots.
 *
 * @param until steady time in milliseconds.
 * @throws Error that names the session which has the lock.
 */
const lock = async (sql: postgres.Sql, until: number): Promise<void> => {
  for (; ; await setTimeout(lockPollMs)) {
    const [row] = await sql`select pg_try_advisory_lock(${lockKey}) as taken`;
    if (row?.taken) return;
    if (steadyNow() <= until) continue;
    const [holder] = await sql`
      select pid from pg_locks join pg_database d on d.oid = database
      where locktype = 'advisory' and objid = ${lockKey} and granted and datname = current_database()`;
    // it may have ended just now
    if (!holder) continue;
    throw new Error(
      `another migration is running, in session ${holder.pid}: wait, or end it by select pg_terminate_backend(${holder.pid})`,
    );
  }
};

const createTables = (sql: postgres.Sql) =>
  sql.unsafe(`
    create schema if not exists migration;
    create table if not exists migration.version (
      version bigint primary key, name text, md5 text, run_at timestamptz
    );
    create table if not exists migration.repeatable (
      name text primary key, checksum text not null, functions jsonb not null, run_at timestamptz not null default now()
    )`);

/** Reads the checksums of the files that have run. */
const readVersions = async (sql: postgres.Sql): Promise<Map<number, string>> => {
  const rows = await sql<{ version: number; md5: string }[]>`
    select version::integer, md5 from migration.version where md5 is not null`;
  return new Map(rows.map(({ version, md5 }) => [version, md5]));
};

/** @throws Error when this release is older than what the schema needs at least. */
const requireRelease = async (sql: postgres.Sql, newest: number): Promise<void> => {
  const [exists] = await sql`select where to_regclass('migration.least') is not null`;
  if (!exists) return;
  const [least] = await sql`select version from migration.least where version > ${newest}`;
  if (least)
    throw new Error(
      `the schema needs a release with migration ${least.version}, and this one ends at ${newest}: deploy a later release`,
    );
};

/** Lists what has not run. @throws Error for a file that was edited since it ran, and one whose turn is over. */
const listPending = (migrations: readonly Migration[], ran: ReadonlyMap<number, string>): Migration[] => {
  const edited = migrations.find(({ version, checksum }) => (ran.get(version) ?? checksum) !== checksum);
  if (edited)
    throw new Error(
      `the checksum of ${edited.file} differs from when it ran: restore the file, and put the change into a new one`,
    );
  const pending = migrations.filter(({ version }) => !ran.has(version));
  const last = Math.max(0, ...ran.keys());
  if (pending[0] && pending[0].version < last)
    throw new Error(`${pending[0].file} comes after ${last}, which has run: give it a higher number`);
  return pending;
};

/** Runs work in a transaction that ends when it does not get a lock in time. */
const inTransaction = <T>(sql: postgres.Sql, work: (sql: postgres.TransactionSql) => Promise<T>) =>
  sql.begin(async (transaction) => {
    // takes the migration's lock again, because the driver may have renewed the connection since the file before
    const [row] = await transaction`
      select set_config('lock_timeout', ${String(lockTimeoutMs)}, true), pg_try_advisory_lock(${lockKey}) as taken`;
    if (!row?.taken) throw new Error("the connection was lost, and another migration has begun");
    return work(transaction);
  }) as Promise<T>;

const record = (sql: postgres.ISql, { version, subject, checksum }: Migration) =>
  sql`insert into migration.version (version, name, md5, run_at) values (${version}, ${subject}, ${checksum}, now())`;

const run = async (sql: postgres.Sql, migration: Migration): Promise<void> => {
  if (migration.kind === "do")
    return inTransaction(sql, async (transaction) => {
      await transaction.unsafe(migration.text);
      await record(transaction, migration);
    });
  await runConcurrently(sql, migration.text);
  await record(sql, migration);
};

/** Starts work again while others hold its locks. */
const again = async <T>(work: () => Promise<T>, file: string, until: number): Promise<T> => {
  for (; ; await setTimeout(lockRetryMs)) {
    try {
      return await work();
    } catch (error) {
      const { code = "" } = error as { code?: string };
      if (!lockConflicts.includes(code) || steadyNow() > until) throw error;
      log.warn("the migration starts again, because another session holds its locks", { file, code });
    }
  }
};

/** Makes the city's time zone that of the stage, if it is another one. */
const setTimeZone = async (sql: postgres.TransactionSql, zone: string): Promise<void> => {
  const [exists] = await sql`select where to_regproc('city.time_zone') is not null`;
  if (!exists) return;
  const [present] = await sql`select city.time_zone() as zone`;
  if (present?.zone === zone) return;
  const [row] = await sql`
    select format('create or replace function city.time_zone() returns text language sql immutable parallel safe return %L',
      ${zone}::text) as statement`;
  await sql.unsafe(row?.statement);
};

export interface MigrationOptions {
  /** Holds `tables/` and `functions/`; with a trailing slash. */
  readonly folder?: string;
  /** How long another migration, and for each file the locks that others hold, are waited for. Default: 10 min. */
  readonly maxWaitMs?: number;
  /** Of the city. Default: Asia/Jakarta. */
  readonly timeZone?: string;
  /** Is told each versioned file before it runs. */
  readonly onFile?: (file: string) => void;
  /** For a function, which would be stopped without an error: when to stop, and what the error tells to do. */
  readonly limit?: { readonly ms: number; readonly whatToDo: string };
}

/** Runs everything. @param begin is told what runs. @returns names of the files that ran. */
const runAll = async (
  sql: postgres.Sql,
  { folder = ourFolder, maxWaitMs = 600_000, timeZone = defaultZone, onFile }: MigrationOptions,
  begin: (file: string) => void,
): Promise<string[]> => {
  const migrations = listMigrations(`${folder}tables/`);
  const functions = listFunctionFiles(`${folder}functions/`);
  const newest = migrations.at(-1)?.version ?? 0;
  const wait = () => steadyNow() + maxWaitMs;
  await lock(sql, wait());
  await createTables(sql);
  await requireRelease(sql, newest);
  const ran = await readVersions(sql);
  const pending = listPending(migrations, ran);
  for (const migration of pending) {
    begin(migration.file);
    onFile?.(migration.file);
    await again(() => run(sql, migration), migration.file, wait());
  }
  const done = pending.map(({ file }) => file);
  // those of a later release stay, like its tables
  if (Math.max(0, ...ran.keys()) > newest) return done;
  begin("the replacement of functions");
  const replace = () =>
    inTransaction(sql, async (transaction) => {
      await setTimeZone(transaction, timeZone);
      return replaceFunctions(transaction, functions);
    });
  return [...done, ...(await again(replace, "functions", wait()))];
};

/**
 * Migrates the schema to the newest version: the new files of `tables/`, each in a transaction of its own or
 * concurrently, then the changed files of `functions/`, in one. What has run stays when a later file fails. Where a lock is
 * held by others, and after a deadlock, a file starts again, so that no reader waits longer than 2 s behind it.
 *
 * @param sql one connection of a role that can create roles and schemas.
 * @returns names of the files that ran.
 * @throws Error when a file fails, when one that has run was edited since, when the release is too old for the schema, and
 * at the limit, when the connection is still busy.
 */
export const migrate = async (sql: postgres.Sql, options: MigrationOptions = {}): Promise<string[]> => {
  if (sql.options.max !== 1)
    throw new Error("a migration needs a pool with one connection, which holds its lock");
  const { limit } = options;
  // else the server notices only at the end of a statement that its client is gone
  if (limit) await sql`set client_connection_check_interval = '2s'`;
  let running = "the wait for another migration";
  const all = runAll(sql, options, (file) => {
    running = file;
  }).finally(() => sql`select pg_advisory_unlock_all()`.catch(() => {}));
  return limit
    ? deadline(all, limit.ms, () => new Error(`${running} has not ended in time: ${limit.whatToDo}`))
    : all;
};
