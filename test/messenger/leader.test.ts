import { once } from "node:events";
import type postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { type LeaderOptions, standForLeader } from "#lib/messenger/leader.ts";
import { createMessengerDatabase } from "./messenger-database.ts";
import { startSilentProxy } from "./silent-proxy.ts";

/** Candidates on one database; each notes when it leads. */
const openElection = async () => {
  const { connect, open, url } = await createMessengerDatabase();
  const leading: { name: string; epoch: number }[] = [];
  const epochs: number[] = [];
  let most = 0;
  const waiting: (() => void)[] = [];
  const ending: (() => void)[] = [];
  const connectPlainly: LeaderOptions["connect"] = async (onClose) => open(1, onClose);
  const stand = (name: string, connectCandidate = connectPlainly, farewell = Promise.resolve()) => {
    const end = new AbortController();
    const done = standForLeader({
      connect: connectCandidate,
      signal: end.signal,
      async lead(epoch, signal) {
        const term = { name, epoch };
        leading.push(term);
        epochs.push(epoch);
        most = Math.max(most, leading.length);
        for (const tell of waiting.splice(0)) tell();
        if (!signal.aborted) await once(signal, "abort");
        await farewell;
        leading.splice(leading.indexOf(term), 1);
        for (const tell of ending.splice(0)) tell();
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
  return { stand, leading, epochs, sql: connect(1), open, url, elected, ended, most: () => most };
};

/** A role may end its own connections. */
const killHolder = (sql: postgres.Sql) => sql`
  select pg_terminate_backend(pid) from pg_locks
  where locktype = 'advisory' and objid = 7206304
    and database = (select oid from pg_database where datname = current_database())`;

test("of two candidates one leads, and the other follows when it withdraws", async () => {
  const { stand, leading, elected, most } = await openElection();
  const first = elected();
  const withdraw = { a: stand("a"), b: stand("b") };
  await first;
  const [leader] = leading;
  const second = elected();
  await withdraw[leader?.name as "a" | "b"]();
  await second;
  expect(leading[0]?.name).not.toBe(leader?.name);
  expect(leading[0]?.epoch).toBe(2);
  expect(most()).toBe(1);
});

test("a leader that withdraws keeps the lock until its messenger has ended", async () => {
  const { stand, open, epochs, elected, most } = await openElection();
  const farewell = Promise.withResolvers<void>();
  const first = elected();
  const withdraw = stand("a", undefined, farewell.promise);
  await first;
  let tries = 0;
  stand("b", async (onClose) => {
    tries += 1;
    return open(1, onClose);
  });
  const next = elected();
  const withdrawn = withdraw();
  const before = tries;
  // the last but one began after the withdrawal, and has failed
  await expect.poll(() => tries, { timeout: 10_000 }).toBeGreaterThanOrEqual(before + 2);
  expect(epochs).toEqual([1]);
  farewell.resolve();
  await Promise.all([withdrawn, next]);
  expect([epochs, most()]).toEqual([[1, 2], 1]);
});

test("a leader that loses its connection ends before anybody leads again, in a later epoch", async () => {
  const { stand, epochs, sql, elected, most } = await openElection();
  let next = elected();
  stand("a");
  await next;
  next = elected();
  await killHolder(sql);
  await next;
  expect(epochs).toEqual([1, 2]);
  expect(most()).toBe(1);
});

test("a leader whose connection the database ends hears of it at once, before another candidate leads", async () => {
  const { stand, sql, elected, most } = await openElection();
  const first = elected();
  for (const name of ["a", "b"]) stand(name);
  await first;
  for (let round = 0; round < 3; round++) {
    const next = elected();
    await killHolder(sql);
    await next;
  }
  expect(most()).toBe(1);
});

test("a leader that hears late of its lost connection has ended before the next one leads", async () => {
  const { stand, sql, open, epochs, elected, most } = await openElection();
  const closed = Promise.withResolvers<void>();
  const first = elected();
  stand("late", async (onClose) =>
    open(1, () => {
      closed.resolve();
      setTimeout(onClose, 200);
    }),
  );
  await first;
  const next = elected();
  // tries the moment the lock is free
  stand("next", async (onClose) => closed.promise.then(() => open(1, onClose)));
  await killHolder(sql);
  await next;
  expect([epochs, most()]).toEqual([[1, 2], 1]);
});

test("a leader whose driver has connected anew without a word leads no more: the lock is gone", async () => {
  const { stand, sql, open, epochs, elected } = await openElection();
  const first = elected();
  stand("deaf", async () => open(1));
  await first;
  const next = elected();
  await killHolder(sql);
  await next;
  expect(epochs).toEqual([1, 2]);
});

test("a leader whose connection has fallen silent leads no more", async () => {
  const { stand, open, url, elected, ended, leading } = await openElection();
  const proxy = await startSilentProxy(Number(new URL(url).port));
  const address = Object.assign(new URL(url), { port: String(proxy.port) }).href;
  const first = elected();
  stand("cut off", async (onClose) => open(1, onClose, address));
  await first;
  const end = ended();
  proxy.silence();
  await end;
  expect(leading).toEqual([]);
});
