import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { noPace } from "#lib/messenger/send/pace.ts";
import { openStage, type Stage } from "../../fleet/stage.ts";
import { withDatabase } from "./accounts.ts";
import { readCpuMs } from "./processor.ts";
import { printTable, type Result } from "./result.ts";
import { round } from "./timing.ts";

/** Of the container, and of one with 1 GiB for accounts that do not fit. */
const heapFor = (accounts: number): number => (accounts > 200 ? 256 : 96);

const readResidentMb = (pid: number): number =>
  Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024);

const countTransactions = async ({ admin }: Stage): Promise<number> => {
  const [row] = await admin<{ count: number }[]>`
    select (xact_commit + xact_rollback)::int as count from pg_stat_database where datname = current_database()`;
  return row?.count ?? 0;
};

/** Starts a task that leads so many accounts and measures it once all are connected. */
const measure = async (stage: Stage, count: number, measuredMs: number) => {
  const { admin, accounts, platform } = stage;
  const led = accounts.slice(0, count);
  const last = led.at(-1)?.id ?? 0;
  await admin`update messaging.account set state = case when id <= ${last} then 'active' else 'retired' end`;
  const started = performance.now();
  const task = await stage.start(0, heapFor(count));
  await stage.untilReady(new Map(accounts.slice(count).map(({ id }) => [id, 0])));
  const readyMs = performance.now() - started;
  // what is left of the logins
  await setTimeout(measuredMs);
  const [cpuMs, transactions, from] = [
    readCpuMs(task.pid),
    await countTransactions(stage),
    performance.now(),
  ];
  await setTimeout(measuredMs);
  const seconds = (performance.now() - from) / 1_000;
  const row = {
    accounts: count,
    "heap limit MB": heapFor(count),
    "ready s": round(readyMs / 1_000),
    "RSS MB": readResidentMb(task.pid),
    "processor %": round((readCpuMs(task.pid) - cpuMs) / seconds / 10),
    "transactions a second": round(((await countTransactions(stage)) - transactions) / seconds),
  };
  await task.stop();
  if (platform.faults.length > 0) throw new Error(platform.faults[0]);
  return row;
};

/**
 * Measures one task whose accounts are connected and have nothing to send: memory, processor time and transactions.
 *
 * @param options `accounts`: numbers of them, ascending. `mbEach` is what each more takes between the first and the last.
 */
export const benchIdleAccounts = async ({
  accounts,
  measuredMs = 15_000,
}: {
  accounts: readonly number[];
  measuredMs?: number;
}): Promise<Result> => {
  const most = Math.max(...accounts);
  const rows = await withDatabase(async (databaseUrl, admin) => {
    const stage = await openStage({ databaseUrl, admin, accounts: most, pace: noPace });
    try {
      const measured = [];
      for (const count of accounts) {
        measured.push(await measure(stage, count, measuredMs));
        console.error(JSON.stringify(measured.at(-1)));
      }
      return measured;
    } finally {
      await stage.stop();
    }
  });
  printTable(rows);
  const [few, many] = [rows[0], rows.at(-1)];
  const added = (many?.accounts ?? 0) - (few?.accounts ?? 0);
  const mbEach = added > 0 ? ((many?.["RSS MB"] ?? 0) - (few?.["RSS MB"] ?? 0)) / added : Number.NaN;
  return { bench: "idle-accounts", figures: { mbEach: round(mbEach), rows } };
};
