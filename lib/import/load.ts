import { once } from "node:events";
import postgres from "postgres";
import type { ImportTable, Row } from "./table.ts";

export interface LoadCounts {
  inserted: number;
  updated: number;
  /** Rows that stood there already with these values: not written again. */
  unchanged: number;
  /** Rows whose key came again later in the same batch: the later one counts. */
  repeated: number;
}

/** What the upsert tells of a batch. */
interface Counts {
  staged: number;
  distinct: number;
  inserted: number;
  updated: number;
}

const escapes: Record<string, string> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** One line of COPY's text format. */
const copyLine = ({ line, values }: Row): string =>
  `${line}\t${values.map((value) => value?.replace(/[\\\t\n\r]/g, (char) => escapes[char] ?? char) ?? "\\N").join("\t")}\n`;

const upsert = ({ table, key, columns }: ImportTable): string => {
  const names = columns.map(({ column }) => column);
  const keyType = columns.find(({ column }) => column === key)?.type ?? "text";
  const value = ({ column, type, whenAbsent }: ImportTable["columns"][number]) =>
    whenAbsent === undefined
      ? `staged.${column}::${type}`
      : `coalesce(staged.${column}::${type}, known.${column}, ${whenAbsent})`;
  const changed = names.filter((name) => name !== key);
  const tuple = (alias: string) => `(${changed.map((name) => `${alias}.${name}`).join(", ")})`;
  return `
    with staged as (
      select distinct on (${key}::${keyType}) * from staging order by ${key}::${keyType}, line desc
    ), written as (
      insert into ${table} as target (${names.join(", ")})
      select ${columns.map(value).join(", ")}
      from staged left join ${table} known on known.${key} = staged.${key}::${keyType}
      order by staged.${key}::${keyType}
      on conflict (${key}) do update set ${changed.map((name) => `${name} = excluded.${name}`).join(", ")}
      where ${tuple("target")} is distinct from ${tuple("excluded")}
      returning (xmax = 0) as inserted
    )
    select
      (select count(*)::int from staging) as staged,
      (select count(*)::int from staged) as distinct,
      count(*) filter (where inserted)::int as inserted,
      count(*) filter (where not inserted)::int as updated
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

/** COPY whose promise settles also when the connection goes away: the driver's stream then just falls silent. */
const copyIn = async (sql: postgres.Sql, text: string) => {
  const closed = Promise.withResolvers<never>();
  sql.options.onclose = () =>
    closed.reject(
      Object.assign(new Error("the connection broke during COPY"), { code: "CONNECTION_CLOSED" }),
    );
  try {
    const copy = await sql.unsafe("copy staging from stdin").writable();
    copy.end(text);
    await Promise.race([once(copy, "finish"), closed.promise]);
  } finally {
    sql.options.onclose = () => {};
    closed.promise.catch(() => {});
  }
};

/**
 * Stores rows by their key: COPY into a staging table, then one upsert, in one transaction. A batch is
 * stored whole or not at all, and storing it again changes nothing.
 *
 * @param sql one connection (`max: 1`) of the role `municipal_importer`.
 */
export const storeBatch = (
  sql: postgres.Sql,
  table: ImportTable,
  rows: readonly Row[],
): Promise<LoadCounts> =>
  inTransaction(sql, async () => {
    const staged = table.columns.map(({ column }) => `${column} text`).join(", ");
    await sql.unsafe(`create temp table staging (line bigint, ${staged}) on commit drop`);
    await copyIn(sql, rows.map(copyLine).join(""));
    const [counts] = await sql.unsafe<Counts[]>(upsert(table));
    if (!counts) throw new Error("the upsert returned no counts");
    const { staged: all, distinct, inserted, updated } = counts;
    return { inserted, updated, unchanged: distinct - inserted - updated, repeated: all - distinct };
  });
