import type postgres from "postgres";
import type { FunctionFile } from "./migration-files.ts";

interface Stored {
  readonly name: string;
  readonly checksum: string;
  /** Signatures of what the file created. */
  readonly functions: readonly string[];
}

const owner = "municipal_owner";

/** Signatures and places of the functions with these names. Each change of a function moves it. */
const listPlaces = async (sql: postgres.TransactionSql, names: ReadonlySet<string>) => {
  const rows = await sql<{ signature: string; place: string }[]>`
    select p.oid::regprocedure::text as signature, p.ctid::text as place
    from pg_proc p join pg_namespace n on n.oid = pronamespace
    where ${sql.json([...names])}::jsonb ? (nspname || '.' || proname)
    order by p.oid::regprocedure::text collate "C"`;
  return new Map(rows.map(({ signature, place }) => [signature, place]));
};

/** Revokes what earlier texts of files granted, because `create or replace` would keep it. */
const revokeAll = async (sql: postgres.TransactionSql, functions: readonly string[]): Promise<void> => {
  const rows = await sql<{ statement: string }[]>`
    select format('revoke all on routine %s from %s', p.oid::regprocedure,
      case grantee when 0 then 'public' else grantee::regrole::text end) as statement
    from pg_proc p, aclexplode(proacl)
    where ${sql.json(functions)}::jsonb ? p.oid::regprocedure::text and grantee <> proowner`;
  for (const { statement } of rows) await sql.unsafe(statement);
};

/** Runs files as the owner of all schemas. @returns the signatures of what each has created, by its name. */
const run = async (
  sql: postgres.TransactionSql,
  files: readonly FunctionFile[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const names = new Set(files.flatMap(({ creates }) => [...creates]));
  const before = await listPlaces(sql, names);
  for (const { text } of files)
    await sql.unsafe(
      `set local role ${owner}; set local search_path = default; ${text}
      ; set local role none; set local search_path = pg_catalog`,
    );
  const after = [...(await listPlaces(sql, names))].filter(([fn, place]) => before.get(fn) !== place);
  const isOf = ({ creates }: FunctionFile, signature: string) =>
    creates.has(signature.slice(0, signature.indexOf("(")));
  return new Map(files.map((file) => [file.name, after.map(([fn]) => fn).filter((fn) => isOf(file, fn))]));
};

/** Drops what files created, and create no longer. All together, because functions may depend on each other. */
const dropOthers = async (sql: postgres.TransactionSql, earlier: readonly string[]): Promise<void> => {
  const [row] = await sql<{ list: string | null }[]>`
    select string_agg(p.oid::regprocedure::text, ', ') as list from pg_proc p
    where ${sql.json(earlier)}::jsonb ? p.oid::regprocedure::text
      and not exists (select from migration.repeatable where functions ? p.oid::regprocedure::text)`;
  if (row?.list) await sql.unsafe(`drop routine ${row.list}`);
};

/**
 * Runs the files of functions that have changed, and drops what they no longer create, and what files that are gone created.
 *
 * @param sql a transaction, so that no caller meets half of the functions.
 * @param files each after those that it calls.
 * @returns names of the files that ran or are gone.
 * @throws Error when something else depends on a function that would be dropped.
 */
export const replaceFunctions = async (
  sql: postgres.TransactionSql,
  files: readonly FunctionFile[],
): Promise<string[]> => {
  const rows = await sql<Stored[]>`select name, checksum, functions from migration.repeatable order by name`;
  const stored = new Map(rows.map((row) => [row.name, row]));
  const changed = files.filter(({ name, checksum }) => stored.get(name)?.checksum !== checksum);
  const gone = rows.filter(({ name }) => !files.some((file) => file.name === name));
  // so that signatures have the schemas of their types
  await sql.unsafe("set local search_path = pg_catalog");
  await revokeAll(
    sql,
    changed.flatMap(({ name }) => stored.get(name)?.functions ?? []),
  );
  const created = await run(sql, changed);
  const ran = changed.map(({ name, checksum }) => ({ name, checksum, functions: created.get(name) ?? [] }));
  await sql`
    insert into migration.repeatable (name, checksum, functions)
    select name, checksum, functions
    from jsonb_to_recordset(${sql.json(ran)}::jsonb) ran (name text, checksum text, functions jsonb)
    on conflict (name) do update set checksum = excluded.checksum, functions = excluded.functions, run_at = now()`;
  for (const { name } of gone) await sql`delete from migration.repeatable where name = ${name}`;
  await dropOthers(
    sql,
    rows.flatMap(({ functions }) => functions),
  );
  return [...changed, ...gone].map(({ name }) => name);
};
