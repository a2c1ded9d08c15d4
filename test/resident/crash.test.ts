import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "#lib/db/migrate.ts";
import { foldChanges, profileBlocks, refreshVocabulary } from "#lib/resident/upkeep.ts";
import { recountBlocks, recountProfiles } from "#lib/resident/verify.ts";
import { destroyServer, startServer } from "../../infra/local/postgres/server.ts";
import { Random } from "../steps/random.ts";
import { checkPages } from "../steps/resident-check.ts";
import { Writer } from "../steps/resident-traffic.ts";

const rounds = 8;

/** A server of its own: when one of its backends is killed, it restarts and recovers. */
const startOwnServer = async () => {
  const folder = join(mkdtempSync(join(tmpdir(), "crash-")), "postgres");
  const password = "invented";
  const { port } = await startServer({ folder, superuserPassword: password, durable: false });
  onTestFinished(async () => {
    await destroyServer(folder);
    rmSync(join(folder, ".."), { recursive: true, force: true });
  });
  return () =>
    postgres({
      ...{ host: "127.0.0.1", port, username: "postgres", password, database: "postgres", max: 1 },
      ...{ fetch_types: false, onnotice: () => {}, backoff: () => 0.05 },
    });
};

/**
 * In one message: `sql.begin` of postgres 3.4.9 sends its rollback into a socket that is gone, which ends the
 * process.
 */
const transaction = `
  begin;
  update resident.resident set created_at = created_at + interval '1 day' where id % 7 = 0;
  insert into resident.resident (nik, family_card_number, name, mother_name, address, hamlet, village, district, city)
    select n, '9999010101009999', 'SITI NUR', 'IBU', 'JL', n, 'V', 'K', 'C'
    from (select '98' || lpad((coalesce(max(id), 0) + g)::text, 14, '0') as n from resident.resident,
      generate_series(1, 20) g group by g) rows;
  delete from resident.resident where id % 11 = 0;
  commit`;

test("totals and pages are right after upkeep and writers were killed at any moment", async () => {
  const connect = await startOwnServer();
  const random = new Random(9);
  const first = connect();
  await migrate(first);
  const writer = new Writer(first, random, 0, "read committed");
  for (let i = 0; i < 60; i++) await writer.write();
  await first.end();

  for (let round = 0; round < rounds; round++) {
    const upkeep = connect();
    const writing = connect();
    const [backend] = await upkeep<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const killed = new AbortController();
    const untilKilled = async (work: () => Promise<unknown>) => {
      while (!killed.signal.aborted) await work();
    };
    const keepUp = async () => {
      await upkeep`update resident.vocabulary set row_count = 0`;
      await refreshVocabulary(upkeep);
      await foldChanges(upkeep);
      await upkeep`select resident.split_block(32, 4)`;
      await profileBlocks(upkeep);
      if (random.chance(20)) await upkeep`select resident.rebuild_blocks(64)`;
    };
    // all of them are broken off when the backend is killed: PostgreSQL ends every session then
    const ended = Promise.allSettled([
      untilKilled(() => writing.unsafe(transaction).simple()),
      untilKilled(keepUp),
    ]);
    for (let pieces = random.below(12); pieces >= 0; pieces--)
      await connectOnce(connect, (sql) => sql`select 1`);
    process.kill(backend?.pid ?? Number.NaN, "SIGKILL");
    killed.abort();
    await ended;
    await Promise.all([upkeep.end({ timeout: 0 }), writing.end({ timeout: 0 })]);

    await connectOnce(connect, async (sql) => {
      await expect
        .poll(
          () =>
            sql`select 1`.then(
              () => true,
              () => false,
            ),
          { timeout: 10_000 },
        )
        .toBe(true);
      expect([...(await recountBlocks(sql)), ...(await recountProfiles(sql, 100))]).toEqual([]);
      expect(await checkPages(sql, random, 10)).toBeGreaterThan(20);
    });
  }
}, 120_000);

const connectOnce = async (connect: () => postgres.Sql, work: (sql: postgres.Sql) => Promise<unknown>) => {
  const sql = connect();
  await Promise.resolve(work(sql)).finally(() => sql.end({ timeout: 1 }));
};
