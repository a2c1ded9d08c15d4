import postgres from "postgres";
import { beforeAll, expect, test } from "vitest";
import type { PartnerLimits } from "#lib/partner/partner-keys.ts";
import { useOwnCity } from "../steps/city/own-city.ts";
import { partnersOf } from "../steps/residents/partners.ts";
import { insertSeries } from "../steps/residents/resident-series.ts";

const own = useOwnCity();
const { addPartner } = partnersOf(own);
const residents = 1_000;

/** A read in SQL; n counts the reads of ten minutes. */
const reads = {
  "first page of the list": "resident.list(1, 100, partner, 'k', 'r')",
  "deep page of the list": `resident.list(2 + n % ${residents / 100 - 1}, 100, partner, 'k', 'r')`,
  name: "resident.search(null, 'siti', 1, 10, partner, 'k', 'r', null, sha256(''), 1)",
  "next page": "resident.search(null, 'siti', 2, 10, partner, 'k', 'r', null, sha256(''), 1)",
  number: `
    resident.search('99' || lpad((n % ${residents})::text, 14, '0'), null, 1, 10, partner, 'k', 'r', sha256(''), null, 1)`,
  verification: `
    resident.verify('99' || lpad((n % ${residents})::text, 14, '0'), json_build_object('name', 'Siti ' || n % ${residents}), partner, 'k', 'r', sha256(''), 1)`,
} as const;

/** The reads of each ten minutes of this hour of the day. */
type Habit = (hour: number) => Partial<Record<keyof typeof reads, number>>;

const during = (from: number, to: number, hour: number) => from <= hour && hour < to;
/** Of the opening hours; the busiest hours are after opening. */
const counter = (busy: number, quiet: number, hour: number) =>
  during(8, 10, hour) ? busy : during(10, 16, hour) ? quiet : 0;

/** Fifty clerks with a citizen every minute in the morning, 200 each in all: half come with a number. */
const clerks: Habit = (hour) => {
  const citizens = counter(500, 100, hour);
  return { number: citizens / 2, name: citizens / 2, "next page": citizens / 5 };
};
/** Registers 200 patients an hour, by name when they have no card. */
const clinic: Habit = (hour) => ({ verification: counter(60, 30, hour), name: counter(8, 4, hour) });
/** Twenty branches. */
const bank: Habit = (hour) => ({ verification: counter(80, 40, hour) });
/** Reads every ten minutes what is new. */
const reader: Habit = () => ({ "first page of the list": 1 });
/** On the day of enrolment, schools verify 6,000 children within an hour. */
const enrolment: Habit = (hour) => ({ verification: during(8, 9, hour) ? 1_000 : 0 });
/** Copies 60,000 residents at night. */
const copier: Habit = (hour) => ({ "deep page of the list": during(1, 2, hour) ? 100 : 0 });

const agreements: readonly (readonly [habit: Habit, limits: PartnerLimits])[] = [
  [clerks, {}],
  [clinic, {}],
  [bank, {}],
  [reader, {}],
  [enrolment, { lookUpsPerMinute: 120 }],
  [copier, { lookUpsPerMinute: 1_500, residentsPerDay: 100_000 }],
];

let sql: postgres.Sql;
let notices: postgres.Notice[] = [];
beforeAll(async () => {
  sql = postgres(own.city.database.adminUrl, { max: 1, onnotice: (notice) => void notices.push(notice) });
  await insertSeries(sql, 0, residents);
  return () => sql.end();
});

/**
 * Reads for ten minutes, each read in a transaction. The counts of the other fifty are copies, then an hour has passed for
 * all of them.
 *
 * @throws Error if a read is refused.
 */
const spend = async (partners: readonly (readonly [habit: Habit, name: string])[], hour: number) => {
  for (const [habit, name] of partners)
    for (const [kind, count = 0] of Object.entries(habit(hour)))
      await sql.unsafe(`
        do $$ declare partner constant text := '${name}'; begin
          for n in 1..${count} loop perform ${reads[kind as keyof typeof reads]}; commit; end loop;
        end $$`);
  await sql`
    insert into resident.read_count (partner_id, since, residents, look_ups, unknown_numbers)
    select partner_id, since - span * interval '10 minutes', residents, look_ups, unknown_numbers
    from resident.read_count, generate_series(1, 5) span where since > now() - interval '30 minutes'`;
  await sql`update resident.read_count set since = since - interval '1 hour'`;
};

const simulate = async (parties: typeof agreements) => {
  notices = [];
  const partners: [Habit, string][] = [];
  for (const [habit, limits] of parties) partners.push([habit, (await addPartner(limits)).name]);
  for (let hour = 0; hour < 24; hour++) await spend(partners, hour);
  return notices.filter(({ code }) => code?.startsWith("MI"));
};

test("the usual traffic of a day raises no alarm and no read of it is refused", async () => {
  expect(await simulate(agreements)).toEqual([]);
  const [row] =
    await sql`select count(distinct partner_id)::int as partners, sum(residents)::int as residents from resident.read_count`;
  expect(row?.partners).toBe(agreements.length);
  expect(row?.residents).toBeGreaterThan(150_000);
});

test.each([
  ["a day of enrolment", enrolment],
  ["a copy of the register", copier],
])("%s raises an alarm without an agreement that foresees it", async (_, habit) => {
  expect(await simulate([[habit, {}]])).not.toEqual([]);
});
