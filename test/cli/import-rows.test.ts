import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type postgres from "postgres";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { inventResident } from "../../infra/local/seed/resident-rows.ts";
import { callCommand } from "../steps/command.ts";
import { residentHeader as header, residentCsv } from "../steps/residents/resident-csv.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";

let folder: string;
let sql: postgres.Sql;
let database: TemporaryDatabase;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "import-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  database = await createDatabase();
  sql = database.connect("adminUrl");
});

const csv = (rows: number) => residentCsv(Array.from({ length: rows }, (_, i) => inventResident(i + 1)));
const run = (...args: string[]) =>
  callCommand(
    () => import("../../infra/cli/import.ts"),
    { DATABASE_URL: database.urlFor("importerUrl") },
    ...args,
  );
const write = (content: string) => {
  const path = join(folder, "data.csv");
  writeFileSync(path, content);
  return path;
};
const count = async () =>
  (await sql<{ n: number }[]>`select count(*)::int as n from resident.resident`)[0]?.n;

test("rows with one key and different values are rejected, and name each other", async () => {
  const [row = "", second = ""] = csv(2).split("\n").slice(1);
  const file = write([header, row.replace(/,[^,]*,/, ",9999010101000099,"), second, row, ""].join("\n"));
  const { status, out } = await run("residents", file);
  expect([status, out]).toEqual([3, expect.stringContaining("1 added")]);
  expect(out).toContain("2  nik is also in another line, with other values");
  const report = readFileSync(join(folder, "data.rejected.csv"), "utf8").split("\n");
  expect(report[1]).toMatch(/^2,"nik is also in line 4, with other values",/);
  expect(report[2]).toMatch(/^4,"nik is also in line 2, with other values",/);
  expect(report.length).toBe(4);
  const [stored] = await sql`select nik from resident.resident`;
  expect(stored?.nik).toBe(inventResident(2).values[0]);
});

test("with --dry-run, the summary and the report are those of the import, and nothing is stored", async () => {
  const [first = "", second = "", third = ""] = csv(3).split("\n").slice(1);
  expect((await run("residents", write(`${header}\n${first}\n`))).status).toBe(0);
  const changed = first.replace(/,[^,]*,/, ",9999010101000099,");
  const file = write([header, changed, second, third.replace(/^\d+/, "12"), ""].join("\n"));
  const summary = async (...options: string[]) => {
    const { status, out } = await run("residents", file, ...options);
    return {
      status,
      lines: out.replace(/ in [\d.]+ s/, "").split("\n"),
      report: readFileSync(join(folder, "data.rejected.csv"), "utf8"),
    };
  };
  const stored = () => sql`select nik, family_card_number from resident.resident order by id`;
  const before = await stored();
  const trial = await summary("--dry-run");
  expect([trial.lines[0], await stored()]).toEqual([
    "Nothing was stored: this is what the import would do.",
    before,
  ]);
  const done = await summary();
  expect({ ...trial, lines: trial.lines.slice(1) }).toEqual(done);
  expect([done.lines[0], await count()]).toEqual(["1 added, 1 updated, 0 unchanged", 2]);
});

test("with --last-wins, the last of the rows with one key is stored, and the others are counted", async () => {
  const [row = ""] = csv(1).split("\n").slice(1);
  const file = write([header, row.replace(/,[^,]*,/, ",9999010101000099,"), row, ""].join("\n"));
  expect(await run("residents", file, "--last-wins")).toMatchObject({
    status: 0,
    out: expect.stringContaining("1 rows were replaced by a later row with the same key"),
  });
  const [stored] = await sql`select family_card_number as card from resident.resident`;
  expect(stored?.card).toBe(inventResident(1).values[1]);
});

test("identical rows are stored once and counted, however they are written", async () => {
  const [row = "", second = ""] = csv(2).split("\n").slice(1);
  const file = write([header, row, `'${row}`, second, row, ""].join("\n"));
  expect(await run("residents", file)).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^2 added.*\n2 rows repeat another row/),
  });
});

test.each([
  ["nik", /\d,/],
  ["no_kk", /\d,(?=\D)/],
])("a file in which most %s were rounded stops with the cause, and stores nothing", async (column, end) => {
  const lines = csv(20).split("\n");
  const rounded = lines.map((line, i) => (i > 0 && i < 15 ? line.replace(end, "0,") : line));
  const result = await run("residents", write(rounded.join("\n")));
  expect(result).toMatchObject({
    status: 1,
    errors: expect.stringMatching(
      new RegExp(`^1[4-6] of 20 values of ${column} end in 0: a spreadsheet rounded them`),
    ),
  });
  expect(await count()).toBe(0);
});

const mother = inventResident(1)
  .values.map((value, i) => (i === 3 ? "" : value))
  .join(",");

test("a blank cell keeps what is stored, and with --blank-clears clears it; both are counted", async () => {
  await run("residents", write(csv(1)));
  const { out } = await run("residents", write(`${header}\n${mother.replace(/JL[^,]*/, "-")}\n`));
  expect(out).toMatch(/1 unchanged.*\n2 blank cells keep the stored value; --blank-clears clears it/);
  const [stored] = await sql`select mother_name, address from resident.resident`;
  expect(stored).toEqual({ mother_name: inventResident(1).values[3], address: inventResident(1).values[4] });
  const cleared = await run("residents", write(`${header}\n${mother}\n`), "--blank-clears");
  expect(cleared.out).toMatch(/1 updated.*\n1 stored values were cleared by blank cells/);
  expect(await sql`select mother_name from resident.resident`).toEqual([{ mother_name: "" }]);
});

test("an id in two spellings is one key", async () => {
  const file = write(
    "id,pr_id,url_foto,caption\n1,10,https://a.example/1.jpg,a\n01,10,https://a.example/2.jpg,b\n",
  );
  expect(await run("gallery", file)).toMatchObject({
    status: 3,
    out: expect.stringContaining("2  id is also in another line"),
  });
});

test("the steps of the guide undo an import: what it changed is as before, whom it added is gone", async () => {
  const [first = "", second = ""] = csv(2).split("\n").slice(1);
  await run("residents", write(`${header}\n${first}\n`));
  const guide = readFileSync("lib/docs/guides/en/importing.md", "utf8");
  const [, select = ""] = /\\copy \((select .*)\) to 'before.csv'/.exec(guide) ?? [];
  // as psql writes it
  const read = () => sql.unsafe(select.replace("created_at from", "created_at::text from"));
  const before = await read();
  const undone = residentCsv(before.map((row) => ({ values: Object.values(row).map(String) })));
  await run(
    "residents",
    write([header, first.replace(/,[^,]*,/, ",9999010101000099,"), second, ""].join("\n")),
  );
  expect((await run("residents", write(undone), "--blank-clears")).out).toMatch(/^0 added, 1 updated/);
  const [, remove = ""] = /(delete from .*)\(select nik from before\)/.exec(guide) ?? [];
  await sql.unsafe(`${remove} ($1)`, [before[0]?.nik]);
  expect(await read()).toEqual(before);
});
