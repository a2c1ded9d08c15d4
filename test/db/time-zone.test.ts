import { expect, test } from "vitest";
import { migrate } from "#lib/db/migrate.ts";
import { createDatabase } from "../steps/temporary-database.ts";

test("days, times of appointments and the default of a resident's time follow the zone of the stage since its last migration", async () => {
  const sql = (await createDatabase()).connect("adminUrl");
  await sql`
    insert into office.appointment (id, name, phone, service, place, starts_at)
    values ('JL-1', 'Siti Invented', '62812000010101', 'KTP', 'Loket 1', '2026-11-21T01:30:00Z')`;
  await sql`set audience.moment = '2026-11-20T10:00:00Z'`;
  const read = async () => {
    const [row] = await sql`
      select city.time_zone() as zone, messaging.today() = (now() at time zone city.time_zone())::date as today,
        (select values ->> 'time' from audience.appointment_reminder) as time,
        (select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = 'resident.resident'::regclass
          and pg_get_expr(adbin, adrelid) like '%now%') as created`;
    return row;
  };
  const created = expect.stringContaining("city.time_zone()");
  const west = { zone: "Asia/Jakarta", today: true, time: "08:30", created };
  expect(await read()).toEqual(west);
  expect(await migrate(sql, { timeZone: "Asia/Jayapura" })).toEqual([]);
  expect(await read()).toEqual({ ...west, zone: "Asia/Jayapura", time: "10:30" });
  expect(await migrate(sql)).toEqual([]);
  expect(await read()).toEqual(west);
});
