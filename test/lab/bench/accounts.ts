import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import type { Pace } from "#lib/messenger/send/pace.ts";
import { startDatabase } from "../../../infra/local/database.ts";
import { destroyServer } from "../../../infra/local/postgres/server.ts";
import { openStore, readLocalSecret } from "../../../infra/local/secrets/store.ts";
import { runTrial, type TrialOptions } from "../../fleet/trial.ts";
import { printTable, type Result } from "./result.ts";
import { percentile } from "./timing.ts";

/** Runs `work` with a database server of its own, which flushes each commit to disk. */
export const withDatabase = async <T>(
  work: (databaseUrl: string, admin: postgres.Sql) => Promise<T>,
): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    const store = openStore(undefined);
    const database = await startDatabase(`${folder}/postgres`, store, true);
    const { username, password, host, port, dbname } = readLocalSecret("database/messenger", store);
    const admin = postgres(database.adminUrl, { max: 1, fetch_types: false, onnotice: () => {} });
    const done = await work(`postgres://${username}:${password}@${host}:${port}/${dbname}`, admin);
    await admin.end();
    await database.server.stop();
    return done;
  } finally {
    await destroyServer(`${folder}/postgres`);
    rmSync(folder, { recursive: true, force: true });
  }
};

const pace: Pace = {
  ...{ gapMs: [5, 10], perRecipientMs: 1_000, perMinute: 150, perHour: 100_000, perDay: 100_000 },
  ...{ newContactsPerDay: 1_500, warmUp: [], rampMs: 0, retryMs: [200, 2_000] },
};

const full = { accounts: 10, tasks: 3, bans: 2, kills: 5, codes: 200, codeEveryMs: 100, accepts: 300 };
type Effort = Pick<TrialOptions, keyof typeof full>;

/**
 * Sends notices to many recipients through ten accounts on three tasks, while two accounts are banned and one task is killed
 * five times; then one-time codes while the first account is unlinked, while the platform is away, and without any linked
 * account. What phones got is judged by their own times.
 *
 * @param options `recipients`: numbers that get a notice, one in five a second one.
 */
export const benchAccounts = async ({
  recipients,
  effort = full,
}: {
  recipients: number;
  effort?: Effort;
}): Promise<Result> => {
  const started = performance.now();
  const onStep = (step: string) =>
    console.error(`${Math.round((performance.now() - started) / 1_000)} s ${step}`);
  const { accepted, accounts, codes, ...verdict } = await withDatabase((databaseUrl, admin) =>
    runTrial({ ...effort, databaseUrl, admin, pace, recipients, onStep }),
  );
  const codeRows = Object.entries(codes).map(([during, { times, ...counts }]) => ({
    during:
      { unlinked: "`first account unlinked`", away: "`platform away`", none: "`no account linked`" }[
        during
      ] ?? "",
    codes: times.length,
    "p50 ms": percentile(times, 0.5),
    "p99 ms": percentile(times, 0.99),
    ...counts,
  }));
  printTable(accounts);
  printTable(codeRows);
  console.error(JSON.stringify({ accepted, ...verdict }));
  const { perMinute, newContactsPerDay } = pace;
  const { tasks, bans, kills } = effort;
  const sizes = { recipients, tasks, bans, kills, perMinute, newContactsPerDay };
  return { bench: "accounts", figures: { ...sizes, ...verdict, accepted, accounts, codes: codeRows } };
};
