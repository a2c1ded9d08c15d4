import type { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import postgres from "postgres";
import { Batch } from "./batch.ts";
import { type ImportTable, keyReader } from "./table.ts";

export interface LoadCounts {
  inserted: number;
  updated: number;
  /** Rows that were already stored with these values; not written again. */
  unchanged: number;
  /** Blank cells of rows in which something is stored. */
  blank: number;
}

type Counts = Pick<LoadCounts, "inserted" | "updated" | "blank">;

const namesOf = ({ columns }: ImportTable): string[] => columns.map(({ column }) => column);

const keyTypeOf = ({ key, columns }: ImportTable): string =>
  columns.find(({ column }) => column === key)?.type ?? "text";

const upsert = (target: ImportTable): string => {
  const { table, key, columns, alwaysWritten = "false", kept = (column) => `known.${column}` } = target;
  const names = namesOf(target);
  const keyType = keyTypeOf(target);
  const value = ({ column, type, whenAbsent }: ImportTable["columns"][number]) =>
    whenAbsent === undefined
      ? `staging.${column}::${type}`
      : `coalesce(staging.${column}::${type}, ${type === "text" ? kept(column) : `known.${column}`}, ${whenAbsent})`;
  const changed = names.filter((name) => name !== key);
  const blanks = columns
    .filter(({ column, type }) => type === "text" && column !== key)
    .map(({ column }) => `(coalesce(staging.${column}, '') = '' and known.${column} <> '')::int`);
  const tuple = (alias: string) => `(${changed.map((name) => `${alias}.${name}`).join(", ")})`;
  return `
    with staging as materialized (
      select * from json_to_recordset($1::text::json) as staging (${names.map((name) => `${name} text`).join(", ")})
    ), written as (
      insert into ${table} as target (${names.join(", ")})
      select ${columns.map(value).join(", ")}
      from staging left join ${table} known on known.${key} = staging.${key}::${keyType}
      order by staging.${key}::${keyType}
      on conflict (${key}) do update set ${changed.map((name) => `${name} = excluded.${name}`).join(", ")}
      where ${tuple("target")} is distinct from ${tuple("excluded")} or ${alwaysWritten}
      returning (xmax = 0) as inserted
    )
    select count(*) filter (where inserted)::int as inserted, count(*) filter (where not inserted)::int as updated,
      (select coalesce(sum(${blanks.join(" + ")}), 0)::int
        from staging join ${table} known on known.${key} = staging.${key}::${keyType}) as blank
    from written`;
};

/** How a batch ends: a trial stores nothing, and counts the same. */
export type End = "commit" | "rollback";

const connectionLost = () =>
  Object.assign(new Error("the connection was lost"), { code: "CONNECTION_CLOSED" });

const lostSessions = new WeakSet<postgres.Sql>();

/**
 * Keeps to one session: once it is lost, also while it is idle, no batch is stored any more. The driver would open another one
 * in silence, without the locks and the settings of the first.
 */
export const holdSession = (sql: postgres.Sql): void => {
  sql.options.onclose = () => lostSessions.add(sql);
};

/**
 * Runs work in a transaction, without `sql.begin`: that of postgres 3.4.9 sends its rollback to a closed socket,
 * which ends the process. The driver reconnects in silence: if it did, the transaction is lost, and the work fails.
 */
const inTransaction = async <T>(sql: postgres.Sql, end: End, work: () => Promise<T>): Promise<T> => {
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {});
  const onclose = sql.options.onclose ?? (() => {});
  await sql`begin`;
  if (lostSessions.has(sql)) throw connectionLost();
  sql.options.onclose = (id) => {
    onclose(id);
    lost.reject(connectionLost());
  };
  try {
    const result = await Promise.race([lost.promise, work()]);
    await Promise.race([lost.promise, end === "commit" ? sql`commit` : sql`rollback`]);
    return result;
  } catch (error) {
    // only a failed statement leaves an open transaction; any other error means that the connection is lost
    if (error instanceof postgres.PostgresError && error.severity === "ERROR") await sql`rollback`;
    throw error;
  } finally {
    sql.options.onclose = onclose;
  }
};

const findKnown = async (
  sql: postgres.Sql,
  target: ImportTable,
  keys: readonly string[],
): Promise<Set<string>> => {
  const { table, key } = target;
  const known = await sql.unsafe<{ key: string }[]>(
    `select known.${key}::text as key from json_array_elements_text($1::text::json) given (key)
     join ${table} known on known.${key} = given.key::${keyTypeOf(target)}`,
    [JSON.stringify(keys)],
  );
  return new Set(known.map(({ key }) => key));
};

/** Fills absent values of new rows with the columns' defaults. */
const complete = async (sql: postgres.Sql, { columns }: ImportTable, rows: Batch): Promise<Batch> => {
  if (!rows.hasAbsent) return rows;
  const absent = columns.map(({ whenAbsent = "null" }) => `(${whenAbsent})::text`);
  const [defaults = []] = await sql.unsafe(`select ${absent.join(", ")}`).values();
  return Batch.of(
    [...rows].map(({ values }) => ({ values: values.map((value, i) => value ?? defaults[i] ?? null) })),
  );
};

/** Copies straight into the table, which costs a third less than an upsert. */
const insertRows = async (sql: postgres.Sql, target: ImportTable, rows: Batch): Promise<void> => {
  if (rows.size === 0) return;
  const columns = namesOf(target).join(", ");
  await copyRows(sql, `${target.table} (${columns})`, await complete(sql, target, rows));
};

const upsertRows = async (sql: postgres.Sql, target: ImportTable, rows: Batch): Promise<Counts> => {
  if (rows.size === 0) return { inserted: 0, updated: 0, blank: 0 };
  const names = namesOf(target);
  const objects = [...rows].map(({ values }) =>
    Object.fromEntries(names.map((name, i) => [name, values[i]])),
  );
  const [counts] = await sql.unsafe<Counts[]>(upsert(target), [JSON.stringify(objects)]);
  if (!counts) throw new Error("the upsert returned no counts");
  return counts;
};

type Strategy = (sql: postgres.Sql, table: ImportTable, batch: Batch) => Promise<Counts>;

/** @throws PostgresError if a key is already stored. */
const insertAll: Strategy = async (sql, table, batch) => {
  await insertRows(sql, table, batch);
  return { inserted: batch.size, updated: 0, blank: 0 };
};

/** @throws PostgresError if another session has inserted one of the new keys in the meantime. */
const insertAndUpdate: Strategy = async (sql, table, batch) => {
  const readKey = keyReader(table);
  const rows = [...batch];
  const known = await findKnown(sql, table, rows.map(readKey));
  const pick = (areKnown: boolean) => Batch.of(rows.filter((row) => known.has(readKey(row)) === areKnown));
  const fresh = pick(false);
  await insertRows(sql, table, fresh);
  const counts = await upsertRows(sql, table, pick(true));
  return { ...counts, inserted: fresh.size + counts.inserted };
};

/** Writes in key order, so that concurrent upserts do not deadlock. */
const upsertAll: Strategy = upsertRows;

/** unique_violation; deadlock_detected; in_failed_sql_transaction, which COPY reports instead of the cause. */
const retried = new Set(["23505", "40P01", "25P02"]);

const attempt = async (
  [strategy, ...others]: readonly [Strategy, ...Strategy[]],
  sql: postgres.Sql,
  table: ImportTable,
  batch: Batch,
  end: End,
): Promise<Counts> => {
  try {
    return await inTransaction(sql, end, () => strategy(sql, table, batch));
  } catch (error) {
    const [next, ...rest] = others;
    if (!(next && error instanceof postgres.PostgresError && retried.has(error.code))) throw error;
    return attempt([next, ...rest], sql, table, batch, end);
  }
};

/**
 * Stores a batch, in which each key occurs once, in one transaction. Idempotent.
 *
 * @param sql one connection (`max: 1`) of the role `municipal_importer`.
 * @param areLikelyNew skips the lookup of existing keys, a fifth of the time; if a key exists, the batch is retried
 * with the lookup.
 */
export const storeBatch = async (
  sql: postgres.Sql,
  table: ImportTable,
  batch: Batch,
  areLikelyNew = false,
  end: End = "commit",
): Promise<LoadCounts> => {
  // two imports at once may deadlock more than once
  const strategies = [insertAndUpdate, upsertAll, upsertAll, upsertAll] as const;
  const counts = await attempt(
    areLikelyNew ? [insertAll, ...strategies] : strategies,
    sql,
    table,
    batch,
    end,
  );
  return { ...counts, unchanged: batch.size - counts.inserted - counts.updated };
};

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
