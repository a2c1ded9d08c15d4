import { expect, test } from "vitest";
import { migrate } from "#lib/db/migrate.ts";
import { writeMigrations } from "../steps/migration-folder.ts";
import { createEmptyDatabase } from "../steps/temporary-database.ts";

/** A database with two equal rows, and a migration that makes them unique. */
const prepare = async () => {
  const database = await createEmptyDatabase();
  const sql = database.connect("adminUrl");
  const { folder } = writeMigrations({
    "tables/0001.do.number.sql":
      "create table public.number (x int); insert into public.number values (1), (1);",
    "tables/0002.concurrently.unique-number.sql": `-- Numbers; each is unique.
      create index concurrently if not exists number_by_half on public.number ((x / 2));
      create unique index concurrently if not exists number_is_unique on public.number (x);`,
    "tables/0003.do.last.sql": "create table public.last (x int);",
  });
  const listIndexes = () => sql`
    select indexrelid::regclass::text as name, indisvalid as valid
    from pg_index where indrelid = 'public.number'::regclass order by name`;
  const repair = () => sql`delete from public.number where ctid = (select min(ctid) from public.number)`;
  return { database, sql, folder, listIndexes, repair };
};

const complete = [
  { name: "number_by_half", valid: true },
  { name: "number_is_unique", valid: true },
];
const left = ["0002.concurrently.unique-number.sql", "0003.do.last.sql"];

test("an index that cannot be built leaves no invalid one, and the next run builds it", async () => {
  const { sql, folder, listIndexes, repair } = await prepare();
  await expect(migrate(sql, { folder })).rejects.toThrow("could not create unique index");
  expect(await listIndexes()).toEqual(complete.slice(0, 1));
  await repair();
  expect(await migrate(sql, { folder })).toEqual(left);
  expect(await listIndexes()).toEqual(complete);
});

test("an invalid index of a build that was killed is replaced", async () => {
  const { sql, folder, listIndexes, repair } = await prepare();
  await expect(migrate(sql, { folder })).rejects.toThrow();
  await expect(sql`create unique index concurrently number_is_unique on public.number (x)`).rejects.toThrow();
  expect(await listIndexes()).toContainEqual({ name: "number_is_unique", valid: false });
  await repair();
  expect(await migrate(sql, { folder })).toEqual(left);
  expect(await listIndexes()).toEqual(complete);
});

test("a build is not blocked by a migration that waits for it", async () => {
  const { database, sql, folder, listIndexes, repair } = await prepare();
  await expect(migrate(sql, { folder })).rejects.toThrow();
  await repair();
  const [writer, other, watcher] = [1, 2, 3].map(() => database.connect("adminUrl"));
  if (!writer || !other || !watcher) throw new Error("three connections were made");
  const [runs] = await writer.begin(async (transaction) => {
    await transaction`insert into public.number values (2)`;
    const both = [migrate(sql, { folder }), migrate(other, { folder })];
    // one waits for the writer, the other for the one
    for (const [state, query] of [
      ["active", "create unique index%"],
      ["idle", "select pg_try_advisory_lock%"],
    ] as const)
      await expect
        .poll(
          () => watcher`
          select from pg_stat_activity
          where datname = current_database() and state = ${state} and query ilike ${query}`,
        )
        .toHaveLength(1);
    return [both] as const;
  });
  expect((await Promise.all(runs ?? [])).toSorted()).toEqual([[], left]);
  expect(await listIndexes()).toEqual(complete);
});
