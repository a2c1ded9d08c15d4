import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type postgres from "postgres";
import { beforeEach, describe, expect, test } from "vitest";
import { sealReads } from "#lib/maintenance/audit.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";

let database: TemporaryDatabase;
let reader: postgres.Sql;
let maintenance: postgres.Sql;

beforeEach(async () => {
  database = await createDatabase();
  reader = database.connect("adminUrl");
  maintenance = database.connect("maintenanceUrl");
});

const read = (sql: postgres.ISql, count = 1) =>
  sql`select (resident.list(1, 10, 'p', 'k', 'request ' || n)).total from generate_series(1, ${count}) n`;

const problems = async () =>
  (await maintenance`select id::int, problem from audit.verify_seals(0, 1000)`).filter(
    ({ problem }) => problem !== null,
  );

describe("a chain of more seals than are read at a time", () => {
  const seals = 205;

  const verify = async () => {
    const child = spawn(process.execPath, ["infra/cli/city.ts", "audit", "verify"], {
      env: { DATABASE_URL: database.urlFor("maintenanceUrl") },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, errors, [code]] = await Promise.all([
      text(child.stdout as NodeJS.ReadableStream),
      text(child.stderr as NodeJS.ReadableStream),
      once(child, "exit"),
    ]);
    return { code, out, errors: errors.trim() };
  };

  beforeEach(async () => {
    await read(reader, seals);
    await maintenance`select audit.seal_reads(${seals}, 1, 1) from generate_series(1, ${seals})`;
  });

  test("is valid up to its end", async () => {
    expect(await verify()).toMatchObject({
      code: 0,
      out: expect.stringMatching(`^All ${seals} seals are valid`),
    });
  });

  test("is searched to its end for errors", async () => {
    await reader`update audit.resident_read set partner_id = 'q' where id in (7, 203)`;
    expect(await verify()).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/^seal 7: its rows were changed\nseal 203: its rows were changed\n/),
    });
  });
});

test("verifying some seals of many reads the rows of no other", async () => {
  await read(reader, 600);
  await maintenance`select audit.seal_reads(600, 1, 1) from generate_series(1, 600)`;
  await reader`analyze audit.seal, audit.resident_read`;
  const rows = await reader.begin(async (sql) => {
    await sql`select audit.verify_seals(300, 200)`;
    const [table] = await sql<{ rows: number }[]>`
      select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
      where relid = 'audit.resident_read_0'::regclass`;
    return table?.rows;
  });
  expect(rows).toBe(200);
});

test("a seal recomputed for changed rows does not match the next seal", async () => {
  for (const count of [3, 4, 5]) {
    await read(reader, count);
    await sealReads(maintenance, 1);
  }
  expect(await problems()).toEqual([]);
  await reader.unsafe("grant municipal_owner to current_user");
  await reader`update audit.resident_read set partner_id = 'q' where id = 5`;
  await reader`update audit.seal set rows_digest = (audit.digest_rows(first_id, last_id, format)).rows_digest where id = 2`;
  await reader`update audit.seal s set digest = audit.digest_seal((select digest from audit.seal where id = 1), s)
    where id = 2`;
  expect(await problems()).toEqual([{ id: 3, problem: "the seal was changed" }]);
});

test("a seal in another format than its own is invalid, and so is one that only a later release can verify", async () => {
  await read(reader, 3);
  await sealReads(maintenance, 1);
  await reader.unsafe("grant municipal_owner to current_user");
  await reader`update audit.seal set format = 2`;
  expect(await problems()).toEqual([{ id: 1, problem: "the seal was changed" }]);
  await reader`update audit.seal s set digest = audit.digest_seal(null, s)`;
  expect(await problems()).toEqual([{ id: 1, problem: "a later release made it: verify it with that one" }]);
});

describe("a read that is not committed yet", () => {
  let slow: postgres.Sql;

  beforeEach(async () => {
    slow = database.connect("adminUrl");
    await read(reader, 2);
    await slow`begin`;
  });

  test("delays the seal, although later ones are committed", async () => {
    await read(slow);
    await read(reader, 2);
    expect(await sealReads(maintenance, 1)).toEqual({ rows: 0, more: false });
    await slow`commit`;
    expect(await sealReads(maintenance, 1)).toEqual({ rows: 5, more: false });
    expect(await problems()).toEqual([]);
  });

  test("does not make other reads wait for the seal", async () => {
    await read(slow);
    await reader`set lock_timeout = '1ms'`;
    const sealing = sealReads(maintenance, 1);
    for (let ended = false; !ended; ) {
      await read(reader);
      ended = await Promise.race([
        sealing.then(() => true),
        new Promise<false>((go) => setImmediate(go, false)),
      ]);
    }
    expect(await sealing).toEqual({ rows: 0, more: false });
  });

  test("is not skipped when it begins during sealing", async () => {
    const [settled] = await maintenance`select audit.find_settled_id() as id`;
    await read(slow);
    await read(reader, 2);
    const [seal] = await maintenance`select row_count as rows from audit.seal_reads(${settled?.id}, 100, 1)`;
    expect(seal?.rows).toBe(2);
    await slow`commit`;
    expect(await sealReads(maintenance, 1)).toEqual({ rows: 3, more: false });
    expect(await problems()).toEqual([]);
  });
});

test("reads are sealed while their table and the seals are vacuumed", async () => {
  await read(reader, 3);
  const vacuum = database.connect("adminUrl");
  await vacuum`begin`;
  // what VACUUM takes
  await vacuum`lock table audit.resident_read, audit.seal in share update exclusive mode`;
  expect(await sealReads(maintenance, 1)).toEqual({ rows: 3, more: false });
});
