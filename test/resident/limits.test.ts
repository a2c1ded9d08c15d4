import { beforeAll, beforeEach, expect, test } from "vitest";
import { maintain } from "#lib/routes/internal.ts";

import { useOwnCity, withCityDatabase } from "../steps/city/own-city.ts";
import { partnersOf } from "../steps/residents/partners.ts";
import { insertSeries } from "../steps/residents/resident-series.ts";

const own = useOwnCity();
const admin = withCityDatabase(own);
const { withDirectory, addPartner, post } = partnersOf(own);
/** Nobody has it. */
const unknown = "9971011501800008";

beforeAll(() => admin(async (sql) => void (await insertSeries(sql, 0, 1_000))));

beforeEach(async () => {
  own.lines.length = 0;
  await admin((sql) => sql`delete from resident.failed_verification`);
});

const statusOf = async (key: string, path: string, body?: object) => (await post(key, path, body)).status;

const kinds = ["list", "search", "search by number", "verify"] as const;
/** Each is of one resident. */
const reads: Readonly<Record<(typeof kinds)[number], readonly [path: string, body: object]>> = {
  list: ["", { page_size: 1 }],
  search: ["/search", { p_nama: "a", page_size: 1 }],
  "search by number": ["/search", { p_nik: unknown }],
  verify: ["/verify", { p_nik: unknown, p_nama: "Siti" }],
};

const countOf = async (name: string) => {
  const [row] = await admin(
    (sql) => sql`
      select sum(residents)::int as residents, sum(look_ups)::int as look_ups, sum(unknown_numbers)::int as unknown_numbers
      from resident.read_count where partner_id = ${name}`,
  );
  return row;
};

/** Inserts what a partner has read before. */
const haveRead = (name: string, residents: number, ago: string, unknown_numbers = 0) =>
  admin(
    (sql) => sql`
      insert into resident.read_count (partner_id, since, residents, look_ups, unknown_numbers)
      values (${name}, now() - ${ago}::text::interval, ${residents}, 0, ${unknown_numbers})`,
  );

const alarmLines = () => own.logged().filter(({ message }) => message === "more read than agreed");

test.each(kinds)("%s counts one resident", async (kind) => {
  const { name, key } = await addPartner();
  expect(await statusOf(key, ...reads[kind])).toBe(200);
  const isLookUp = kind !== "list" && kind !== "search";
  expect(await countOf(name)).toEqual({
    residents: 1,
    look_ups: isLookUp ? 1 : 0,
    unknown_numbers: kind === "search by number" ? 1 : 0,
  });
});

test("rows beyond the first hundred of a result are look-ups, whatever the page's size is", async () => {
  const { name, key } = await addPartner();
  const page = (path: string, page_number: number, page_size: number) =>
    statusOf(key, path, { page_number, page_size, ...(path && { p_nama: "siti" }) });
  await page("", 1, 100);
  await page("/search", 4, 25);
  expect(await countOf(name)).toMatchObject({ residents: 125, look_ups: 0 });
  await page("", 2, 60);
  await page("/search", 2, 100);
  await page("", 9_999_999, 100);
  expect(await countOf(name)).toMatchObject({ residents: 285, look_ups: 120 });
});

test.each([
  ["without an agreement raises the alarm", {}, true],
  [
    "never raises it with an agreement of any number",
    { residentsPerDay: null, lookUpsPerMinute: null },
    false,
  ],
] as const)("reading page after page %s", async (_, limits, isRaised) => {
  const { name, key } = await addPartner(limits);
  for (let page_number = 1; page_number <= 10; page_number++)
    expect(await statusOf(key, "", { page_number, page_size: 100 })).toBe(200);
  expect(await countOf(name)).toEqual({ residents: 1_000, look_ups: 900, unknown_numbers: 0 });
  const [line] = alarmLines();
  expect(line?.partner_id).toBe(isRaised ? name : undefined);
});

test.each(kinds)("%s is 429 once the partner has read as many residents as agreed", async (kind) => {
  const { name, key } = await addPartner({ residentsPerDay: 30 });
  await haveRead(name, 15, "23 hours");
  await haveRead(name, 14, "1 hour");
  expect(await statusOf(key, ...reads[kind])).toBe(200);
  const refused = await post(key, ...reads[kind]);
  const { code, message } = (await refused.json()) as { code: string; message: string };
  const seconds = Number(refused.headers.get("retry-after"));
  expect([refused.status, code]).toEqual([429, "too_many_requests"]);
  expect(message).toContain(`Try again in ${seconds} seconds, or ask the operator for a higher limit`);
  // the oldest reads are a day old in an hour
  expect(seconds).toBeGreaterThan(3_500);
  expect(seconds).toBeLessThanOrEqual(3_600);
  expect(await countOf(name)).toMatchObject({ residents: 30 });
  expect(alarmLines()).toMatchObject([{ level: "warn", partner_id: name }]);
});

test("after Retry-After, one more read is allowed, and not before", async () => {
  const { name, key } = await addPartner({ residentsPerDay: 30 });
  for (const [residents, ago] of [
    [20, "23 hours 50 minutes"],
    [25, "23 hours"],
    [10, "2 hours"],
  ] as const)
    await haveRead(name, residents, ago);
  const seconds = Number((await post(key, "")).headers.get("retry-after"));
  const pass = (span: number) =>
    admin(
      (sql) => sql`
        update resident.read_count set since = since - ${span} * interval '1 second' where partner_id = ${name}`,
    );
  await pass(seconds - 60);
  expect(await statusOf(key, "")).toBe(429);
  await pass(60);
  expect(await statusOf(key, "")).toBe(200);
});

test("a page with more residents than are left is not shown, and a smaller one is", async () => {
  const { name, key } = await addPartner({ residentsPerDay: 30 });
  await haveRead(name, 25, "1 hour");
  const refused = await post(key, "", { page_size: 6 });
  expect([refused.status, ((await refused.json()) as { message: string }).message]).toEqual([
    429,
    expect.stringContaining("leaves in 24 hours: 5. Send page_size 5 or less"),
  ]);
  expect(await statusOf(key, "", { page_size: 5 })).toBe(200);
  expect(await countOf(name)).toMatchObject({ residents: 30 });
});

test("a page with more residents than the whole agreement names the largest page, and no time to wait", async () => {
  const { key } = await addPartner({ residentsPerDay: 5 });
  const refused = await post(key, "", { page_size: 6 });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, null]);
  expect(((await refused.json()) as { message: string }).message).toMatch(
    /: 5\. Send page_size 5 or less, or ask the operator/,
  );
  expect(await statusOf(key, "", { page_size: 5 })).toBe(200);
});

test.each<[string, readonly [path: string, body: object], object, number | null, number]>([
  ["residents", ["", { page_size: 20 }], { residents: 20 }, 30, 0],
  ["unknown_numbers", ["/search", { p_nik: unknown }], { unknown_numbers: 200 }, null, 199],
])(
  "concurrent reads share the %s that are left",
  async (_, read, counted, residentsPerDay, unknown_numbers) => {
    const { name, key } = await addPartner({ residentsPerDay });
    await haveRead(name, 0, "1 hour", unknown_numbers);
    let status: Promise<number> | undefined;
    await admin((sql) =>
      sql.begin(async (held) => {
        // as a read does that has counted and is not committed
        await held`select resident.count_read(${name}, 'key', ${unknown_numbers ? 0 : 20}, 0, ${unknown_numbers > 0}, ${unknown_numbers > 0})`;
        status = statusOf(key, ...read);
        const waiting = () =>
          held`select from pg_locks where locktype = 'advisory' and classid = 7206315 and not granted`;
        await expect.poll(waiting).toHaveLength(1);
      }),
    );
    expect(await status).toBe(429);
    expect(await countOf(name)).toMatchObject(counted);
  },
);

test("neither other partners nor the day before count, and all keys of a partner do", async () => {
  const { name, key } = await addPartner({ residentsPerDay: 2 });
  await haveRead("another-agency", 100, "1 hour");
  await haveRead(name, 100, "24 hours");
  const next = await withDirectory((directory) => directory.rotate(name, 3_600_000));
  expect(await statusOf(key, ...reads.list)).toBe(200);
  expect(await statusOf(next?.key ?? "", ...reads.list)).toBe(200);
  expect([await statusOf(key, ...reads.list), await statusOf(next?.key ?? "", ...reads.list)]).toEqual([
    429, 429,
  ]);
  await withDirectory((directory) => directory.limit(name, { residentsPerDay: null }));
  expect(await statusOf(key, ...reads.list)).toBe(200);
});

test("a read that is refused for another reason does not count", async () => {
  const { name, key } = await addPartner({}, { purposes: ["tax"] });
  expect(await statusOf(key, ...reads["search by number"])).toBe(400);
  expect(await countOf(name)).toEqual({ residents: null, look_ups: null, unknown_numbers: null });
});

test("concurrent reads of a partner count all, and none waits for another", async () => {
  const { name, key } = await addPartner();
  await statusOf(key, ...reads.list);
  await admin((sql) =>
    sql.begin(async (held) => {
      await held`select from resident.read_count where partner_id = ${name} for update`;
      expect(await statusOf(key, ...reads.list)).toBe(200);
    }),
  );
  const statuses = await Promise.all(Array.from({ length: 40 }, () => statusOf(key, ...reads.list)));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(await countOf(name)).toMatchObject({ residents: 42 });
});

test("maintenance deletes counts that are more than a day old", async () => {
  await haveRead("old-agency", 1, "25 hours");
  await haveRead("old-agency", 2, "23 hours");
  expect(await own.city.invoke(maintain.fn, {})).toEqual({ payload: "null" });
  expect(await countOf("old-agency")).toMatchObject({ residents: 2 });
});
