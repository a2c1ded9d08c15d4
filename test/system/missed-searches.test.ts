import postgres from "postgres";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { useOwnCity } from "../steps/city/own-city.ts";

const own = useOwnCity();
/** No resident has it. */
const unknown = "9971011234567890";

let sql: postgres.Sql;
beforeEach(async () => {
  sql = postgres(own.city.database.adminUrl, { max: 1, onnotice: () => {} });
  onTestFinished(() => sql.end());
  await sql`delete from resident.read_count`;
});

const search = (criteria: Record<string, string>) => own.ask("/v1/penduduk/search", criteria);
const miss = (partner: string, count: number, since = "0 hours") => sql`
  insert into resident.read_count (partner_id, since, residents, look_ups, unknown_numbers)
  values (${partner}, now() - ${since}::text::interval, 0, 0, ${count})`;
const countMisses = async () =>
  (
    await sql<
      { count: number }[]
    >`select coalesce(sum(unknown_numbers), 0)::int as count from resident.read_count`
  )[0]?.count;

test("after 200 searches for numbers that nobody has, a partner waits, but searches names", async () => {
  await miss("demo", 150, "20 hours");
  await miss("demo", 49);
  expect((await search({ p_nik: unknown })).status).toBe(200);
  const rejection = await search({ p_nik: unknown });
  const seconds = Number(rejection.headers.get("retry-after"));
  expect(await rejection.json()).toMatchObject({
    code: "too_many_requests",
    message: expect.stringContaining(`had no result, in ${seconds} seconds`),
  });
  // the oldest unknown_numbers are a day old in four hours
  expect([rejection.status, seconds > 14_300, seconds <= 14_400]).toEqual([429, true, true]);
  expect((await search({ p_nama: "siti" })).status).toBe(200);
});

test("neither other partners nor the day before count", async () => {
  await miss("other", 200);
  await miss("demo", 200, "25 hours");
  expect((await search({ p_nik: unknown })).status).toBe(200);
});

test("a number that a resident has is no miss, one with another name is", async () => {
  const [{ nik = "" } = {}] = await sql<{ nik: string }[]>`select nik from resident.resident limit 1`;
  await search({ p_nik: nik });
  expect(await countMisses()).toBe(0);
  await search({ p_nik: nik, p_nama: "zzqy" });
  expect(await countMisses()).toBe(1);
});
