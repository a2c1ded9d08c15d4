import postgres from "postgres";
import { copyRows } from "./copy.ts";
import { type ImportTable, keyReader, type Row } from "./table.ts";

export interface LoadCounts {
  inserted: number;
  updated: number;
  /** Rows that stood there already with these values: not written again. */
  unchanged: number;
  /** Rows whose key came again later in the same batch: the later one counts. */
  repeated: number;
}

/** What the upsert tells. */
interface Counts {
  inserted: number;
  updated: number;
}

const namesOf = ({ columns }: ImportTable): string[] => columns.map(({ column }) => column);

const keyTypeOf = ({ key, columns }: ImportTable): string =>
  columns.find(({ column }) => column === key)?.type ?? "text";

const upsert = (target: ImportTable): string => {
  const { table, key, columns } = target;
  const names = namesOf(target);
  const keyType = keyTypeOf(target);
  const value = ({ column, type, whenAbsent }: ImportTable["columns"][number]) =>
    whenAbsent === undefined
      ? `staging.${column}::${type}`
      : `coalesce(staging.${column}::${type}, known.${column}, ${whenAbsent})`;
  const changed = names.filter((name) => name !== key);
  const tuple = (alias: string) => `(${changed.map((name) => `${alias}.${name}`).join(", ")})`;
  return `
    with written as (
      insert into ${table} as target (${names.join(", ")})
      select ${columns.map(value).join(", ")}
      from staging left join ${table} known on known.${key} = staging.${key}::${keyType}
      order by staging.${key}::${keyType}
      on conflict (${key}) do update set ${changed.map((name) => `${name} = excluded.${name}`).join(", ")}
      where ${tuple("target")} is distinct from ${tuple("excluded")}
      returning (xmax = 0) as inserted
    )
    select count(*) filter (where inserted)::int as inserted, count(*) filter (where not inserted)::int as updated
    from written`;
};

/**
 * A transaction by hand: `sql.begin` of postgres 3.4.9 sends its rollback into a socket that is gone, which
 * ends the process. Should the connection break in between, the staging table is gone with it, so that
 * nothing of the batch can be stored on the next one.
 */
const inTransaction = async <T>(sql: postgres.Sql, work: () => Promise<T>): Promise<T> => {
  await sql`begin`;
  try {
    const result = await work();
    await sql`commit`;
    return result;
  } catch (error) {
    // only a statement that failed leaves a transaction; after anything else there is no connection to it
    if (error instanceof postgres.PostgresError && error.severity === "ERROR") await sql`rollback`;
    throw error;
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

/** COPY into the table itself, which costs a third less than an upsert. */
const insertRows = async (sql: postgres.Sql, target: ImportTable, rows: readonly Row[]): Promise<void> => {
  const absent = target.columns.map(({ whenAbsent = "null" }) => `(${whenAbsent})::text`);
  const [defaults = []] = await sql.unsafe(`select ${absent.join(", ")}`).values();
  await copyRows(
    sql,
    `${target.table} (${namesOf(target).join(", ")})`,
    rows.map(({ values }) =>
      values.includes(null) ? values.map((value, i) => value ?? defaults[i] ?? null) : values,
    ),
  );
};

const upsertRows = async (sql: postgres.Sql, target: ImportTable, rows: readonly Row[]): Promise<Counts> => {
  const staged = namesOf(target).map((name) => `${name} text`);
  await sql.unsafe(`create temp table staging (${staged.join(", ")}) on commit drop`);
  await copyRows(
    sql,
    "staging",
    rows.map(({ values }) => values),
  );
  const [counts] = await sql.unsafe<Counts[]>(upsert(target));
  if (!counts) throw new Error("the upsert returned no counts");
  return counts;
};

/** unique_violation; deadlock_detected; in_failed_sql_transaction, where COPY failed and did not say why. */
const retried = new Set(["23505", "40P01", "25P02"]);

/**
 * Stores rows by their key, in one transaction: a batch is stored whole or not at all, and storing it again
 * changes nothing.
 *
 * @param sql one connection (`max: 1`) of the role `municipal_importer`.
 */
export const storeBatch = async (
  sql: postgres.Sql,
  table: ImportTable,
  rows: readonly Row[],
): Promise<LoadCounts> => {
  const readKey = keyReader(table);
  const byKey = new Map(rows.map((row) => [readKey(row), row]));
  const keys = [...byKey.keys()];
  const pick = (wanted: readonly string[]) => wanted.flatMap((key) => byKey.get(key) ?? []);
  const countsOf = ({ inserted, updated }: Counts): LoadCounts => ({
    ...{ inserted, updated },
    unchanged: keys.length - inserted - updated,
    repeated: rows.length - keys.length,
  });
  try {
    return await inTransaction(sql, async () => {
      const known = await findKnown(sql, table, keys);
      const [old, fresh] = [keys.filter((key) => known.has(key)), keys.filter((key) => !known.has(key))];
      if (fresh.length > 0) await insertRows(sql, table, pick(fresh));
      const { inserted, updated } =
        old.length > 0 ? await upsertRows(sql, table, pick(old)) : { inserted: 0, updated: 0 };
      return countsOf({ inserted: fresh.length + inserted, updated });
    });
  } catch (error) {
    // Most likely somebody else stored some of the keys since we looked; if not, the upsert says what it is. It
    // takes them in order, as any other does.
    if (!(error instanceof postgres.PostgresError && retried.has(error.code))) throw error;
    return inTransaction(sql, async () => countsOf(await upsertRows(sql, table, pick(keys))));
  }
};
