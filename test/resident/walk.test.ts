import { expect, test } from "vitest";
import { type Act, eraseSubject, restrictSubject } from "#lib/resident/subject.ts";
import { Random } from "../steps/random.ts";
import { addReader } from "../steps/residents/reader.ts";
import { insertSeries } from "../steps/residents/resident-series.ts";
import { readStep } from "../steps/residents/walk-step.ts";
import { createDatabase } from "../steps/temporary-database.ts";
import { Copy, untilSettled } from "./copy.ts";
import { Writer } from "./resident-traffic.ts";

/** NIKs that no writer uses. */
const calmFrom = 50_000_000_000_000;

/** @param rows residents, whose change is over for every walk. */
const prepare = async (rows = 0) => {
  const database = await createDatabase();
  const sql = database.connect("adminUrl");
  await addReader(sql, "agency");
  if (rows > 0) await insertSeries(sql, 1, rows);
  await untilSettled(sql);
  return { database, sql };
};

test.each([1, 2, 3])(
  "a walk beside writers returns each resident that stays exactly once, and changes complete the copy (%i)",
  async (seed) => {
    const { database, sql } = await prepare();
    const random = new Random(seed);
    const writers = Array.from({ length: 4 }, (_, i) => {
      const isolation = i % 2 === 0 ? "read committed" : "repeatable read";
      return new Writer(database.connect("adminUrl"), new Random(seed * 10 + i), i, isolation);
    });
    const write = () => Promise.all(writers.map((writer) => writer.write()));
    for (let i = 0; i < 3; i++) {
      await insertSeries(sql, calmFrom + i * 100, 40);
      await write();
    }
    // began before the walk, takes its ids before those of others, and commits after the walk
    const late = database.connect("adminUrl");
    await late`begin`;
    await insertSeries(late, calmFrom + 1_000, 5);
    await late`update resident.resident set address = 'LATE' where nik = ${`99${calmFrom}`}`;
    await late`delete from resident.resident where nik = ${`99${calmFrom + 1}`}`;
    await write();

    const copy = new Copy(database.connect("adminUrl"));
    const findSize = () => 1 + random.below(30);
    const walkBesideWriters = async () => {
      let isWalking = true;
      const writing = async (writer: Writer) => {
        while (isWalking) await writer.write();
      };
      const walking = copy.walk(findSize).finally(() => {
        isWalking = false;
      });
      await Promise.all([...writers.map(writing), walking]);
    };
    await walkBesideWriters();
    expect(new Set(copy.returned).size).toBe(copy.returned.length);
    const calm = copy.returned.filter((id) => Number(copy.residents.get(id)?.hamlet?.slice(2)) >= calmFrom);
    expect(calm).toHaveLength(120);

    for (let i = 0; i < 3; i++) await walkBesideWriters();
    await late`commit`;
    await walkBesideWriters();
    await untilSettled(sql);
    await copy.walk(findSize);
    await copy.expectEqual();
    await copy.walk(findSize);
    expect(copy.returned).toEqual([]);
  },
  120_000,
);

test("changes wait for a transaction that is older, and lose nothing when it commits", async () => {
  const { database, sql } = await prepare(10);
  const copy = new Copy(database.connect("adminUrl"));
  await copy.walk(() => 100);
  const late = database.connect("adminUrl");
  await late`begin`;
  await insertSeries(late, 100, 1);
  await insertSeries(sql, 200, 1);
  await copy.walk(() => 100);
  expect(copy.residents.size).toBe(10);
  await late`commit`;
  await untilSettled(sql);
  await copy.walk(() => 100);
  expect(copy.residents.size).toBe(12);
});

test("a removal is told once, a resident that was brought back is a change, and ids stay the same", async () => {
  const { database, sql } = await prepare(5);
  const reader = database.connect("adminUrl");
  const columns =
    "id, nik, family_card_number, name, mother_name, address, hamlet, village, district, city, created_at";
  const first = await readStep(reader, { after: "start" }, 10);
  const idOf = (place: number) => first.ids[place] ?? "";
  await sql.unsafe(`create table held as select ${columns} from resident.resident where id in (1, 2)`);
  await sql`delete from resident.resident where id in (1, 2, 3)`;
  await sql.unsafe(
    `insert into resident.resident (${columns}) overriding system value select ${columns} from held where id = 1`,
  );
  await untilSettled(sql);
  const next = await readStep(reader, { changed_since: first.changed_since ?? "" }, 10);
  expect([next.ids, next.removed]).toEqual([[idOf(0)], [idOf(1), idOf(2)]]);
  await sql.unsafe(
    `insert into resident.resident (${columns}) overriding system value select ${columns} from held where id = 2`,
  );
  await untilSettled(sql);
  const last = await readStep(reader, { changed_since: next.changed_since ?? "" }, 10);
  expect([last.ids, last.removed]).toEqual([[idOf(1)], []]);
  expect(last.residents[0]).toEqual(first.residents[1]);
});

const actOn = (number: number): Act => {
  const nik = `99${String(number).padStart(14, "0")}`;
  const terms = { pepperVersion: 1, operator: "Rina", reason: "test", caseReference: null, requestId: "r" };
  return { nik, nikDigest: Buffer.alloc(32, number), ...terms };
};

test("a resident who is restricted or erased is told as removed, and one who is shown again as changed", async () => {
  const { database, sql } = await prepare(4);
  const reader = database.connect("adminUrl");
  const subject = database.connect("subjectUrl");
  const first = await readStep(reader, { after: "start" }, 10);
  await restrictSubject(subject, actOn(2), false);
  await eraseSubject(subject, actOn(3), false);
  await untilSettled(sql);
  const next = await readStep(reader, { changed_since: first.changed_since ?? "" }, 10);
  expect([next.ids, new Set(next.removed)]).toEqual([[], new Set(first.ids.slice(1, 3))]);
  await restrictSubject(subject, actOn(2), true);
  await untilSettled(sql);
  const last = await readStep(reader, { changed_since: next.changed_since ?? "" }, 10);
  expect([last.ids, last.removed, last.residents]).toEqual([[first.ids[1]], [], [first.residents[1]]]);
});

test("a resident who was removed, brought back and removed again is told once, and again after the next time", async () => {
  const { database, sql } = await prepare(4);
  const reader = database.connect("adminUrl");
  const subject = database.connect("subjectUrl");
  const first = await readStep(reader, { after: "start" }, 10);
  const restrictAndWalk = async (changes: readonly boolean[], changed_since: string | null) => {
    for (const isLifted of changes) await restrictSubject(subject, actOn(2), isLifted);
    await untilSettled(sql);
    return readStep(reader, { changed_since: changed_since ?? "" }, 10);
  };
  const gone = await restrictAndWalk([false, true, false], first.changed_since);
  expect([gone.ids, gone.removed]).toEqual([[], [first.ids[1]]]);
  const back = await restrictAndWalk([true], gone.changed_since);
  expect([back.ids, back.removed]).toEqual([[first.ids[1]], []]);
  const again = await restrictAndWalk([false], back.changed_since);
  expect([again.ids, again.removed]).toEqual([[], [first.ids[1]]]);
});

test("an import of a restricted resident tells partners nothing", async () => {
  const { database, sql } = await prepare(4);
  const reader = database.connect("adminUrl");
  await restrictSubject(database.connect("subjectUrl"), actOn(2), false);
  await untilSettled(sql);
  const first = await readStep(reader, { after: "start" }, 10);
  await insertSeries(database.connect("importerUrl"), 2, 1);
  await untilSettled(sql);
  const next = await readStep(reader, { changed_since: first.changed_since ?? "" }, 10);
  expect([next.ids, next.removed]).toEqual([[], []]);
});

test("changes of one statement fill several pages, each of them once", async () => {
  const { database, sql } = await prepare(300);
  const copy = new Copy(database.connect("adminUrl"));
  await copy.walk(() => 100);
  await sql`with gone as (delete from resident.resident where id % 3 = 0 returning 1)
    update resident.resident set name = 'LAIN' where id % 3 = 1`;
  await untilSettled(sql);
  await copy.walk(() => 7);
  expect(copy.returned).toHaveLength(100);
  expect(new Set(copy.returned).size).toBe(100);
  await copy.expectEqual();
});

test("a page is full but for the last one, and a walk of none is one page", async () => {
  const { database, sql } = await prepare();
  const reader = database.connect("adminUrl");
  const none = await readStep(reader, { after: "start" }, 2);
  expect([none.ids, none.removed, none.after, typeof none.changed_since]).toEqual([[], [], null, "string"]);
  await insertSeries(sql, 1, 4);
  const first = await readStep(reader, { after: "start" }, 2);
  const last = await readStep(reader, { after: first.after ?? "" }, 2);
  expect([first.ids.length, first.changed_since, last.ids.length, last.after]).toEqual([2, null, 2, null]);
});

test("each page of a walk is audited as a list, with its number of rows", async () => {
  const { database, sql } = await prepare();
  await insertSeries(sql, 1, 3);
  await new Copy(database.connect("adminUrl")).walk(() => 2);
  expect(await sql`select route, partner_id, row_count from audit.resident_read order by id`).toEqual([
    { route: "list", partner_id: "agency", row_count: 2 },
    { route: "list", partner_id: "agency", row_count: 1 },
  ]);
});

test("removals are forgotten after 91 days", async () => {
  const { sql } = await prepare();
  await insertSeries(sql, 1, 3);
  await sql`delete from resident.resident where id in (1, 2)`;
  await sql`update resident.removal set removed_at = now() - interval '90 days 23 hours' where resident_id = 1`;
  await sql`update resident.removal set removed_at = now() - interval '91 days 1 hour' where resident_id = 2`;
  expect(await sql`select resident.expire_removals(10) as rows`).toEqual([{ rows: 1 }]);
  expect(await sql`select resident_id::int as id from resident.removal`).toEqual([{ id: 1 }]);
});
