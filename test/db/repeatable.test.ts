import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { splitStatements } from "#lib/db/index-build.ts";
import { migrate } from "#lib/db/migrate.ts";
import { listFunctionFiles } from "#lib/db/migration-files.ts";
import { copyMigrations, writeMigrations } from "../steps/migration-folder.ts";
import { describeSchema } from "../steps/schema.ts";
import { createDatabase, createEmptyDatabase } from "../steps/temporary-database.ts";

/** A function with a result, and with the text that belongs after it. */
const fn = (signature: string, result: string, more = "") =>
  `create or replace function ${signature} returns text language sql stable security definer return ${result};\n${more}`;

/** An empty schema of the owner's. @param files texts of the function files in it, by noun */
const prepare = async (files: Readonly<Record<string, string>> = {}) => {
  const database = await createEmptyDatabase();
  const sql = database.connect("adminUrl");
  const folder = writeMigrations({
    "tables/0001.do.schema.sql": `create schema town authorization municipal_owner;
      alter default privileges for role municipal_owner revoke execute on functions from public;`,
  });
  const write = (noun: string, text: string) => folder.write(`functions/town/${noun}.sql`, text);
  for (const [noun, text] of Object.entries(files)) write(noun, text);
  const run = () => migrate(sql, { folder: folder.folder });
  const remove = (noun: string) => folder.remove(`functions/town/${noun}.sql`);
  const list = async () => {
    const rows = await sql<{ name: string }[]>`
      select oid::regprocedure::text as name from pg_proc where pronamespace = 'town'::regnamespace order by name`;
    return rows.map(({ name }) => name);
  };
  const callersOf = async (name: string) => {
    const rows = await sql<{ role: string }[]>`
      select grantee::regrole::text as role from pg_proc, aclexplode(proacl)
      where proname = ${name} and pronamespace = 'town'::regnamespace and grantee <> proowner order by role`;
    return rows.map(({ role }) => role);
  };
  const call = async (expression: string) => (await sql.unsafe(`select ${expression} as result`))[0]?.result;
  return { database, sql, folder, run, write, remove, list, callersOf, call };
};

const grant = (name: string, role: string) => `grant execute on function ${name} to ${role};\n`;

test("functions belong to the owner of the schemas and run again only when their file has changed", async () => {
  const { sql, run, write, call } = await prepare({ name: fn("town.name()", "'old'") });
  expect(await run()).toEqual(["0001.do.schema.sql", "town/name"]);
  expect(
    await sql`select proowner::regrole::text as owner from pg_proc where proname = 'name' and pronamespace = 'town'::regnamespace`,
  ).toEqual([{ owner: "municipal_owner" }]);
  expect(await run()).toEqual([]);
  write("name", fn("town.name()", "'new'"));
  expect(await run()).toEqual(["town/name"]);
  expect(await call("town.name()")).toBe("new");
});

test("the file alone decides who may call a function", async () => {
  const [tourism, resident] = ["municipal_tourism", "municipal_resident"];
  const { run, write, callersOf } = await prepare();
  const granting = (...roles: string[]) =>
    write("name", fn("town.name()", `'${roles}'`, roles.map((role) => grant("town.name", role)).join("")));
  granting(tourism, resident);
  await run();
  expect(await callersOf("name")).toEqual([resident, tourism]);
  granting(tourism);
  await run();
  expect(await callersOf("name")).toEqual([tourism]);
});

test("what a file no longer creates is dropped, and what another file creates now stays", async () => {
  const { run, write, remove, list } = await prepare({
    size: fn("town.size()", "'1'") + fn("town.depth(x int)", "'2'"),
    shape: fn("town.shape()", "town.size()").replace(
      "return town.size();",
      "begin atomic select town.size(); end;",
    ),
  });
  await run();
  expect(await list()).toEqual(["town.depth(integer)", "town.shape()", "town.size()"]);
  write("size", fn("town.depth(x int, y int)", "'3'"));
  write("shape", fn("town.shape()", "town.width()"));
  write("width", fn("town.width()", "'4'") + fn("town.size()", "'5'"));
  await run();
  expect(await list()).toEqual([
    "town.depth(integer,integer)",
    "town.shape()",
    "town.size()",
    "town.width()",
  ]);
  for (const noun of ["size", "shape", "width"]) remove(noun);
  expect(await run()).toEqual(["town/shape", "town/size", "town/width"]);
  expect(await list()).toEqual([]);
});

test("a function gets another type of result when its file drops it first", async () => {
  const text = fn("town.count()", "'1'", grant("town.count", "municipal_tourism"));
  const { run, write, callersOf, call } = await prepare({ count: text });
  await run();
  const other = text.replace("returns text", "returns integer").replace("'1'", "2");
  write("count", other);
  await expect(run()).rejects.toThrow("cannot change return type");
  write("count", `drop function if exists town.count();\n${other}`);
  await run();
  expect(await call("town.count()")).toBe(2);
  expect(await callersOf("count")).toEqual(["municipal_tourism"]);
});

test("files run after those that they call, whatever their names", async () => {
  const { run } = await prepare({
    a: fn("town.a()", "town.c()"),
    b: fn("town.b()", "'end'"),
    c: fn("town.c()", "town.b()"),
  });
  expect(await run()).toEqual(["0001.do.schema.sql", "town/b", "town/c", "town/a"]);
});

test("callers never meet half of the functions: when a file fails, none has run", async () => {
  const { run, write, remove, list, call } = await prepare({
    a: fn("town.a()", "'old'"),
    b: fn("town.b()", "'old'"),
  });
  await run();
  write("a", fn("town.a()", "'new'"));
  write("c", fn("town.c()", "town.missing()"));
  remove("b");
  await expect(run()).rejects.toThrow("town.missing() does not exist");
  expect(await list()).toEqual(["town.a()", "town.b()"]);
  expect(await call("town.a()")).toBe("old");
});

test("a function that a view needs is not dropped", async () => {
  const { sql, run, remove, list } = await prepare({ name: fn("town.name()", "'x'") });
  await run();
  await sql`create view public.names as select town.name()`;
  remove("name");
  await expect(run()).rejects.toThrow("cannot drop function town.name() because other objects depend on it");
  expect(await list()).toEqual(["town.name()"]);
});

test("a function in two files is rejected", async () => {
  const { run } = await prepare({ a: fn("town.same()", "'1'"), b: fn("town.same(x int)", "'2'") });
  await expect(run()).rejects.toThrow("town.same is in town/a and in town/b");
});

test("one of two migrations at once changes the functions", async () => {
  const { database, folder, run, write, call } = await prepare({ name: fn("town.name()", "'old'") });
  await run();
  write("name", fn("town.name()", "'new'"));
  const other = migrate(database.connect("adminUrl"), { folder: folder.folder });
  expect((await Promise.all([run(), other])).toSorted()).toEqual([[], ["town/name"]]);
  expect(await call("town.name()")).toBe("new");
});

test("an older release leaves the functions of a newer one", async () => {
  const { run, folder, write, call } = await prepare({ name: fn("town.name()", "'old'") });
  folder.write("tables/0002.do.later.sql", "select 1;");
  await run();
  folder.remove("tables/0002.do.later.sql");
  write("name", fn("town.name()", "'older'"));
  expect(await run()).toEqual([]);
  expect(await call("town.name()")).toBe("old");
});

test("the product's functions are the same after each of their files has changed", async () => {
  const sql = (await createDatabase()).connect("adminUrl");
  const withoutChecksums = async () =>
    (await describeSchema(sql)).filter((line) => !line.startsWith("functions "));
  const before = await withoutChecksums();
  const { folder, read, write } = copyMigrations();
  const names = listFunctionFiles(`${folder}functions/`).map(({ name }) => name);
  for (const name of names) write(`functions/${name}.sql`, `${read(`functions/${name}.sql`)}\n-- changed`);
  expect(await migrate(sql, { folder })).toEqual(names);
  expect(await withoutChecksums()).toEqual(before);
});

test("the product's function files contain nothing but functions of their schema that can be replaced, triggers and grants", () => {
  const files = listFunctionFiles("lib/db/functions/");
  expect(files.length).toBeGreaterThan(0);
  for (const { name } of files)
    for (const statement of splitStatements(readFileSync(`lib/db/functions/${name}.sql`, "utf8")))
      expect([name, statement]).toEqual([
        name,
        expect.stringMatching(
          new RegExp(
            `^(create or replace (function|procedure) ${name.split("/")[0]}\\.|create or replace trigger |alter table \\S+ enable always trigger |(grant execute|revoke execute) on|drop function if exists )`,
          ),
        ),
      ]);
});
