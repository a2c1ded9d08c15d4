import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type postgres from "postgres";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { recountBlocks } from "#lib/resident/recount.ts";
import { inventResident } from "../../infra/local/seed/resident-rows.ts";
import { callCommand } from "../steps/command.ts";
import { residentCsv } from "../steps/residents/resident-csv.ts";
import { createDatabase } from "../steps/temporary-database.ts";

let folder: string;
let sql: postgres.Sql;
let databaseUrl: string;

const people = Array.from({ length: 12 }, (_, i) => inventResident(i + 1));
const nikOf = (place: number) => people[place]?.values[0] ?? "";

const write = (content: string) => {
  const path = join(folder, "data.csv");
  writeFileSync(path, content);
  return path;
};
const run = (...args: string[]) =>
  callCommand(
    () => import("../../infra/cli/import.ts"),
    { DATABASE_URL: databaseUrl },
    "residents",
    join(folder, "data.csv"),
    ...args,
  );
const shown = async () => {
  const rows = await sql<{ id: number; nik: string; created: string }[]>`
    select id::int, nik, created_at::text as created from resident.resident order by id`;
  return [...rows];
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "import-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const database = await createDatabase();
  sql = database.connect("adminUrl");
  databaseUrl = database.urlFor("importerUrl");
  write(residentCsv(people));
  await run();
});

test("a complete file lists who is not in it, for its owner alone, and marks nobody", async () => {
  write(residentCsv(people.slice(2)));
  const { status, out } = await run("--complete");
  expect(status).toBe(0);
  expect(out).toMatch(
    /2 residents are stored and not in the file; .*data\.missing\.csv lists them\. Nobody is marked\. .*--left 2/,
  );
  const missing = join(folder, "data.missing.csv");
  expect(readFileSync(missing, "utf8")).toBe(`nik\n${[nikOf(0), nikOf(1)].sort().join("\n")}\n`);
  expect(statSync(missing).mode & 0o777).toBe(0o600);
  expect(await shown()).toHaveLength(12);
});

test("who is confirmed to have left is no longer shown, and comes back with the same id and time when a file has them", async () => {
  const before = await shown();
  write(residentCsv(people.slice(2)));
  expect(await run("--left", "3")).toMatchObject({
    status: 1,
    out: expect.stringContaining("Nobody is marked, because they are not 3."),
  });
  expect(await shown()).toEqual(before);
  expect(await run("--left", "2", "--json")).toMatchObject({
    status: 0,
    out: expect.stringMatching(/"missing": 2,\s+"unreadable": 0,\s+"markedAsLeft": true/),
  });
  expect((await shown()).map(({ nik }) => nik)).toEqual(
    before.map(({ nik }) => nik).filter((nik) => nik !== nikOf(0) && nik !== nikOf(1)),
  );
  expect(await recountBlocks(sql)).toEqual([]);
  // again, as after an interruption
  expect(await run("--left", "2")).toMatchObject({
    status: 0,
    out: expect.stringContaining("Everybody who is stored is in the file"),
  });

  write(residentCsv(people.slice(1)));
  await run();
  expect(await shown()).toEqual(before.filter(({ nik }) => nik !== nikOf(0)));
  expect(await recountBlocks(sql)).toEqual([]);
});

test("a dry run says who would be marked as left, and marks nobody", async () => {
  write(residentCsv(people.slice(2)));
  const { status, out } = await run("--left", "2", "--dry-run");
  expect(out).toContain("They would be marked as left");
  expect(status).toBe(0);
  expect(await shown()).toHaveLength(12);
});

test("a rejected row with a readable NIK is in the file; one without could be anybody's, so that nobody is marked", async () => {
  const rejected = residentCsv(people.slice(2)).replace(/\n?$/, `\n${nikOf(1)},,,,,,,,\n`);
  write(rejected);
  expect((await run("--complete")).out).toContain("1 residents are stored and not in the file");
  write(`${rejected}9.97101E+15,,Siti,,,,,,\n`);
  expect(await run("--left", "1")).toMatchObject({
    status: 1,
    out: expect.stringContaining("Nobody is marked: 1 rows have no readable NIK"),
  });
  expect(await shown()).toHaveLength(12);
});

test("rows between two stray quotes are not taken for a value, nor their residents for ones who have left", async () => {
  const row = (place: number, text: string) => `${nikOf(place)},9971010101010001,SITI,${text},K,C`;
  const swallowed = [row(0, 'I,"A,D,V'), row(1, "I,A,D,V"), row(2, 'I,A",D,V')].join("\n");
  write(
    `nik,no_kk,nama,nama_ibu,alamat,t_dusun_lingkungan,t_desakel,t_kec,t_kabkota,created_at\n${swallowed}\n`,
  );
  const { status, out } = await run("--left", "11");
  expect(out).toContain("0 added, 0 updated");
  expect(out).toContain("the quotes do not match");
  expect(out).toContain("Nobody is marked: 1 rows have no readable NIK");
  expect(status).toBe(1);
  expect(await shown()).toHaveLength(12);
});

test("only an import of residents can be complete", async () => {
  const call = callCommand(
    () => import("../../infra/cli/import.ts"),
    { DATABASE_URL: databaseUrl },
    "categories",
    write("ktipe_id,ktipe_nama,ktipe_active\n1,Pantai,1\n"),
    "--complete",
  );
  expect(await call).toMatchObject({
    status: 2,
    errors: expect.stringContaining("Only an import of residents can be complete"),
  });
});
