import { expect, test } from "vitest";
import { migrate } from "#lib/db/migrate.ts";
import { inventResident } from "../../infra/local/seed/resident-rows.ts";
import { storeSeed } from "../../infra/local/seed/seed.ts";
import { createDatabase } from "../steps/temporary-database.ts";

test("a search by NIK uses its index also on a connection that searched by name before", async () => {
  const database = await createDatabase();
  const { name } = database;
  const admin = database.connect("adminUrl");
  const importer = database.connect("importerUrl");
  const reader = database.connect("residentUrl");
  await migrate(admin);
  await storeSeed(importer, 20_000, () => {});
  // a session counts its scans late, at the latest when it ends
  await importer.end();
  const importing = () => admin`select from pg_stat_activity
    where datname = ${name} and usename = 'municipal_importer'`;
  await expect.poll(async () => (await importing()).length).toBe(0);
  await admin.unsafe("analyze resident.resident");

  const nik = inventResident(7).values[0] ?? "";
  const search = (nik: string | null, name: string | null) =>
    reader`select total from resident.search(${nik}, ${name}, 1, 10, 'p', 'k', 'r',
      ${nik && Buffer.alloc(32)}, ${name && Buffer.alloc(32)}, 1)`;
  const sequentialScans = async () => {
    for (const sql of [admin, reader]) await sql`select pg_stat_force_next_flush()`;
    const [row] = await admin<{ scans: number }[]>`
      select seq_scan::int as scans from pg_stat_user_tables where relid = 'resident.resident'::regclass`;
    return row?.scans;
  };
  for (let i = 0; i < 12; i += 1) await search(null, "siti");
  const before = await sequentialScans();
  for (let i = 0; i < 12; i += 1) expect((await search(nik, null))[0]?.total).toBe("1");
  expect(await sequentialScans()).toBe(before);
});
