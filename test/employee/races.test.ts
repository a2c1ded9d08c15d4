import type postgres from "postgres";
import { beforeEach, describe, expect, test } from "vitest";
import { createDatabase } from "../steps/temporary-database.ts";

const LOCK_NOT_AVAILABLE = "55P03";

let admin: postgres.Sql;
let first: postgres.Sql;
let second: postgres.Sql;

beforeEach(async () => {
  const database = await createDatabase();
  admin = database.connect("adminUrl");
  [first, second] = [database.connect("employeeUrl"), database.connect("employeeUrl")];
});

/** How `then` ends while `earlier` is done but not committed yet: with a code when it had to wait. */
const meet = async (earlier: string, then: string): Promise<string | undefined> => {
  await second`set lock_timeout = '100ms'`;
  await first.unsafe("begin");
  await first.unsafe(earlier);
  const code = await second.unsafe(then).then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );
  await first.unsafe("commit");
  return code;
};

const reserve = (account: string, network: string) =>
  `select * from employee.reserve_attempt('\\x${account}', '\\x${network}', '\\x${network}')`;

describe("two concurrent reservations", () => {
  test("wait for each other when they are for one account", async () =>
    expect(await meet(reserve("01", "0a"), reserve("01", "0b"))).toBe(LOCK_NOT_AVAILABLE));

  test("wait for each other when they are from one address", async () =>
    expect(await meet(reserve("01", "0a"), reserve("02", "0a"))).toBe(LOCK_NOT_AVAILABLE));

  test("do not wait for each other for different accounts and addresses", async () =>
    expect(await meet(reserve("01", "0a"), reserve("02", "0b"))).toBeUndefined());
});

describe("two concurrent refreshes", () => {
  const digestOf = (digit: string) => `decode(repeat('0${digit}', 32), 'hex')`;
  const start = (digit: string) =>
    first.unsafe(`select employee.start_session('1', 'name', 's', ${digestOf(digit)})`);
  const spend = (digit: string, successor: string) =>
    `select outcome, encode(sealed_successor, 'escape') as sealed
     from employee.spend_token(${digestOf(digit)}, ${digestOf(successor)}, 'for ${successor}', 'client')`;

  /** The answers when the second request arrives before the first one's transaction has ended. */
  const overlap = async (earlier: string, later: string) => {
    const [backend] = await second`select pg_backend_pid() as pid`;
    await first`begin`;
    const [one] = await first.unsafe(earlier);
    const other = second.unsafe(later).execute();
    const waiting = () => admin`select from pg_locks where pid = ${backend?.pid} and not granted`;
    await expect.poll(waiting).toHaveLength(1);
    await first`commit`;
    return [one, (await other)[0]];
  };

  test("get the same successor for one token", async () => {
    await start("a");
    expect(await overlap(spend("a", "b"), spend("a", "c"))).toEqual([
      { outcome: "rotated", sealed: "for b" },
      { outcome: "replayed", sealed: "for b" },
    ]);
  });

  test("both fail when the token of the first one ends the session", async () => {
    await start("a");
    await first.unsafe(spend("a", "b"));
    await admin`update employee.refresh_token set spent_at = spent_at - interval '31 seconds'`;
    expect(await overlap(spend("a", "c"), spend("b", "d"))).toEqual([
      { outcome: "reused", sealed: null },
      { outcome: "refused", sealed: null },
    ]);
  });

  test("do not wait for each other in different sessions", async () => {
    for (const digit of ["a", "b"]) await start(digit);
    expect(await meet(spend("a", "c"), spend("b", "d"))).toBeUndefined();
  });
});

const fail = (count: number, account: string, network: string, age = "0 s") => admin`
  insert into employee.attempt (account_digest, network_digest, source_digest, made_at, failed_at)
  select decode(${account}, 'hex'), decode(${network}, 'hex'), decode(${network}, 'hex'), now() - ${age}::interval, now()
  from generate_series(1, ${count}::int)`;

test("the longer of two limits is reported", async () => {
  await fail(5, "01", "0a");
  await fail(5, "02", "0a");
  const [row] = await first.unsafe(reserve("01", "0a"));
  expect(row?.retry_after_seconds).toBeGreaterThan(800);
});

test.each([
  ["an account", 5, "14 minutes", () => reserve("01", "0a")],
  ["an account at a new network", 30, "59 minutes", () => reserve("01", "0b")],
  ["a network", 10, "0 s", () => reserve("02", "0a")],
] as const)("%s waits until the oldest of its failures leaves the window", async (_, most, age, next) => {
  await fail(1, "01", "0a", age);
  await fail(most - 1, "01", "0a");
  const [row] = await first.unsafe(next());
  expect(row?.retry_after_seconds).toBeGreaterThan(40);
  expect(row?.retry_after_seconds).toBeLessThanOrEqual(60);
});

test("a success clears only the account's failures from the same network", async () => {
  await fail(2, "01", "0a");
  await fail(2, "01", "0b");
  await fail(2, "02", "0a");
  const [row] = await first.unsafe(reserve("01", "0a"));
  await first`select employee.pass_attempt(${row?.attempt_id})`;
  const left = await admin`
    select encode(account_digest, 'hex') || encode(network_digest, 'hex') as who, count(*)::int as count
    from employee.attempt group by 1 order by 1`;
  expect(left.map(({ who, count }) => [who, count])).toEqual([
    ["010b", 2],
    ["020a", 2],
  ]);
});
