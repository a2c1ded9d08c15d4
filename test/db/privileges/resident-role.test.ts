import { describe, expect, test } from "vitest";
import { connectFor } from "../../steps/connections.ts";
import { expectDenied, refusal } from "./refusal.ts";

describe("the resident role", () => {
  test("may execute the two read functions, which return masked rows", async () => {
    const sql = connectFor("residentUrl");
    const [row] = await sql`select total, residents from resident.list(1, 1, 'p', 'k', 'r')`;
    expect(JSON.stringify(row?.residents)).not.toMatch(/\d{7,}/);
  });

  test("cannot read any column of any table by any statement", async () => {
    const admin = connectFor("adminUrl");
    const sql = connectFor("residentUrl");
    const tables = await admin<{ name: string; isView: boolean; columns: string[] }[]>`
      select format('%I.%I', table_schema, table_name) as name, array_agg(quote_ident(column_name)) as columns,
        format('%I.%I', table_schema, table_name)::regclass in (select oid from pg_class where relkind = 'v') as "isView"
      from information_schema.columns
      where table_schema in ('resident', 'tourism', 'partner', 'employee', 'audit', 'migration') group by 1, 3`;
    expect(tables.length).toBeGreaterThanOrEqual(10);
    for (const { name, isView, columns } of tables) {
      await expectDenied(sql, [
        ...columns.map((column) => `select ${column} from ${name} limit 1`),
        `select count(*) from ${name}`,
        `table ${name}`,
        `copy ${name} to stdout`,
        `do $$ begin lock table ${name} in access share mode; end $$`,
        `explain analyze select * from ${name}`,
        `create temp table stolen as select * from ${name}`,
        `declare c cursor with hold for select * from ${name}`,
        `delete from ${name} returning *`,
        `update ${name} set ${columns.at(-1)} = default returning *`,
        `insert into ${name} default values`,
        `create view resident.peek as select * from ${name}`,
        // a view has none of these
        ...(isView
          ? []
          : [`select ctid from ${name}`, `truncate ${name}`, `alter table ${name} disable trigger all`]),
      ]);
    }
  });

  test("cannot become another role, create objects, or see other sessions' statements", async () => {
    const sql = connectFor("residentUrl");
    await expectDenied(sql, [
      "set role municipal_owner",
      "create table public.t (x int)",
      "create table resident.t (x int)",
      "create temp table t (x int)",
      "create schema s",
      "select resident.read_list(1, 10)",
      "select resident.mask_number('1')",
      "select partner.authenticate('')",
      "select pg_read_file('/etc/passwd')",
    ]);
    const stats = await sql`select * from pg_stats where schemaname = 'resident'`;
    expect(stats).toEqual([]);
  });

  test("cannot change a read function by its search path", async () => {
    const sql = connectFor("residentUrl");
    await sql.unsafe("set search_path = pg_temp, public");
    const [row] = await sql`select total from resident.list(1, 1, 'p', 'k', 'r')`;
    expect(Number(row?.total)).toBeGreaterThan(0);
  });

  test("cannot read more than a page, or search without audit terms", async () => {
    const sql = connectFor("residentUrl");
    for (const statement of [
      "select resident.list(1, 101, 'p', 'k', 'r')",
      "select resident.list(0, 10, 'p', 'k', 'r')",
      "select resident.list(null, 10, 'p', 'k', 'r')",
      "select resident.search(null, null, 1, 10, 'p', 'k', 'r', null, null, 1)",
      "select resident.search(null, 'a', 1, 10, 'p', 'k', 'r', null, null, 1)",
      "select resident.search('9999010101000001', null, 1, 10, 'p', 'k', 'r', null, null, 1)",
    ])
      expect([statement, await refusal(sql, statement)]).toEqual([statement, "22023"]);
    expect(await refusal(sql, "select resident.list(1, 10, null, 'k', 'r')")).toBe("23502");
  });
});
