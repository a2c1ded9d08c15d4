import { once } from "node:events";
import type postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { type LeaderOptions, leaderTiming, runLeaderElection } from "#lib/messenger/leader.ts";
import { createMessengerDatabase } from "../fleet/messenger-database.ts";
import { startWire } from "../steps/wire.ts";

/** Runs candidates on one database and records their terms. */
const openElection = async (timing: Partial<typeof leaderTiming> = {}) => {
  const { connect, open, url } = await createMessengerDatabase();
  const leading: { name: string; epoch: number }[] = [];
  const epochs: number[] = [];
  let most = 0;
  const waiting: (() => void)[] = [];
  const ending: (() => void)[] = [];
  const openConnection: LeaderOptions["connect"] = async (onClose) => open(1, onClose);
  const startCandidate = (name: string, connectCandidate = openConnection, stopped = Promise.resolve()) => {
    const end = new AbortController();
    const done = runLeaderElection({
      connect: connectCandidate,
      timing: { ...leaderTiming, retryMs: 20, checkMs: 20, ...timing },
      signal: end.signal,
      keepUp: async () => {},
      async lead(_, epoch, signal) {
        const term = { name, epoch };
        leading.push(term);
        epochs.push(epoch);
        most = Math.max(most, leading.length);
        for (const notify of waiting.splice(0)) notify();
        if (!signal.aborted) await once(signal, "abort");
        await stopped;
        leading.splice(leading.indexOf(term), 1);
        for (const notify of ending.splice(0)) notify();
      },
    });
    const withdraw = async () => {
      end.abort();
      await done;
    };
    onTestFinished(withdraw);
    return withdraw;
  };
  const elected = () => new Promise<void>((resolve) => waiting.push(resolve));
  const ended = () => new Promise<void>((resolve) => ending.push(resolve));
  return { startCandidate, leading, epochs, sql: connect(1), open, url, elected, ended, most: () => most };
};

/** Terminates the leader's connection: a role may terminate its own. */
const killLeader = (sql: postgres.Sql) => sql`
  select pg_terminate_backend(pid) from pg_locks
  where locktype = 'advisory' and classid = 7206304 and objid = 1
    and database = (select oid from pg_database where datname = current_database())`;

test("one of two candidates leads, and the other one when it withdraws", async () => {
  const { startCandidate, leading, elected, most } = await openElection();
  const first = elected();
  const withdraw = { a: startCandidate("a"), b: startCandidate("b") };
  await first;
  const [leader] = leading;
  const second = elected();
  await withdraw[leader?.name as "a" | "b"]();
  await second;
  expect(leading[0]?.name).not.toBe(leader?.name);
  expect(leading[0]?.epoch).toBe(2);
  expect(most()).toBe(1);
});

test("a leader whose server has become read-only ends its term, and leads again on a new connection", async () => {
  const { startCandidate, open, elected, ended, epochs } = await openElection();
  const opened: postgres.Sql[] = [];
  const first = elected();
  startCandidate("a", async (onClose) => {
    const sql = await open(1, onClose);
    opened.push(sql);
    return sql;
  });
  await first;
  const [end, next] = [ended(), elected()];
  await opened[0]?.unsafe("set default_transaction_read_only = on");
  await end;
  await next;
  expect(epochs).toEqual([1, 2]);
});

test("a leader that withdraws holds the lock until its work has stopped", async () => {
  const { startCandidate, sql, epochs, elected, most } = await openElection();
  const stopped = Promise.withResolvers<void>();
  const first = elected();
  const withdraw = startCandidate("a", undefined, stopped.promise);
  await first;
  startCandidate("b");
  const next = elected();
  const withdrawn = withdraw();
  const tries = new Set<string>();
  const countTries = async () => {
    const [last] = await sql<{ at: string }[]>`
      select max(query_start)::text as at from pg_stat_activity join pg_locks own using (pid)
      where own.classid = 7206310 and not exists (
        select from pg_locks led where led.pid = own.pid and led.classid = 7206304 and led.objid = 1)`;
    return tries.add(last?.at ?? "").size;
  };
  // each attempt has three queries: one began and failed after the withdrawal
  await expect.poll(countTries).toBeGreaterThanOrEqual(7);
  expect(epochs).toEqual([1]);
  stopped.resolve();
  await Promise.all([withdrawn, next]);
  expect([epochs, most()]).toEqual([[1, 2], 1]);
});

test("a leader that loses its connection stops before another one leads, in a later epoch", async () => {
  const { startCandidate, epochs, sql, elected, most } = await openElection();
  let next = elected();
  startCandidate("a");
  await next;
  next = elected();
  await killLeader(sql);
  await next;
  expect(epochs).toEqual([1, 2]);
  expect(most()).toBe(1);
});

test("a leader is notified that the database closed its connection before another one leads", async () => {
  const { startCandidate, sql, elected, most } = await openElection();
  const first = elected();
  for (const name of ["a", "b"]) startCandidate(name);
  await first;
  for (let round = 0; round < 3; round++) {
    const next = elected();
    await killLeader(sql);
    await next;
  }
  expect(most()).toBe(1);
});

test("a leader notified late of its closed connection has stopped before the next one leads", async () => {
  const { startCandidate, sql, open, epochs, elected, most } = await openElection({
    checkMs: leaderTiming.checkMs, // the leader must not find out by itself
    handoverMs: 600,
  });
  const closed = Promise.withResolvers<void>();
  const first = elected();
  startCandidate("late", async (onClose) =>
    open(1, () => {
      closed.resolve();
      setTimeout(onClose, 200);
    }),
  );
  await first;
  const next = elected();
  // tries as soon as the lock is released
  startCandidate("next", async (onClose) => closed.promise.then(() => open(1, onClose)));
  await killLeader(sql);
  await next;
  expect([epochs, most()]).toEqual([[1, 2], 1]);
});

test("a leader whose driver has reconnected stops: the lock was released", async () => {
  // the connection ends between two checks: during one, its query would fail
  const { startCandidate, sql, open, epochs, elected } = await openElection({ checkMs: 500 });
  const first = elected();
  startCandidate("not notified", async () => open(1));
  await first;
  const next = elected();
  await killLeader(sql);
  await next;
  expect(epochs).toEqual([1, 2]);
});

test("a leader whose connection stops responding stops", async () => {
  const { startCandidate, open, url, elected, ended, leading } = await openElection({ timeoutMs: 500 });
  const wire = await startWire(Number(new URL(url).port));
  onTestFinished(() => wire.stop());
  const address = Object.assign(new URL(url), { port: String(wire.port) }).href;
  const first = elected();
  startCandidate("unreachable", async (onClose) => open(1, onClose, address));
  await first;
  const end = ended();
  wire.lose();
  await end;
  expect(leading).toEqual([]);
});
