import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";

/*
 * Logical replication of the product's tables to a server of another version.
 * @see https://www.postgresql.org/docs/18/logical-replication-restrictions.html
 */

/** Of the publication, the subscription and its slot. */
const name = "upgrade";
const pollMs = 20;

/** Each server has its own, which the migration writes. */
const own = "nspname !~ '^pg_' and nspname not in ('information_schema', 'migration')";

/**
 * Lists what logical replication would leave out, and tables whose updates and deletes fail once they are published.
 *
 * @returns a line each; none if everything can be replicated.
 */
export const listObstacles = async (sql: postgres.Sql): Promise<string[]> => {
  const rows = await sql.unsafe<{ line: string }[]>(`
    with tables as (select c.* from pg_class c join pg_namespace n on n.oid = relnamespace where ${own})
    select oid::regclass || ' has no key that identifies its rows' as line from tables
      where relkind in ('r', 'p') and (relreplident = 'n' or relreplident = 'd'
        and not exists (select from pg_index where indrelid = tables.oid and indisprimary))
    union all select oid::regclass || ' is unlogged' from tables where relpersistence = 'u' and relkind = 'r'
    union all select oid::regclass || ' is a materialized view' from tables where relkind = 'm'
    union all select 'large object ' || oid from pg_largeobject_metadata`);
  return rows.map(({ line }) => line).toSorted();
};

/** Publishes all tables; partitions as their root, because the new server may have others. */
export const publish = async (source: postgres.Sql): Promise<void> => {
  const schemas = await source.unsafe<{ schema: string }[]>(
    `select quote_ident(nspname) as schema from pg_namespace where ${own}`,
  );
  const list = schemas.map(({ schema }) => schema).join(", ");
  await source.unsafe(
    `create publication ${name} for tables in schema ${list} with (publish_via_partition_root = true)`,
  );
};

/**
 * Copies all rows into the empty tables of a migrated database, and applies each change from then on.
 *
 * @param address of the source, as libpq takes it.
 */
export const subscribe = async (target: postgres.Sql, address: string): Promise<void> => {
  // they count the rows of a copy, but the counts themselves are copied, too
  await target.unsafe("alter table resident.resident disable trigger user");
  await target.unsafe(`create subscription ${name} connection '${address}' publication ${name}`);
  while ((await target`select from pg_subscription_rel where srsubstate <> 'r'`).length > 0)
    await setTimeout(pollMs);
  await target`select resident.restore_triggers()`;
};

/** Makes a change on the source, and waits until it could not be applied. */
export const untilRefused = async (target: postgres.Sql, change: () => Promise<unknown>): Promise<void> => {
  const count = async () => {
    const [row] = await target<{ count: string }[]>`
      select apply_error_count::text as count from pg_stat_subscription_stats`;
    return row?.count;
  };
  const before = await count();
  await change();
  while ((await count()) === before) await setTimeout(pollMs);
};

/** Waits until all that is written has been applied. */
export const untilApplied = async (source: postgres.Sql): Promise<void> => {
  const [end] = await source<{ lsn: string }[]>`select pg_current_wal_lsn()::text as lsn`;
  const applied = () => source`
    select from pg_replication_slots where slot_name = ${name} and confirmed_flush_lsn >= ${end?.lsn ?? ""}::text::pg_lsn`;
  while ((await applied()).length === 0) await setTimeout(pollMs);
};

/** Lets no client in any more but superusers, and ends those that are in: they would write to the old server. */
export const fence = async (source: postgres.Sql): Promise<void> => {
  await source.unsafe("alter database municipal connection limit 0");
  await source`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;
};

/** Lists the locks by which a messenger leads, or a migration runs: a second one may lead on the new server. */
export const listLocks = async (source: postgres.Sql): Promise<string[]> => {
  const rows = await source<{ line: string }[]>`
    select 'a session still holds the advisory lock ' || objid as line from pg_locks
    where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`;
  return rows.map(({ line }) => line);
};

interface Sequence {
  readonly name: string;
  /** Null before the first number. */
  readonly last: string | null;
}
const listSequences = (sql: postgres.Sql) => sql<Sequence[]>`
  select format('%I.%I', schemaname, sequencename) as name, last_value::text as last from pg_sequences order by name`;

/** Copies the state of all sequences, also of identity columns, which are not replicated. @returns their number. */
export const copySequences = async (source: postgres.Sql, target: postgres.Sql): Promise<number> => {
  const sequences = await listSequences(source);
  for (const { name, last } of sequences)
    if (last !== null) await target`select setval(${name}::text::regclass, ${last}::text::bigint)`;
  return sequences.length;
};

/** @returns sequences that would give numbers again which the old server has given. */
export const compareSequences = async (source: postgres.Sql, target: postgres.Sql): Promise<string[]> => {
  const found = new Map((await listSequences(target)).map(({ name, last }) => [name, last]));
  return (await listSequences(source)).flatMap(({ name, last }) =>
    found.get(name) === last ? [] : [`sequence ${name}: at ${found.get(name)}, not ${last}`],
  );
};

/** Ends the replication on both sides: a slot that is left would keep the log of the old server for ever. */
export const unsubscribe = async (source: postgres.Sql, target: postgres.Sql): Promise<void> => {
  await target.unsafe(`drop subscription ${name}`);
  await source.unsafe(`drop publication ${name}`);
};
