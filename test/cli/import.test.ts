import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import postgres from "postgres";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { Batch } from "#lib/import/batch.ts";
import { storeBatch } from "#lib/import/load.ts";
import { residentImport } from "#lib/resident/import.ts";
import { inventResident } from "../../infra/local/seed/resident-rows.ts";
import { callCommand, startCommand } from "../steps/command.ts";
import { holdResident, untilImportersWait } from "../steps/residents/held-resident.ts";
import { residentHeader as header, residentCsv } from "../steps/residents/resident-csv.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";

let folder: string;
let sql: postgres.Sql;
let database: TemporaryDatabase;
let databaseUrl: string;

/** A new database for each test, on the city's server. */
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "import-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  database = await createDatabase();
  sql = database.connect("adminUrl");
  databaseUrl = database.urlFor("importerUrl");
});

const csv = (rows: number) => residentCsv(Array.from({ length: rows }, (_, i) => inventResident(i + 1)));

const settings = () => ({ DATABASE_URL: databaseUrl });
const start = (...args: string[]) => startCommand("import", settings(), ...args);

const commands = {
  import: () => import("../../infra/cli/import.ts"),
  seed: () => import("../../infra/cli/seed.ts"),
};
const run = (command: keyof typeof commands, ...args: string[]) =>
  callCommand(commands[command], settings(), ...args);

const write = (content: string | Buffer, name = "data.csv") => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

const count = async () =>
  (await sql<{ n: number }[]>`select count(*)::int as n from resident.resident`)[0]?.n;

/** So many that each of two connections stores them in two batches. */
const many = Array.from({ length: 45_000 }, (_, i) => inventResident(i + 1));

const holdLast = () => holdResident(database, many.at(-1)?.values[0] ?? "");

test("stores a file; importing it again changes nothing", async () => {
  const file = write(csv(300));
  expect(await run("import", "residents", file)).toMatchObject({
    status: 0,
    out: expect.stringContaining("300 added"),
  });
  const before = await sql`select xmin, * from resident.resident order by id`;
  expect((await run("import", "residents", file)).out).toContain("0 added, 0 updated, 300 unchanged");
  expect(await sql`select xmin, * from resident.resident order by id`).toEqual(before);
});

test("leaves no pending notes for readers to add up", async () => {
  await run("import", "residents", write(csv(300)));
  const counted = await sql`
    select (select count(*)::int from resident.pending_change) as pending, (select sum(row_count)::int from resident.block) as rows`;
  expect(counted).toMatchObject([{ pending: 0, rows: 300 }]);
});

test("updates a known NIK, and keeps its created_at when the file has none", async () => {
  const [nik = ""] = inventResident(1).values;
  await run("import", "residents", write(csv(1)));
  const [before] = await sql`select id, created_at::text from resident.resident`;
  const withoutTime = [
    header.replace(/,created_at$/, ""),
    [nik, nik, "NAMA BARU", "I", "A", "D", "V", "K", "C"].join(","),
  ];
  expect((await run("import", "residents", write(`${withoutTime.join("\n")}\n`))).out).toContain("1 updated");
  const [after] = await sql`select id, created_at::text, name from resident.resident`;
  expect(after).toEqual({ ...before, name: "NAMA BARU" });
});

test("reports rejected rows with line and reason in a private file that can be corrected and imported", async () => {
  const lines = csv(5).split("\n");
  lines[2] = lines[2]?.replace(/^\d+/, "123") ?? "";
  lines[4] = `"never closed,${lines[4]}`;
  const result = await run("import", "residents", write(lines.join("\n")));
  expect(result).toMatchObject({ status: 3, out: expect.stringContaining("3 added") });
  const report = join(folder, "data.rejected.csv");
  expect(statSync(report).mode & 0o777).toBe(0o600);
  const [head, first, second] = readFileSync(report, "utf8").split("\n");
  expect(head).toBe(`line,reason,${header},unreadable`);
  expect(first).toMatch(/^3,nik must have exactly 16 digits,123,/);
  expect(second).toMatch(/^5,the quotes do not match,,/);
  const corrected = readFileSync(report, "utf8").replace(",123,", `,${inventResident(2).values[0]},`);
  expect((await run("import", "residents", write(corrected, "corrected.csv"))).out).toContain("1 added");
  expect(readFileSync(join(folder, "corrected.rejected.csv"), "utf8")).toMatch(head ?? "none");
});

test("rejected rows are summed by reason, the most frequent first", async () => {
  const lines = csv(5).split("\n");
  for (const n of [2, 3, 4]) lines[n] = lines[n]?.replace(/^\d+/, "123") ?? "";
  lines[4] = lines[4]?.replace(/^123,\d+/, "123,9") ?? "";
  const file = write(lines.join("\n"));
  const { out } = await run("import", "residents", file);
  expect(out).toMatch(
    /\n +3 {2}nik must have exactly 16 digits\n +1 {2}no_kk must have exactly 16 digits\n$/,
  );
  const { out: json } = await run("import", "residents", file, "--json");
  expect(JSON.parse(json)).toMatchObject({
    unchanged: 2,
    rejected: 3,
    reasons: [{ count: 3 }, { reason: "no_kk must have exactly 16 digits", count: 1 }],
  });
});

test("one rejected row is reported and gives exit code 3", async () => {
  const file = write(csv(3).replace(/\n\d+/, "\n123"));
  const report = join(folder, "data.rejected.csv");
  const { status, out } = await run("import", "residents", file);
  expect([status, out]).toEqual([3, expect.stringContaining(`\n1 rejected; the rows are in ${report}\n`)]);
  expect(out).toContain("2 added");
  expect(readFileSync(report, "utf8").split("\n")).toEqual([
    expect.stringMatching(/^line,reason,/),
    expect.stringMatching(/^2,nik must have exactly 16 digits,123,/),
    "",
  ]);
});

test("removes the report of an earlier run when no row is rejected", async () => {
  await run("import", "residents", write(csv(2).replace(/\n\d+/, "\n1")));
  expect(existsSync(join(folder, "data.rejected.csv"))).toBe(true);
  await run("import", "residents", write(csv(2)));
  expect(existsSync(join(folder, "data.rejected.csv"))).toBe(false);
});

test("stores every row once when it is killed and run again", async () => {
  const file = write(residentCsv(many));
  const other = await holdLast();
  const { ended, kill } = start("residents", file);
  await untilImportersWait(sql, 1);
  kill();
  await ended;
  await other`rollback`;
  expect(await count()).toBeGreaterThan(0);
  expect(await count()).toBeLessThan(many.length);
  expect((await run("import", "residents", file)).status).toBe(0);
  expect(await count()).toBe(many.length);
});

test("says up to which line rows are stored when the database ends the connection", async () => {
  const other = await holdLast();
  const ended = run("import", "residents", write(residentCsv(many)));
  const [pid = 0] = await untilImportersWait(sql, 1);
  await sql`select pg_terminate_backend(${pid})`;
  await other`rollback`;
  const { status, errors } = await ended;
  expect([status, errors]).toEqual([1, expect.stringContaining("Import stopped")]);
  const line = /Every valid row up to line (\d+) is stored\. Run the same command again/.exec(errors)?.[1];
  const stored = await sql<{ nik: string }[]>`select nik from resident.resident`;
  const niks = new Set(stored.map(({ nik }) => nik));
  const promised = many.slice(0, Number(line) - 1).map(({ values }) => values[0] ?? "");
  expect(promised.length).toBeGreaterThan(0);
  expect(promised.filter((nik) => !niks.has(nik))).toEqual([]);
});

test.each([3, 10, 25])("stops with a message when the connection breaks %i ms into a COPY", async (delay) => {
  const importer = postgres(databaseUrl, { max: 1, fetch_types: false, onnotice: () => {} });
  await sql.unsafe("grant municipal_importer to current_user");
  const [backend] = await importer`select pg_backend_pid() as pid`;
  const rows = Batch.of(many.slice(0, 20_000));
  const stored = storeBatch(importer, residentImport, rows).catch((error: { code?: string }) => error.code);
  await setTimeout(delay);
  await sql`select pg_terminate_backend(${backend?.pid})`;
  expect(await stored).toMatch(/57P01|CONNECTION_CLOSED|ECONNRESET|EPIPE|CONNECTION_ENDED/);
  expect(await count()).toBe(0);
  await importer.end({ timeout: 1 });
});

test("does not start when the report of rejected rows cannot be written", async () => {
  mkdirSync(join(folder, "data.rejected.csv"));
  const result = await run("import", "residents", write(csv(3)));
  expect(result).toMatchObject({ status: 1, errors: expect.stringContaining("cannot be written") });
  expect(await count()).toBe(0);
});

test("rejects a file with an unusable header", async () => {
  const result = await run("import", "residents", write("a,b\n1,2\n"));
  expect(result).toMatchObject({ status: 1, errors: expect.stringContaining("missing: nik, no_kk") });
});

test("names the failure of a database that cannot be reached", async () => {
  databaseUrl = "postgres://x:y@127.0.0.1:1/none";
  const result = await run("import", "residents", write(csv(1)));
  expect(result).toMatchObject({ status: 1, errors: "The database cannot be reached (ECONNREFUSED).\n" });
  expect(result.errors).not.toMatch(/\n {4}at /);
});

test("stores whatever its own rules accept: the database rejects no row that passed them", async () => {
  const odd = [
    "--x",
    "\\N",
    "\\.",
    "a\tb",
    "a\rb",
    "back\\slash",
    "😀",
    "'; drop",
    "$1",
    "ﬁ",
    "İ",
    "ẞ",
    "A\u2028B",
    "é\u0301",
  ];
  const rows = odd.map((name, i) => {
    const values = [...inventResident(i + 1).values];
    values[2] = `"${name}"`;
    values[4] = "";
    return values.join(",");
  });
  expect((await run("import", "residents", write([header, ...rows, ""].join("\n")))).out).toContain(
    `${odd.length} added`,
  );
  const stored = await sql<{ name: string }[]>`select name from resident.resident order by id`;
  expect(stored.map(({ name }) => name).toSorted()).toEqual(
    odd.map((name) => name.normalize("NFC").trim()).toSorted(),
  );
});

test("imports categories and gallery", async () => {
  await run("import", "categories", write("ktipe_id;ktipe_nama;ktipe_active\n10;Alam;y\n"));
  await run(
    "import",
    "gallery",
    write('id,pr_id,url_foto,caption\n7,10,https://a.example/7.jpg,"Satu, dua"\n'),
  );
  expect([...(await sql`select * from tourism.category`)]).toEqual([{ id: "10", name: "Alam", active: "y" }]);
  expect([...(await sql`select * from tourism.photo`)]).toEqual([
    { id: 7, destination_id: "10", url: "https://a.example/7.jpg", caption: "Satu, dua" },
  ]);
});

test("seeding creates the same residents every time, and can add more", async () => {
  expect((await run("seed", "--residents", "20")).status).toBe(0);
  const first = await sql`select nik, name, created_at from resident.resident order by id`;
  await run("seed", "--residents", "30");
  const later = await sql`select nik, name, created_at from resident.resident order by id`;
  expect([later.length, later.slice(0, 20)]).toEqual([30, [...first]]);
});

test("refuses to seed a database with real residents", async () => {
  await run("import", "residents", write(csv(1).replace(/\n9971/, "\n3578")));
  expect(await run("seed", "--residents", "5")).toMatchObject({
    status: 1,
    errors: expect.stringContaining("contains real residents"),
  });
  expect(await count()).toBe(1);
});
