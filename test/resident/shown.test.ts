import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { sealReads } from "#lib/maintenance/audit.ts";
import { callCommand } from "../steps/command.ts";
import { insertSeries, nikOf } from "../steps/residents/resident-series.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";

const residents = 200;

let database: TemporaryDatabase;
let sql: postgres.Sql;

/** Residents 1 to 200; the newest has the highest id. */
beforeEach(async () => {
  database = await createDatabase();
  sql = database.connect("adminUrl");
  await insertSeries(sql, 1, residents, "timestamp '2025-01-01' + i * interval '1 second'");
  await sql`select resident.rebuild_blocks()`;
});

const digest = Buffer.alloc(32);

const list = (page: number, size: number) =>
  sql`select (resident.list(${page}, ${size}, 'p', 'k', 'r')).total`;
const search = (nik: string | null, name: string | null, page = 1, size = 10) =>
  sql`select (resident.search(${nik}, ${name}, ${page}, ${size}, 'p', 'k', 'r', ${nik && digest},
    ${name && digest}, 1)).total`;
/** Each as another partner and with another digest, so that no limit is reached. */
const verify = (nik: string, name: string, turn = 0) =>
  sql`select resident.verify(${nik}, ${JSON.stringify({ name })}::text::json, ${`p${turn}`}, 'k', 'r',
    sha256(convert_to(${String(turn)}, 'UTF8')), 1)`;

const shownIds = async () => {
  const rows = await sql<{ shown: string }[]>`
    select array_to_string(audit.decode_ids(shown), ' ') as shown from audit.resident_read order by id`;
  return rows.map(({ shown }) => shown);
};
test.each([
  ["{}", "{}", 0],
  ["{1}", "{1}", 2],
  ["{0}", "{0}", 2],
  ["{3,9223372036854775807,-5}", "{-5,3,9223372036854775807}", 25],
  ["{262,7,44}", "{7,44,262}", 4],
  ["{300,7,44}", "{7,44,300}", 6],
  ["{10000000,9000000,1}", "{1,9000000,10000000}", 8],
])("the ids %s are decoded as %s, from %i bytes", async (ids, ordered, bytes) => {
  const [row] = await sql`
    select audit.decode_ids(encoded)::text as ids, octet_length(encoded) as bytes
    from audit.encode_ids(${ids}::text::bigint[]) encoded`;
  expect(row).toEqual({ ids: ordered, bytes });
});

test("a list stores the ids on its page", async () => {
  await list(1, 3);
  await list(67, 3);
  await list(68, 3);
  expect(await shownIds()).toEqual(["198 199 200", "1 2", ""]);
});

test("a search stores the ids on its page, and none if it shows nobody", async () => {
  await search(null, "siti 11");
  await search(null, "siti 11", 2);
  await search(nikOf(7), null);
  await search(nikOf(7), "siti 8");
  await search(nikOf(7), null, 2);
  await search(nikOf(900), null);
  expect(await shownIds()).toEqual(["110 111 112 113 114 115 116 117 118 119", "11", "7", "", "", ""]);
});

test("a verification stores the id of the resident who has the number, whatever the answer, and 0 for nobody", async () => {
  await verify(nikOf(7), "SITI 7");
  await verify(nikOf(7), "ORANG LAIN", 1);
  await verify(nikOf(900), "SITI 7", 2);
  expect(await shownIds()).toEqual(["7", "7", "0"]);
});

test("one changed id breaks the verification of the audit", async () => {
  const maintenance = database.connect("maintenanceUrl");
  const verifyAudit = () =>
    callCommand(
      () => import("../../infra/cli/audit.ts"),
      { DATABASE_URL: database.urlFor("maintenanceUrl") },
      "verify",
    );
  await list(1, 10);
  await search(null, "siti 11");
  await sealReads(maintenance, 1);
  expect((await verifyAudit()).status).toBe(0);
  await sql`
    update audit.resident_read set shown = audit.encode_ids(array_replace(audit.decode_ids(shown), 115, 120))
    where id = 2`;
  expect(await verifyAudit()).toMatchObject({
    status: 1,
    errors: expect.stringMatching(/^seal 1: its rows were changed\n/),
  });
});

test("a reader only appends to the index of who was shown; a vacuum merges what was appended", async () => {
  await sql.unsafe("grant municipal_owner to current_user");
  const [index] = await sql`
    select reloptions::text as options from pg_class where relname = 'resident_read_1_decode_ids_idx'`;
  expect(index).toEqual({ options: "{gin_pending_list_limit=4194304}" });
  const appendedPages = async () => {
    const [row] =
      await sql`select gin_clean_pending_list('audit.resident_read_0_decode_ids_idx')::int as pages`;
    return row?.pages;
  };
  await list(1, 3);
  expect(await appendedPages()).toBe(1);
  await list(1, 3);
  await sql.unsafe("vacuum audit.resident_read");
  expect(await appendedPages()).toBe(0);
});
