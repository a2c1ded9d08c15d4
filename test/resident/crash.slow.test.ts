import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "#lib/db/migrate.ts";
import { recountBlocks, recountSubstrings } from "#lib/resident/recount.ts";
import { destroyServer, startServer } from "../../infra/local/postgres/server.ts";
import { Random } from "../steps/random.ts";
import { checkPages } from "./resident-check.ts";
import { Writer } from "./resident-traffic.ts";

const rounds = 8;

/** A separate server: when one of its backends is killed, it ends all sessions, restarts and recovers. */
const startOwnServer = async () => {
  const folder = join(mkdtempSync(join(tmpdir(), "crash-")), "postgres");
  const password = "invented";
  const { port } = await startServer({ folder, superuserPassword: password, durable: false });
  onTestFinished(async () => {
    await destroyServer(folder);
    rmSync(join(folder, ".."), { recursive: true, force: true });
  });
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
};

const withConnection = async <T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> => {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
  return work(sql).finally(() => sql.end({ timeout: 1 }));
};

/**
 * Lets a process write and keep up, and kills the backend of its upkeep after so many answers of the server.
 * Resolves when the server has noticed: it ends all sessions then, also one that has nothing to do with it.
 */
const killAfter = async (url: string, answers: number) => {
  const victim = spawn(process.execPath, [fileURLToPath(new URL("victim.ts", import.meta.url)), url], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = once(victim, "exit");
  try {
    const [pid] = await once(victim.stdout, "data");
    const noticed = Promise.withResolvers<void>();
    const bystander = postgres(url, {
      max: 1,
      fetch_types: false,
      onnotice: () => {},
      onclose: () => noticed.resolve(),
    });
    for (let i = 0; i < answers; i++) await bystander`select count(*) from resident.resident`;
    await bystander`select 1`;
    process.kill(Number(pid), "SIGKILL");
    await noticed.promise;
    await bystander.end({ timeout: 0 });
  } finally {
    victim.kill("SIGKILL");
    await exited;
  }
};

const isUp = (url: string) =>
  withConnection(url, async (sql) => (await sql`select 1`).length === 1).catch(() => false);

test("totals and pages are correct after maintenance and writers were killed at any moment", async () => {
  const url = await startOwnServer();
  const random = new Random(9);
  await withConnection(url, async (sql) => {
    await migrate(sql);
    const writer = new Writer(sql, random, 0, "read committed");
    for (let i = 0; i < 60; i++) await writer.write();
  });
  for (let round = 0; round < rounds; round++) {
    await killAfter(url, random.below(200));
    await expect.poll(() => isUp(url), { timeout: 40_000 }).toBe(true);
    await withConnection(url, async (sql) => {
      expect([...(await recountBlocks(sql)), ...(await recountSubstrings(sql, 100))]).toEqual([]);
      expect(await checkPages(sql, random, 10)).toBeGreaterThan(20);
    });
  }
}, 240_000);
