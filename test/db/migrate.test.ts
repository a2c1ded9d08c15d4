import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type postgres from "postgres";
import { expect, test } from "vitest";
import { migrate } from "#lib/db/migrate.ts";
import { recountBlocks } from "#lib/resident/recount.ts";
import { connectFor } from "../steps/connections.ts";
import { copyMigrations, writeMigrations } from "../steps/migration-folder.ts";
import { insertSeries } from "../steps/residents/resident-series.ts";
import { createEmptyDatabase } from "../steps/temporary-database.ts";

const source = fileURLToPath(new URL("../../lib/db/tables", import.meta.url));

const shipped = readdirSync(source).length;

const emptyDatabase = async () => (await createEmptyDatabase()).connect("adminUrl");

/** A database with the tables that the next two migrations alter. */
const prepareAlterations = async () => {
  const database = await createEmptyDatabase();
  const sql = database.connect("adminUrl");
  const { folder, write } = writeMigrations({
    "tables/0001.do.tables.sql": "create table public.free (x int); create table public.busy (x int);",
  });
  await migrate(sql, { folder });
  write("tables/0002.do.free.sql", "alter table public.free add y int;");
  write("tables/0003.do.busy.sql", "alter table public.busy add y int;");
  return { database, sql, folder };
};

/** Reads a table in a transaction, whose lock stays until it is released. */
const holdLock = async (sql: postgres.Sql, table: string) => {
  const isHeld = Promise.withResolvers<void>();
  const isOver = Promise.withResolvers<void>();
  const holding = sql.begin(async (transaction) => {
    await transaction.unsafe(`select from ${table}`);
    isHeld.resolve();
    await isOver.promise;
  });
  await isHeld.promise;
  return async () => {
    isOver.resolve();
    await holding;
  };
};

test("creates the schema as an administrator who is not a superuser, and changes nothing the second time", async () => {
  const sql = await emptyDatabase();
  const [role] = await sql`select rolsuper from pg_roles where rolname = current_user`;
  expect(role?.rolsuper).toBe(false);
  expect(await migrate(sql)).toEqual(expect.arrayContaining(readdirSync(source)));
  expect(await migrate(sql)).toEqual([]);
});

test("a file that fails leaves nothing behind, and the files before it stay", async () => {
  const sql = await emptyDatabase();
  const { folder, write } = writeMigrations({
    "tables/0001.do.whole.sql": "create table public.whole (x int);",
    "tables/0002.do.broken.sql": "create table public.half (x int); select 1 / 0;",
  });
  await expect(migrate(sql, { folder })).rejects.toThrow("division by zero");
  expect(await sql`select tablename from pg_tables where schemaname = 'public'`).toEqual([
    { tablename: "whole" },
  ]);
  write("tables/0002.do.broken.sql", "create table public.half (x int);");
  expect(await migrate(sql, { folder })).toEqual(["0002.do.broken.sql"]);
});

test("a run whose session is killed in a file continues with that file", async () => {
  const sql = await emptyDatabase();
  const { folder } = writeMigrations({
    "tables/0001.do.attempt.sql": "create sequence public.attempt;",
    // a sequence is not rolled back
    "tables/0002.do.killed.sql": `create table public.half (x int);
      do $$ begin
        if nextval('public.attempt') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if;
      end $$;`,
    "tables/0003.do.last.sql": "create table public.last (x int);",
  });
  await expect(migrate(sql, { folder })).rejects.toThrow("CONNECTION_CLOSED");
  expect(await sql`select version from migration.version`).toEqual([{ version: "1" }]);
  expect(await migrate(sql, { folder })).toEqual(["0002.do.killed.sql", "0003.do.last.sql"]);
});

test("fails when an applied migration has been edited", async () => {
  const sql = await emptyDatabase();
  const { folder, read, write } = copyMigrations();
  await migrate(sql, { folder });
  const file = "tables/0004.do.tourism.sql";
  write(file, `${read(file)}\n-- edited`);
  await expect(migrate(sql, { folder })).rejects.toThrow("the checksum of 0004.do.tourism.sql differs");
});

test.each([
  [["0001.do.a.sql", "0001.concurrently.b.sql"], "0001.concurrently.b.sql has the number of 0001.do.a.sql"],
  [["0001.do.a.sql", "0002.Do.b.sql"], "0002.Do.b.sql is not named NNNN.do.<subject>.sql"],
  [["0001.do.a.sql", "notes.txt"], "notes.txt is not named"],
])("rejects the files %j before it runs any", async (files, message) => {
  const sql = await emptyDatabase();
  const texts = files.map((file) => [`tables/${file}`, "select 1;"]);
  const { folder } = writeMigrations(Object.fromEntries(texts));
  await expect(migrate(sql, { folder })).rejects.toThrow(message);
  expect(await sql`select from pg_namespace where nspname = 'migration'`).toEqual([]);
});

test("rejects a file with a lower number than one that has run", async () => {
  const sql = await emptyDatabase();
  const { folder, write } = writeMigrations({ "tables/0002.do.second.sql": "select 1;" });
  await migrate(sql, { folder });
  write("tables/0001.do.first.sql", "select 1;");
  await expect(migrate(sql, { folder })).rejects.toThrow("0001.do.first.sql comes after 2, which has run");
});

test("fails on a folder without migrations", async () => {
  const folder = join(tmpdir(), "none/");
  await expect(migrate(await emptyDatabase(), { folder })).rejects.toThrow("no migrations");
});

test("fails on a pool, whose connections would not share the lock", async () => {
  await expect(migrate(connectFor("adminUrl", 2))).rejects.toThrow("one connection");
});

test("runs only one of two at once", async () => {
  const database = await createEmptyDatabase();
  const [first, second] = [database.connect("adminUrl"), database.connect("adminUrl")];
  const ran = await Promise.all([migrate(first), migrate(second)]);
  expect(ran.map(({ length }) => length > 0).toSorted()).toEqual([false, true]);
});

test("names the session of another migration that does not end", async () => {
  const database = await createEmptyDatabase();
  const [first, second] = [database.connect("adminUrl"), database.connect("adminUrl")];
  const [holder] = await first`select pg_backend_pid() as pid, pg_advisory_lock(7206301)`;
  await expect(migrate(second, { maxWaitMs: 0 })).rejects.toThrow(
    `another migration is running, in session ${holder?.pid}`,
  );
});

test("while another session holds a lock that a file needs, readers go ahead, and no lock of an earlier file is held", async () => {
  const { database, sql, folder } = await prepareAlterations();
  const [holder, reader] = [database.connect("adminUrl"), database.connect("adminUrl")];
  const release = await holdLock(holder, "public.busy");
  const migrating = migrate(sql, { folder });
  await expect
    .poll(() => reader`select from pg_locks where relation = 'public.busy'::regclass and not granted`)
    .toHaveLength(1);
  await reader.begin((transaction) => transaction`lock table public.free in access share mode nowait`);
  // it would wait as long as the lock is held
  expect(await reader`select from public.busy`).toEqual([]);
  await release();
  expect(await migrating).toEqual(["0002.do.free.sql", "0003.do.busy.sql"]);
});

test.each([
  ["a deadlock", "40P01"],
  ["a serialization failure", "40001"],
])("a file starts again after %s", async (_, code) => {
  const sql = await emptyDatabase();
  const { folder } = writeMigrations({
    "tables/0001.do.attempt.sql": "create sequence public.attempt;",
    "tables/0002.do.unlucky.sql": `do $$ begin
      if nextval('public.attempt') = 1 then raise sqlstate '${code}'; end if;
    end $$;`,
  });
  expect(await migrate(sql, { folder })).toEqual(["0001.do.attempt.sql", "0002.do.unlucky.sql"]);
});

test("fails when a lock is held for too long", async () => {
  const { database, sql, folder } = await prepareAlterations();
  const release = await holdLock(database.connect("adminUrl"), "public.busy");
  await expect(migrate(sql, { folder, maxWaitMs: 0 })).rejects.toThrow("lock timeout");
  await release();
});

test("rejects a release that is older than the schema needs", async () => {
  const sql = await emptyDatabase();
  const { folder, write } = copyMigrations();
  write("tables/9998.do.later.sql", "create table public.later (x int);");
  await migrate(sql, { folder });
  expect(await migrate(sql)).toEqual([]);
  write("tables/9999.do.breaking.sql", "update migration.least set version = 9998;");
  await migrate(sql, { folder });
  await expect(migrate(sql)).rejects.toThrow(
    `needs a release with migration 9998, and this one ends at ${shipped}`,
  );
});

test("sets a password by a statement that does not contain it", async () => {
  const { setPassword } = await import("#lib/db/password.ts");
  const sent: string[] = [];
  const sql = { unsafe: async (text: string) => void sent.push(text) } as unknown as postgres.Sql;
  await setPassword(sql, "municipal_resident", "opensesame");
  expect(sent.join()).toMatch(/^alter role municipal_resident password 'SCRAM-SHA-256\$/);
  expect(sent.join()).not.toContain("opensesame");
});

test("masks show the beginning and hide the rest for any length", async () => {
  const sql = connectFor("adminUrl");
  const [row] = await sql`select
    resident.mask_number('1234567890123456') as number,
    resident.mask_name('SITI  nur A') as name, resident.mask_name('') as blank,
    resident.mask_address('JALAN') as address, resident.mask_address('J') as short, resident.mask_address('') as none`;
  expect(row).toEqual({
    number: "1234**********56",
    name: "S***  n*** A***",
    blank: "",
    address: "JA******",
    short: "******",
    none: "******",
  });
});

test("a database of the baseline applies the next file, and rejects it once it has been edited", async () => {
  const sql = await emptyDatabase();
  const { folder, write } = copyMigrations();
  await migrate(sql, { folder });
  await sql.unsafe("grant municipal_owner to current_user");
  await insertSeries(sql, 1, 20);
  const next = `${String(shipped + 1).padStart(4, "0")}.do.note.sql`;
  const text =
    "set role municipal_owner; alter table resident.resident add note text not null default ''; reset role;";
  write(`tables/${next}`, text);
  expect(await migrate(sql, { folder })).toEqual([next]);
  expect(await migrate(sql, { folder })).toEqual([]);
  expect(await sql`select from resident.resident where note = ''`).toHaveLength(20);
  expect(await recountBlocks(sql)).toEqual([]);
  write(`tables/${next}`, `${text}\n-- edited`);
  await expect(migrate(sql, { folder })).rejects.toThrow(/checksum/i);
});
