import type postgres from "postgres";
import type { City } from "../../infra/local/city.ts";
import { startFunction } from "./function.ts";

/** The function `notify` of a city in a separate process, which can be killed. */
export const startNotify = (city: City, event: unknown) => startFunction(city, "notify", event);

/** The current time as schedules write it. */
export const scheduledNow = (): string => new Date().toISOString().replace(/\.\d+Z$/, "Z");

/**
 * Puts a table in the place of a view, so that a test says what an audience shows.
 *
 * @param sql an administrator's connection.
 */
export const playAudience = async (sql: postgres.Sql, view: string): Promise<void> => {
  await sql
    .unsafe(
      `set role municipal_owner;
       create table if not exists office.played (dedupe_key text, phone text, values jsonb);
       truncate office.played;
       create or replace view audience.${view} with (security_barrier) as select dedupe_key, phone, values from office.played;
       reset role`,
    )
    .simple();
};

/** Recipients of the test audience, by default with a valid number and all values. */
export const showRecipients = async (
  sql: postgres.Sql,
  count: number,
  more: (
    row: number,
  ) => Partial<{ dedupe_key: string | null; phone: string | null; values: unknown }> = () => ({}),
): Promise<void> => {
  const rows = Array.from({ length: count }, (_, row) => ({
    dedupe_key: `R${String(row).padStart(5, "0")}`,
    phone: `62811${String(1_000_000 + row)}`,
    values: { name: `Warga ${row}`, service: "KTP", place: "Loket 1", date: "2030-01-02", time: "09:30" },
    ...more(row),
  }));
  await sql`
    insert into office.played select * from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
      as g (dedupe_key text, phone text, values jsonb)`;
};
