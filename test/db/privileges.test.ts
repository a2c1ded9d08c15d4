import type postgres from "postgres";
import { describe, expect, test } from "vitest";
import { loginRoles } from "#lib/db/roles.ts";
import { connectFor } from "../steps/connections.ts";

const DENIED = "42501";

/** The SQLSTATE with which a statement is refused, or undefined when it is carried out. */
const refusal = (sql: postgres.Sql, statement: string): Promise<string | undefined> =>
  sql.unsafe(statement).then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );

describe("the resident role", () => {
  test("may execute the two read functions, which return masked rows", async () => {
    const sql = connectFor("residentUrl");
    const [row] = await sql`select total, residents from resident.list(1, 1, 'p', 'k', 'r')`;
    expect(JSON.stringify(row?.residents)).not.toMatch(/\d{7,}/);
  });

  test("cannot read any column of any table by any statement", async () => {
    const admin = connectFor("adminUrl");
    const sql = connectFor("residentUrl");
    const tables = await admin<{ name: string; columns: string[] }[]>`
      select format('%I.%I', table_schema, table_name) as name, array_agg(quote_ident(column_name)) as columns
      from information_schema.columns
      where table_schema in ('resident', 'tourism', 'partner', 'employee', 'audit', 'migration') group by 1`;
    expect(tables.length).toBeGreaterThanOrEqual(10);
    for (const { name, columns } of tables) {
      const statements = [
        ...columns.map((column) => `select ${column} from ${name} limit 1`),
        `select count(*) from ${name}`,
        `select ctid from ${name}`,
        `table ${name}`,
        `copy ${name} to stdout`,
        `do $$ begin lock table ${name} in access share mode; end $$`,
        `explain analyze select * from ${name}`,
        `create temp table stolen as select * from ${name}`,
        `declare c cursor with hold for select * from ${name}`,
        `delete from ${name} returning *`,
        `update ${name} set ${columns.at(-1)} = default returning *`,
        `insert into ${name} default values`,
        `truncate ${name}`,
        `create view resident.peek as select * from ${name}`,
        `alter table ${name} disable trigger all`,
      ];
      for (const statement of statements)
        expect([statement, await refusal(sql, statement)]).toEqual([statement, DENIED]);
    }
  });

  test("cannot become another role, create objects, or see other sessions' statements", async () => {
    const sql = connectFor("residentUrl");
    for (const statement of [
      "set role municipal_owner",
      "create table public.t (x int)",
      "create table resident.t (x int)",
      "create temp table t (x int)",
      "create schema s",
      "select resident.read_list(1, 10)",
      "select resident.mask_number('1')",
      "select partner.authenticate('')",
      "select pg_read_file('/etc/passwd')",
    ])
      expect([statement, await refusal(sql, statement)]).toEqual([statement, DENIED]);
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

describe.each([
  ["resident", ["resident.list", "resident.search"]],
  [
    "employee",
    [
      "employee.close_account",
      "employee.confirm_session",
      "employee.fail_attempt",
      "employee.limit_session",
      "employee.pass_attempt",
      "employee.release_attempt",
      "employee.reserve_attempt",
      "employee.spend_token",
      "employee.start_session",
    ],
  ],
  [
    "employee-ticket",
    [
      "employee.fail_attempt",
      "employee.owns_ticket",
      "employee.pass_attempt",
      "employee.release_attempt",
      "employee.reserve_attempt",
      "employee.store_ticket",
    ],
  ],
  ["employee-admin", ["employee.end_sessions", "employee.list_sessions", "employee.unlock_account"]],
  [
    "maintenance",
    [
      "audit.expire_reads",
      "audit.extend_partitions",
      "audit.find_settled_id",
      "audit.seal_reads",
      "audit.verify_seals",
      "employee.expire_attempts",
      "employee.expire_sessions",
      "messaging.expire_acts",
      "notification.expire",
      "resident.choose_blocks",
      "resident.count_outdated_names",
      "resident.fold_changes",
      "resident.list_bypassable_triggers",
      "resident.list_stale_blocks",
      "resident.merge_trigrams",
      "resident.read_names",
      "resident.read_profile",
      "resident.read_status",
      "resident.read_vocabulary",
      "resident.rebuild_blocks",
      "resident.recount",
      "resident.refresh_names",
      "resident.restore_triggers",
      "resident.sample_names",
      "resident.split_block",
      "resident.store_profiles",
      "resident.store_vocabulary",
    ],
  ],
] as const)("the role %s", (name, functions) => {
  const role = loginRoles[name];
  const ours = [
    ...[
      "audit",
      "audience",
      "employee",
      "messaging",
      "migration",
      "notification",
      "office",
      "partner",
      "public",
    ],
    ...["resident", "tourism"],
  ];

  test("has no privilege on any table or column", async () => {
    const admin = connectFor("adminUrl");
    const relations = await admin`
      select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') and c.relkind in ('r', 'p', 'v', 'm', 'S')
        and case c.relkind
          when 'S' then has_sequence_privilege(${role}, c.oid, 'USAGE, SELECT, UPDATE')
          else has_any_column_privilege(${role}, c.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
            or has_table_privilege(${role}, c.oid, 'DELETE, TRUNCATE, TRIGGER')
        end`;
    expect(relations.map((relation) => relation.name)).toEqual([]);
  });

  test("may execute only its own functions", async () => {
    const admin = connectFor("adminUrl");
    const rows = await admin`
      select format('%I.%I', n.nspname, p.proname) as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname = any(string_to_array(${ours.join()}, ','))
        and has_schema_privilege(${role}, n.oid, 'USAGE') and has_function_privilege(${role}, p.oid, 'EXECUTE')
      order by 1`;
    expect(rows.map((row) => row.name)).toEqual(functions);
  });
});

test("the employee role cannot read sessions or attempts by any statement", async () => {
  const sql = connectFor("employeeUrl");
  for (const statement of [
    "select * from employee.session",
    "select digest from employee.refresh_token",
    "select count(*) from employee.attempt",
    "delete from employee.attempt",
    "update employee.session set ended_at = null",
    "select employee.tally('', '', '', now())",
    "select employee.owns_ticket('', '')",
    "select * from employee.ticket",
    "select * from employee.known_network",
    "select resident.list(1, 1, 'p', 'k', 'r')",
    "select partner.authenticate('')",
    "create temp table t (x int)",
    "set role municipal_owner",
  ])
    expect([statement, await refusal(sql, statement)]).toEqual([statement, DENIED]);
});

test.each([
  ...([
    "tourism",
    "gatekeeper",
    "partner-admin",
    "employee",
    "employee-ticket",
    "employee-admin",
    "notify",
  ] as const),
])("the role %s cannot read residents", async (name) => {
  const admin = connectFor("adminUrl");
  const [row] = await admin`
    select has_schema_privilege(${loginRoles[name]}, 'resident', 'USAGE') as schema,
      has_any_column_privilege(${loginRoles[name]}, 'resident.resident', 'SELECT') as columns`;
  expect(row).toEqual({ schema: false, columns: false });
});

test("every function that runs as its owner has a search path that ends in pg_temp", async () => {
  const functions = await connectFor("adminUrl")<{ name: string; path: string | null }[]>`
    select p.oid::regprocedure::text as name,
      (select setting from unnest(p.proconfig) setting where setting like 'search_path=%') as path
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where p.prosecdef and n.nspname not in ('pg_catalog', 'information_schema')`;
  expect(functions.length).toBeGreaterThan(30);
  expect(functions.filter(({ path }) => !path?.endsWith(", pg_temp"))).toEqual([]);
});

test.each(Object.values(loginRoles))(
  "%s may not create temporary objects, schemas, or anything in a schema",
  async (role) => {
    const [row] = await connectFor("adminUrl")`
      select has_database_privilege(${role}, current_database(), 'TEMP, CREATE') as database,
        coalesce(bool_or(has_schema_privilege(${role}, oid, 'CREATE')), false) as schema
      from pg_namespace where nspname not like 'pg_temp%' and nspname not like 'pg_toast_temp%'`;
    expect(row).toEqual({ database: false, schema: false });
  },
);

test("the importer cannot give a type of its own to the function that counts its rows", async () => {
  const sql = connectFor("importerUrl");
  for (const statement of [
    "create domain pg_temp.text as pg_catalog.text check (current_user <> 'municipal_owner')",
    "create temp table new_rows (created_at timestamp, id bigint)",
  ])
    expect([statement, await refusal(sql, statement)]).toEqual([statement, DENIED]);
});

test("the importer may write residents but not the audit, keys or the schema", async () => {
  const sql = connectFor("importerUrl");
  for (const statement of [
    "select * from audit.resident_read",
    "select * from partner.api_key",
    "delete from resident.resident",
    "truncate resident.resident",
    "alter table resident.resident add x int",
    "drop table resident.resident",
  ])
    expect([statement, await refusal(sql, statement)]).toEqual([statement, DENIED]);
});

test("the notify role reads all audiences, also later ones, but not the tables behind them", async () => {
  const sql = connectFor("notifyUrl");
  const views = await connectFor("adminUrl")<{ name: string }[]>`
    select format('audience.%I', viewname) as name from pg_views where schemaname = 'audience'`;
  expect(views.length).toBeGreaterThanOrEqual(4);
  for (const { name } of views) expect(await refusal(sql, `select * from ${name}`)).toBeUndefined();
  for (const statement of [
    ...["appointment", "queue_ticket", "document", "on_call", "alert"].map(
      (table) => `select * from office.${table}`,
    ),
    "update audience.appointment_reminder set phone = phone",
    "create view audience.mine as select 1",
    "select * from messaging.message",
    "select phone from messaging.contact",
    "select notification.expire(1)",
    "delete from notification.run",
    "update notification.opt_out set since = now()",
    "delete from notification.opt_out",
    "select * from resident.resident",
    "set role municipal_owner",
  ])
    expect([statement, await refusal(sql, statement)]).toEqual([statement, DENIED]);
});

test("the messenger's role reads only the runs of notifications, and opts single numbers out", async () => {
  const sql = connectFor("messengerUrl");
  for (const statement of ["select * from notification.run", "select notification.remove_opt_out('')"])
    expect(await refusal(sql, statement)).toBeUndefined();
  for (const statement of [
    ...["recipient", "request", "opt_out"].map((table) => `select * from notification.${table}`),
    "update notification.run set state = 'done'",
    "update notification.opt_out set since = now()",
    "select digest from notification.opt_out",
    "delete from notification.opt_out",
    "insert into notification.opt_out (digest, pepper_version) values ('', 1)",
    "select * from audience.appointment_reminder",
    "select * from office.appointment",
  ])
    expect([statement, await refusal(sql, statement)]).toEqual([statement, DENIED]);
});
