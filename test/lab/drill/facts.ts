import type postgres from "postgres";
import { describeSchema } from "../../steps/schema.ts";

/** What a restored database must have in common with the lost one. */
export interface Facts {
  readonly counts: ReadonlyMap<string, number>;
  /** Tables, triggers, functions and privileges, a line each. */
  readonly schema: readonly string[];
  /** Roles with their attributes, settings and memberships, a line each. */
  readonly roles: readonly string[];
}

const listTables = (sql: postgres.Sql) => sql<{ name: string }[]>`
  select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = relnamespace
  where relkind = 'r' and nspname !~ '^pg_' and nspname <> 'information_schema' order by name`;

const listRoles = async (sql: postgres.Sql): Promise<string[]> => {
  const rows = await sql<{ line: string }[]>`
    select concat_ws(' ', rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolconnlimit, rolconfig,
      (select array_agg(concat(g.rolname, ':', m.admin_option) order by g.rolname) from pg_auth_members m
        join pg_roles g on g.oid = m.roleid where m.member = r.oid)) as line
    from pg_roles r where rolname !~ '^pg_' order by 1`;
  return rows.map(({ line }) => line);
};

/** @param sql one connection of the superuser, who may read every table. */
export const readFacts = async (sql: postgres.Sql): Promise<Facts> => {
  const counts = new Map<string, number>();
  for (const { name } of await listTables(sql)) {
    const [row] = await sql.unsafe<{ count: number }[]>(`select count(*)::float8 as count from ${name}`);
    counts.set(name, row?.count ?? 0);
  }
  return { counts, schema: await describeSchema(sql), roles: await listRoles(sql) };
};

const differences = (what: string, wanted: readonly string[], found: readonly string[]): string[] => [
  ...wanted.filter((line) => !found.includes(line)).map((line) => `${what} missing: ${line}`),
  ...found.filter((line) => !wanted.includes(line)).map((line) => `${what} not expected: ${line}`),
];

const lines = ({ counts }: Facts) => [...counts].map(([table, count]) => `${table}: ${count} rows`);

/** @returns the differences in words; none if all is there. */
export const compareFacts = (lost: Facts, restored: Facts): string[] => [
  ...differences("rows", lines(lost), lines(restored)),
  ...differences("schema", lost.schema, restored.schema),
  ...differences("role", lost.roles, restored.roles),
];
