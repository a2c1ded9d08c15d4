import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import Postgrator from "postgrator";
import type postgres from "postgres";
import { log } from "#lib/log.ts";
import { steadyNow } from "#lib/steady-clock.ts";

const ourFolder = fileURLToPath(new URL("./migrations/", import.meta.url));

/** Advisory lock that allows one migration at a time. */
const lockKey = 7_206_301;

/** All queries of a table wait behind a migration that waits for its lock: then callers get timeouts. */
const lockTimeoutMs = 2_000;
const lockRetryMs = 3_000;
/** Lock not available, deadlock, serialization failure. */
const lockConflicts = ["55P03", "40P01", "40001"];

const escapeGlob = (path: string) => path.replace(/[[\]{}()*?!+@]/g, "\\$&");

/** @throws Error when this release is older than what the schema needs at least. */
const requireRelease = async (sql: postgres.TransactionSql, newest: number): Promise<void> => {
  const [least] = await sql<
    { version: number }[]
  >`select version from migration.least where version > ${newest}`;
  if (least)
    throw new Error(
      `the schema needs a release with migration ${least.version}, and this one ends at ${newest}: deploy a later release`,
    );
};

/** Migrates in one transaction, which ends when it does not get a lock in time. */
const attempt = (sql: postgres.Sql, folder: string): Promise<string[]> =>
  sql.begin(async (transaction) => {
    await transaction`select set_config('lock_timeout', ${String(lockTimeoutMs)}, true)`;
    await transaction`select pg_advisory_xact_lock(${lockKey})`;
    const postgrator = new Postgrator({
      driver: "pg",
      migrationPattern: `${escapeGlob(folder)}*.sql`,
      schemaTable: "migration.version",
      execQuery: async (query) => ({ rows: [...(await transaction.unsafe(query).simple())] }),
    });
    const ran = await postgrator.migrate();
    if ((await postgrator.getDatabaseVersion()) < 1) throw new Error(`no migrations found in ${folder}`);
    await requireRelease(transaction, await postgrator.getMaxVersion());
    return ran.map(({ version, name }) => `${version} ${name}`);
  }) as Promise<string[]>;

/**
 * Migrates the schema to the newest version, in one transaction. Where a lock is held by others, and after a deadlock, it
 * starts again, so that no reader waits longer than 2 s behind it.
 *
 * @param sql connection of a role that can create roles and schemas.
 * @param folder with a trailing slash; files are named `NNNN.do.<subject>.sql`.
 * @param maxWaitMs how long locks that others hold are waited for.
 * @returns names of the migrations that ran.
 * @throws Error when a migration fails, when one that has run was edited since, or when the release is too old for the schema.
 */
export const migrate = async (
  sql: postgres.Sql,
  folder = ourFolder,
  maxWaitMs = 600_000,
): Promise<string[]> => {
  for (const until = steadyNow() + maxWaitMs; ; await setTimeout(lockRetryMs)) {
    try {
      return await attempt(sql, folder);
    } catch (error) {
      const { code = "" } = error as { code?: string };
      if (!lockConflicts.includes(code) || steadyNow() > until) throw error;
      log.warn("the migration starts again, because another session holds its locks", { code });
    }
  }
};
