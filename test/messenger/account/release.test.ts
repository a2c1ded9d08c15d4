import type postgres from "postgres";
import { beforeEach, describe, expect, test } from "vitest";
import { firstAccount, recordNumber, releaseMessages } from "#lib/messenger/account/account.ts";
import { accountDirectory } from "#lib/messenger/account/account-admin.ts";
import { returnToQueue } from "#lib/messenger/outbox/lifecycle.ts";
import { storePayload } from "#lib/messenger/outbox/payload.ts";
import { markSent } from "#lib/messenger/outbox/receipt.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";
import { beginTerm, number, putMessage, takeAny } from "../../fleet/outbox-rows.ts";

const other = { account: 2, number: "6281100000002" };
const phone = "6281200000001";

let sql: postgres.Sql;
let admin: postgres.Sql;
let epoch: number;
let otherEpoch: number;

const addOther = async ({ pool = "city", state = "active" } = {}) => {
  await admin`insert into messaging.account (name, pool, state) values ('second', ${pool}, ${state})`;
  await recordNumber(sql, other.account, other.number);
  otherEpoch = await beginTerm(sql, other.account);
};
const change = (account: number, columns: Record<string, string | number | null>) =>
  admin`update messaging.account set ${admin(columns)} where id = ${account}`;
const ban = (account: number) => change(account, { hold_code: 403 });

beforeEach(async () => {
  const database = await createMessengerDatabase();
  sql = database.connect(4);
  ({ admin } = database);
  epoch = await beginTerm(sql);
  await recordNumber(sql, firstAccount, number);
});

const take = async () => (await takeAny(sql, epoch)) ?? expect.fail("nothing was taken");
const takeOther = () => takeAny(sql, otherEpoch, other);
/** The first account takes a message and puts it back: nothing of it has left. */
const giveToFirst = async (id: string) => {
  await putMessage(sql, id, { phone });
  await returnToQueue(sql, await take(), { cost: "nothing" });
};
const accountOf = async (id: string) =>
  (await sql<{ account: number | null }[]>`select account from messaging.message where id = ${id}`)[0]
    ?.account;
/** The first account has sent to the number. */
const befriend = async () => {
  await putMessage(sql, "before", { phone });
  await markSent(sql, await take());
};

/** Resolves when a statement waits for the end of another's transaction. */
const waitsForLock = () =>
  expect
    .poll(
      async () => (await admin`select from pg_locks where locktype = 'transactionid' and not granted`).count,
    )
    .toBe(1);

describe("of an account that cannot write to new contacts", () => {
  const limits = [
    ["is locked", { locked_until: "tomorrow" }],
    ["pauses", { paused_until: "tomorrow" }],
    ["has used its quota", { cap_total: 10, cap_used: 10, cap_ends_at: "tomorrow" }],
  ] as const;
  const limit = (columns: Record<string, string | number>) =>
    admin`insert into messaging.number ${admin({ phone: number, ...columns })}`;

  test.each(limits)("because it %s, messages to new contacts are sent by another one", async (_, columns) => {
    await addOther();
    await giveToFirst("A");
    expect(await releaseMessages(sql)).toBe(0);
    await limit(columns);
    expect(await releaseMessages(sql)).toBe(1);
    expect(await takeOther()).toMatchObject({ id: "A", account: 2 });
  });

  test("those to its contacts stay with it", async () => {
    await addOther();
    await befriend();
    await giveToFirst("A");
    await limit({ locked_until: "tomorrow" });
    expect(await releaseMessages(sql)).toBe(0);
    expect(await takeOther()).toBeUndefined();
  });

  test("those that may have left stay with it", async () => {
    await addOther();
    await putMessage(sql, "A", { phone });
    const message = await take();
    await storePayload(sql, { id: "A", epoch: epoch }, "whatsapp", Buffer.from("payload"));
    await returnToQueue(sql, message, { cost: "send" });
    await limit({ locked_until: "tomorrow" });
    expect(await releaseMessages(sql)).toBe(0);
    expect(await accountOf("A")).toBe(firstAccount);
  });

  test("those to contacts of the number that it had before are sent by another one", async () => {
    await addOther();
    await befriend();
    await recordNumber(sql, firstAccount, "6281100000003");
    await admin`insert into messaging.number (phone, locked_until) values ('6281100000003', 'tomorrow')`;
    await putMessage(sql, "A", { phone });
    await releaseMessages(sql);
    expect(await takeOther()).toMatchObject({ id: "A" });
  });
});

test.each(["retired", "spare"])(
  "messages given to an account that is then %s and banned are sent by another one",
  async (state) => {
    await addOther();
    await giveToFirst("A");
    await change(firstAccount, { state });
    await ban(firstAccount);
    expect(await releaseMessages(sql)).toBe(1);
    expect(await takeOther()).toMatchObject({ id: "A" });
  },
);

test("messages given to a spare that is connected stay with it", async () => {
  await addOther();
  await giveToFirst("A");
  await change(firstAccount, { state: "spare" });
  expect(await releaseMessages(sql)).toBe(0);
  expect(await take()).toMatchObject({ id: "A" });
});

describe("a spare becomes active", () => {
  const stateOfOther = async () =>
    (await sql<{ state: string }[]>`select state from messaging.account where id = ${other.account}`)[0]
      ?.state;

  test("when no account of its pool can send, and of several only the oldest", async () => {
    await addOther({ state: "spare" });
    await admin`insert into messaging.account (name, state, number) values ('third', 'spare', '6281100000003')`;
    await releaseMessages(sql);
    expect(await stateOfOther()).toBe("spare");
    await ban(firstAccount);
    await releaseMessages(sql);
    await releaseMessages(sql);
    expect(await sql`select name from messaging.account where state = 'spare'`).toEqual([{ name: "third" }]);
  });

  test("when the other accounts have left its pool", async () => {
    await addOther({ state: "spare" });
    await change(firstAccount, { pool: "health" });
    await releaseMessages(sql);
    expect(await stateOfOther()).toBe("active");
  });

  test.each([
    ["is held itself", { hold_code: 403 }],
    ["has no number", { number: null }],
  ])("unless it %s", async (_, columns) => {
    await addOther({ state: "spare" });
    await change(other.account, columns);
    await ban(firstAccount);
    await releaseMessages(sql);
    expect(await stateOfOther()).toBe("spare");
  });
});

test("a recipient of a pool is left to the pool's accounts when the one that it knows moves to another", async () => {
  await addOther();
  await befriend();
  await giveToFirst("A");
  await change(firstAccount, { pool: "health" });
  await admin`update messaging.message set state = 'CANCELLED' where id = 'A'`;
  await putMessage(sql, "B", { phone });
  expect(await accountOf("B")).toBeNull();
  expect(await takeOther()).toMatchObject({ id: "B" });
});

test("of two accounts that connect with one number at once, one gets it", async () => {
  await addOther();
  const third = "6281100000003";
  let recording: Promise<boolean> | undefined;
  await sql.begin(async (transaction) => {
    expect(await recordNumber(transaction, firstAccount, third)).toBe(true);
    recording = recordNumber(sql, other.account, third);
    // the statement is answered, or waits for the commit
    await Promise.race([recording.catch(() => {}), waitsForLock()]);
  });
  await expect(recording).rejects.toMatchObject({ code: "23505" });
  expect(await recordNumber(sql, other.account, third)).toBe(false);
});

test("an account that connects with another's number can no longer send from its own", async () => {
  await addOther();
  expect(await recordNumber(sql, other.account, number)).toBe(false);
  expect(await sql`select messaging.can_send(2::smallint) as "canSend"`).toEqual([{ canSend: false }]);
});

test("a retired account stays retired", async () => {
  await addOther();
  const directory = accountDirectory(admin);
  await directory.change("second", { state: "retired" });
  expect(await directory.change("second", { state: "active" })).toBe("retired");
  expect(await directory.change("second", { department: "Dinas Contoh" })).toBe("changed");
  expect(await sql`select state from messaging.account where name = 'second'`).toEqual([
    { state: "retired" },
  ]);
});
