import { expect, test } from "vitest";
import { jobs } from "#lib/notification/jobs.ts";
import { createDatabase } from "../steps/temporary-database.ts";

test("no reader's condition makes an audience quote a number that it filters out", async () => {
  const database = await createDatabase();
  const admin = database.connect("adminUrl");
  await admin.unsafe("set role municipal_owner");
  await admin`
    insert into office.document (number, kind, name, phone, status, changed_at)
    values ('1', 'KTP', 'A', '6281HIDDEN', 'selesai', now() - interval '3 days')`;
  await admin`
    insert into office.appointment (id, name, phone, service, place, starts_at)
    values ('1', 'A', '6281HIDDEN', 'KTP', 'Loket 1', now() + interval '10 days')`;
  const reader = database.connect("notifyUrl");
  // all rows are read then, and the cheapest condition is tried first: the reader's
  await reader.unsafe("set enable_indexscan = off; set enable_bitmapscan = off").simple();
  for (const view of ["document_status", "appointment_reminder"])
    expect(await reader`select from ${reader(`audience.${view}`)} where phone::int2 = 1`).toEqual([]);
});

test("every view of the baseline is a security barrier", async () => {
  const admin = (await createDatabase()).connect("adminUrl");
  const views = await admin<{ name: string; options: string | null }[]>`
    select oid::regclass::text as name, array_to_string(reloptions, ',') as options from pg_class
    where relkind = 'v' and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`;
  expect(views.length).toBeGreaterThanOrEqual(4);
  expect(views.filter(({ options }) => options !== "security_barrier=true")).toEqual([]);
});

test.each(jobs)("the audience of $name is a view that a run can read", async ({ audience }) => {
  const database = await createDatabase();
  const reader = database.connect("notifyUrl");
  const { columns } = await reader`select * from ${reader(`audience.${audience}`)} limit 0`;
  expect(columns.map(({ name }) => name)).toEqual(["dedupe_key", "phone", "values"]);
});
