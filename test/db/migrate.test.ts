import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "#lib/db/migrate.ts";
import { recountBlocks } from "#lib/resident/recount.ts";
import { connectFor } from "../steps/connections.ts";
import { insertSeries } from "../steps/residents/resident-series.ts";
import { createEmptyDatabase } from "../steps/temporary-database.ts";

const source = fileURLToPath(new URL("../../lib/db/migrations", import.meta.url));

const shipped = readdirSync(source).length;

const emptyDatabase = async () => (await createEmptyDatabase()).connect("adminUrl");

/** A copy of the migrations, in a folder whose name contains glob characters. */
const copyMigrations = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "mig [1] {a,b} (x)-"));
  cpSync(source, folder, { recursive: true });
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return `${folder}/`;
};

/** A migrated database with a table that the next migration locks. */
const prepareAlteration = async () => {
  const database = await createEmptyDatabase();
  const sql = database.connect("adminUrl");
  const folder = copyMigrations();
  await migrate(sql, folder);
  await sql.unsafe("create table public.busy (x int)");
  writeFileSync(`${folder}9999.do.later.sql`, "alter table public.busy add y int;");
  return { database, sql, folder };
};

test("creates the schema as an administrator who is not a superuser, and changes nothing the second time", async () => {
  const sql = await emptyDatabase();
  const [role] = await sql`select rolsuper from pg_roles where rolname = current_user`;
  expect(role?.rolsuper).toBe(false);
  expect((await migrate(sql)).length).toBe(shipped);
  expect(await migrate(sql)).toEqual([]);
});

test("leaves nothing behind when a migration fails", async () => {
  const sql = await emptyDatabase();
  const folder = copyMigrations();
  writeFileSync(`${folder}9999.do.broken.sql`, "create table public.half (x int); select 1 / 0;");
  await expect(migrate(sql, folder)).rejects.toThrow("division by zero");
  const schemas = await sql`select from pg_namespace where nspname = 'resident'`;
  expect(schemas.length).toBe(0);
});

test("fails when an applied migration has been edited", async () => {
  const sql = await emptyDatabase();
  const folder = copyMigrations();
  await migrate(sql, folder);
  const file = `${folder}0004.do.tourism.sql`;
  writeFileSync(file, `${readFileSync(file, "utf8")}\n-- edited`);
  await expect(migrate(sql, folder)).rejects.toThrow(/checksum/i);
});

test("fails on a folder without migrations", async () => {
  await expect(migrate(await emptyDatabase(), join(tmpdir(), "none/"))).rejects.toThrow("no migrations");
});

test("runs only one of two at once", async () => {
  const database = await createEmptyDatabase();
  const [first, second] = [database.connect("adminUrl"), database.connect("adminUrl")];
  const counts = await Promise.all([migrate(first), migrate(second)]);
  expect(counts.map(({ length }) => length).toSorted()).toEqual([0, shipped]);
});

test("lets readers go ahead while another session holds a lock that a migration needs", async () => {
  const { database, sql, folder } = await prepareAlteration();
  const [holder, reader] = [database.connect("adminUrl"), database.connect("adminUrl")];
  const held = Promise.withResolvers<void>();
  const isHeld = Promise.withResolvers<void>();
  const holding = holder.begin(async (transaction) => {
    await transaction`select from public.busy`;
    isHeld.resolve();
    await held.promise;
  });
  await isHeld.promise;
  const migrating = migrate(sql, folder);
  await expect
    .poll(() => reader`select from pg_locks where relation = 'public.busy'::regclass and not granted`)
    .toHaveLength(1);
  // it would wait as long as the lock is held
  expect(await reader`select from public.busy`).toEqual([]);
  held.resolve();
  await holding;
  expect(await migrating).toEqual(["9999 later"]);
});

test.each([
  ["a deadlock", "40P01"],
  ["a serialization failure", "40001"],
])("starts again after %s", async (_, code) => {
  const sql = await emptyDatabase();
  const folder = copyMigrations();
  // a sequence is not rolled back
  await sql`create sequence public.attempt`;
  writeFileSync(
    `${folder}9999.do.unlucky.sql`,
    `do $$ begin if nextval('public.attempt') = 1 then raise sqlstate '${code}'; end if; end $$;`,
  );
  expect(await migrate(sql, folder)).toContain("9999 unlucky");
});

test("fails when a lock is held for too long", async () => {
  const { database, sql, folder } = await prepareAlteration();
  const holder = database.connect("adminUrl");
  await holder.begin(async (transaction) => {
    await transaction`select from public.busy`;
    await expect(migrate(sql, folder, 0)).rejects.toThrow("lock timeout");
  });
});

test("rejects a release that is older than the schema needs", async () => {
  const sql = await emptyDatabase();
  const folder = copyMigrations();
  writeFileSync(`${folder}9998.do.later.sql`, "create table public.later (x int);");
  await migrate(sql, folder);
  expect(await migrate(sql)).toEqual([]);
  writeFileSync(`${folder}9999.do.breaking.sql`, "update migration.least set version = 9998;");
  await migrate(sql, folder);
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
  const folder = copyMigrations();
  await migrate(sql, folder);
  await sql.unsafe("grant municipal_owner to current_user");
  await insertSeries(sql, 1, 20);
  const next = `${folder}${String(shipped + 1).padStart(4, "0")}.do.note.sql`;
  const text =
    "set role municipal_owner; alter table resident.resident add note text not null default ''; reset role;";
  writeFileSync(next, text);
  expect(await migrate(sql, folder)).toEqual([`${shipped + 1} note`]);
  expect(await migrate(sql, folder)).toEqual([]);
  expect(await sql`select from resident.resident where note = ''`).toHaveLength(20);
  expect(await recountBlocks(sql)).toEqual([]);
  writeFileSync(next, `${text}\n-- edited`);
  await expect(migrate(sql, folder)).rejects.toThrow(/checksum/i);
});
