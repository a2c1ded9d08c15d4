import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { useOwnCity } from "../steps/city/own-city.ts";
import { callCommand } from "../steps/command.ts";

const own = useOwnCity();

const secret = (name: string) => own.city.secrets.find(`municipal/local/database/${name}`)?.value ?? "";

const residents = (work: string) => {
  const { username, password, host, port, dbname } = JSON.parse(secret("maintenance"));
  return callCommand(
    () => import("../../infra/cli/residents.ts"),
    { DATABASE_URL: `postgres://${username}:${password}@${host}:${port}/${dbname}` },
    work,
  );
};

test("verify finds names folded by another ICU version, and rebuild stores them again without ending corrections", async () => {
  expect((await residents("verify")).status).toBe(0);
  const url = new URL(own.city.database.adminUrl);
  url.username = "postgres";
  url.password = secret("superuser");
  const sql = postgres(url.href, { max: 1, onnotice: () => {} });
  onTestFinished(() => sql.end());
  const setGenerated = (mark: string) => sql`
    update pg_attribute set attgenerated = ${mark}
    where attrelid = 'resident.resident'::regclass and attname = 'name_search'`;
  await setGenerated("");
  await sql`update resident.resident set name_search = name_search || '̇' where id <= 3`;
  await setGenerated("s");
  await sql`
    insert into resident.correction (resident_id, column_name, replaced, corrected)
    select id, 'village', village || ' LAMA', village from resident.resident where id = 2`;

  expect(await residents("verify")).toMatchObject({
    status: 1,
    errors:
      "Searches miss 3 names: another version of ICU folded them.\nRun: npm run city -- residents rebuild\n",
  });
  expect((await residents("rebuild")).status).toBe(0);
  expect((await residents("verify")).status).toBe(0);
  expect(await sql`select from resident.correction`).toHaveLength(1);
});
