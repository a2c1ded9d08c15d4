import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { Random } from "../steps/random.ts";
import { addReader, liftGuessLimits } from "../steps/residents/reader.ts";
import { insertSeries, nikOf } from "../steps/residents/resident-series.ts";
import { createDatabase } from "../steps/temporary-database.ts";

const width = 100_000_000;
const residents = 200;

let sql: postgres.Sql;

/** Residents 1 to 200; the newest has the highest id, and each has the NIK as hamlet, which is not masked. */
beforeEach(async () => {
  const database = await createDatabase();
  sql = database.connect("adminUrl");
  await addReader(sql);
  await liftGuessLimits(sql);
  await sql.unsafe("grant municipal_owner to current_user");
  await insertSeries(sql, 1, residents, "timestamp '2025-01-01' + i * interval '1 second'");
  await sql`select resident.rebuild_blocks()`;
});

/** The next read gets this id. */
const moveOn = (id: number) => sql`select setval('audit.resident_read_id', ${id}, false)`;

type Page = readonly { residents: readonly { hamlet: string }[] }[];

const idsOn = ([page]: Page): readonly number[] =>
  page?.residents.map(({ hamlet }) => Number(hamlet.slice(2))) ?? [];

const list = async (request: string, page: number, size: number) =>
  idsOn(await sql<Page>`select residents from resident.list(${page}, ${size}, 'p', 'k', ${request})`);
const search = async (request: string, nik: string | null, name: string | null, page = 1) =>
  idsOn(
    await sql<Page>`
      select residents from resident.search(${nik}, ${name}, ${page}, 10, 'p', 'k', ${request},
        ${nik && Buffer.alloc(32)}, ${name && Buffer.alloc(32)}, 1)`,
  );
/** Shows the resident to nobody, and tells something of them. */
const verify = async (request: string, id: number, name: string) => {
  await sql`
    select resident.verify(${nikOf(id)}, ${JSON.stringify({ name })}::text::json, 'p', 'k', ${request},
      sha256(convert_to(${request}, 'UTF8')), 1)`;
  return id <= residents ? [id] : [];
};

const readAtRandom = (random: Random, request: string): Promise<readonly number[]> => {
  const id = 1 + random.below(residents + 20);
  switch (random.below(5)) {
    case 0:
      return search(request, nikOf(id), random.chance(20) ? "siti 1" : null, random.chance(10) ? 2 : 1);
    case 1:
      return search(
        request,
        null,
        `${random.pick(["siti", "iti", "siti 1"])}${random.below(10)}`,
        1 + random.below(2),
      );
    case 2:
      return verify(request, id, random.chance(50) ? `Siti ${id}` : "Orang Lain");
    default:
      return list(request, 1 + random.below(25), 1 + random.below(12));
  }
};

const requestsOf = async (id: number) => {
  const rows = await sql<{ request: string }[]>`
    select request_id as request from audit.reads_of(${id}, 10000)`;
  return rows.map(({ request }) => request);
};
const readsOf = async (id: number, most = 10_000) => {
  const rows = await sql<{ id: number }[]>`select id::float8 from audit.reads_of(${id}, ${most})`;
  return rows.map((row) => row.id);
};

test("of 5,000 reads of any kind, those of a resident are exactly the ones that showed them", async () => {
  const random = new Random(5);
  const shownTo = new Map<number, string[]>();
  for (let round = 0; round < 50; round++) {
    // some are merged into the index, some are not; some are in the next partition
    if (round === 20) await sql.unsafe("vacuum audit.resident_read");
    if (round === 30) await moveOn(width);
    const requests = Array.from({ length: 100 }, (_, i) => `request ${round} ${i}`);
    const pages = await Promise.all(requests.map((request) => readAtRandom(random, request)));
    for (const [i, ids] of pages.entries())
      for (const id of ids) shownTo.set(id, [requests[i] ?? "", ...(shownTo.get(id) ?? [])]);
  }
  for (let id = 4; id <= residents; id += 4) {
    expect(shownTo.get(id)?.length).toBeGreaterThan(20);
    expect([id, await requestsOf(id)]).toEqual([id, shownTo.get(id)]);
  }
}, 240_000);

test("the reads of a resident are listed newest first, across partitions", async () => {
  await list("a", 1, 10);
  await search("b", nikOf(195), null);
  await list("c", 2, 10);
  await moveOn(width);
  await verify("d", 195, "Siti 195");
  await list("e", 1, 6);
  expect(await readsOf(195)).toEqual([width + 1, width, 2, 1]);
  expect(await readsOf(195, 3)).toEqual([width + 1, width, 2]);
  expect(await readsOf(residents + 1)).toEqual([]);
});

test("the listed reads say who read what for, and what a verification answered", async () => {
  await sql`select resident.list(1, 1, 'p', 'k', 'r1', 'P-1', 'case 1', 'user 1')`;
  await sql`select resident.verify(${nikOf(residents)}, '{"name":"SITI 200"}', 'q', 'k2', 'r2', ${Buffer.alloc(32)}, 1,
    'P-2', 'case 2', 'user 2')`;
  const common = { id: expect.anything(), read_at: expect.any(Date) };
  expect([...(await sql`select * from audit.reads_of(${residents}, 10)`)]).toEqual([
    {
      ...common,
      ...{ partner_id: "q", key_id: "k2", request_id: "r2", route: "verify", answers: { name: true } },
      ...{ purpose: "P-2", case_reference: "case 2", user_reference: "user 2" },
    },
    {
      ...common,
      ...{ partner_id: "p", key_id: "k", request_id: "r1", route: "list", answers: null },
      ...{ purpose: "P-1", case_reference: "case 1", user_reference: "user 1" },
    },
  ]);
});

test.each(["", "analyze audit.resident_read"])(
  "each partition is searched by its index alone: %s",
  async (statement) => {
    for (const from of [1, width])
      await sql`
      insert into audit.resident_read (id, partner_id, key_id, request_id, route, row_count, shown)
      select ${from} + n, 'p', 'k', 'r', 'list', 10, audit.encode_ids(array[n % 1000, 1000 + n % 7, 5000])
      from generate_series(0, 9999) n`;
    await sql.unsafe(statement);
    const scans = await sql.begin(async (transaction) => {
      const counts = async () => {
        const rows = await transaction<{ name: string; scans: number }[]>`
        select relname as name, pg_stat_get_xact_numscans(oid)::int as scans from pg_class
        where relname ~ '^resident_read_[01]' order by relname`;
        return rows.map(({ name, scans }) => [name, scans] as const);
      };
      const before = new Map(await counts());
      // a few reads, many, and more than are asked for, which the newer partition has
      for (const [id, most] of [
        [7, 100],
        [1_003, 30_000],
        [5_000, 100],
      ] as const)
        await transaction`select id from audit.reads_of(${id}, ${most})`;
      return (await counts()).map(([name, scans]) => [name, scans - (before.get(name) ?? 0)]);
    });
    expect(Object.fromEntries(scans)).toEqual({
      resident_read_0: 0,
      resident_read_0_decode_ids_idx: 2,
      resident_read_0_pkey: 0,
      resident_read_1: 0,
      resident_read_1_decode_ids_idx: 3,
      resident_read_1_pkey: 0,
    });
  },
);
