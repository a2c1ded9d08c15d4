import { expect, test } from "vitest";
import { firstAccount, releaseMessages } from "#lib/messenger/account/account.ts";
import { listDepths } from "#lib/messenger/outbox/depth.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { expire, recover, returnToQueue } from "#lib/messenger/outbox/lifecycle.ts";
import { listMessages } from "#lib/messenger/outbox/list.ts";
import { type Choice, listAwaited, OpenFrom } from "#lib/messenger/outbox/next.ts";
import { moveLate } from "#lib/messenger/outbox/next-channel.ts";
import { applyReceipt, markSent } from "#lib/messenger/outbox/receipt.ts";
import { loadHistory } from "#lib/messenger/send/history.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { number, takeAny } from "../../fleet/outbox-rows.ts";
import { database, epoch, prepare, put, sql, take, useOutbox } from "./outbox-steps.ts";

/*
 * What statements cost, in rows and not in time: PostgreSQL counts what it reads and how it writes.
 */

// PostgreSQL flushes the counters of one connection
useOutbox(1);

const many = 5_000;

/** Adds messages that differ in their number. */
const addMany = (state: "PENDING" | "READ") => sql`
  insert into messaging.message (id, sender, kind, phone, content, state, expires_at)
  select ${state} || i, 'api:test', 'text', 62812000000 + i, '{}', ${state}, now() + interval '1 day'
  from generate_series(1, ${many}) i`;

const analyze = () => database.admin.unsafe("analyze messaging.message");

/** What was read and written of the messages so far. */
const readCounters = async () => {
  await sql`select pg_stat_force_next_flush()`;
  const [row] = await database.admin<{ read: number; updated: number; hot: number }[]>`
    select (seq_tup_read + idx_tup_fetch)::int as read, n_tup_upd::int as updated, n_tup_hot_upd::int as hot
    from pg_stat_user_tables where relid = 'messaging.message'::regclass`;
  return row ?? expect.fail("there are no counters");
};

/** The entries of the messages' indexes that a piece of work reads, of rows that are no more too. */
const countEntries = async (work: () => Promise<unknown>): Promise<number> => {
  const readEntries = async () => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await database.admin<{ read: number }[]>`
      select sum(idx_tup_read)::int as read from pg_stat_user_indexes where relid = 'messaging.message'::regclass`;
    return row?.read ?? 0;
  };
  const before = await readEntries();
  await work();
  return (await readEntries()) - before;
};

/** The rows that a piece of work reads. */
const countRead = async (work: () => Promise<unknown>): Promise<number> => {
  const before = (await readCounters()).read;
  await work();
  return (await readCounters()).read - before;
};

test.each(["none", "of an empty outbox", "of now"])(
  "closed messages are not looked at while an open transaction keeps their entries in the indexes, with statistics %s",
  async (statistics) => {
    await database.connect(1).begin("isolation level repeatable read", async (held) => {
      await held`select count(*) from messaging.message`;
      // it waits for a day of a bulk run
      await put("scheduled", { send_at: new Date(Date.now() + 86_400_000).toISOString() });
      if (statistics === "of an empty outbox") await analyze();
      await addMany("PENDING");
      await sql`update messaging.message set state = 'READ' where id <> 'scheduled'`;
      await put("next");
      if (statistics === "of now") await analyze();
      const takeFrom = (openFrom: number) => () => takeAny(sql, epoch, { openFrom });
      const look = (openFrom: number) => () => listAwaited(sql, [firstAccount], openFrom);
      const openFrom = await new OpenFrom().find(sql);
      expect(await countEntries(look(openFrom))).toBeLessThan(many / 2);
      expect(await countEntries(look(0))).toBeGreaterThan(many);
      expect(await countEntries(takeFrom(openFrom))).toBeLessThan(many / 2);
      await put("after", { phone: "6281200000002" });
      expect(await countEntries(takeFrom(0))).toBeGreaterThan(many);
    });
  },
);

test.each(["none", "of an hour when nothing waited", "of now"])(
  "the next message is found without reading all that wait, with statistics %s",
  async (statistics) => {
    await addMany("READ");
    if (statistics !== "none") await analyze();
    await addMany("PENDING");
    if (statistics === "of now") await analyze();
    const read = await countRead(async () => {
      for (let taken = 0; taken < 20; taken++) {
        const message = await take();
        if (taken % 5 === 0) await returnToQueue(sql, message, { cost: "nothing", delaySeconds: 3_600 });
        else await markSent(sql, message);
      }
    });
    expect(read).toBeLessThan(many);
  },
);

test("a message that is open again is found within a second, although later ones are open", async () => {
  await addMany("PENDING");
  const openFrom = new OpenFrom();
  await sql`update messaging.message set state = 'SENT' where seq <= ${many / 2}`;
  await openFrom.find(sql);
  await sql`update messaging.message set state = 'PENDING' where seq = 1`;
  await expect
    .poll(async () => (await takeAny(sql, epoch, { openFrom: await openFrom.find(sql) }))?.id)
    .toBe("PENDING1");
});

test("a message that was scheduled is found within a second after it is due, although later ones are open", async () => {
  await addMany("PENDING");
  const openFrom = new OpenFrom();
  await sql`update messaging.message set not_before = now() + interval '300 milliseconds' where seq <= ${many / 2}`;
  await openFrom.find(sql);
  await expect
    .poll(async () => (await takeAny(sql, epoch, { openFrom: await openFrom.find(sql) }))?.id)
    .toBe("PENDING1");
});

/** What the sender and its watch do while nothing may be sent. */
const look = async (more: Partial<Choice> = {}) => {
  const openFrom = await new OpenFrom().find(sql);
  await listAwaited(sql, [firstAccount], openFrom);
  return takeAny(sql, epoch, { openFrom, ...more });
};

test("what is scheduled or waits for the end of quiet hours costs nothing until then", async () => {
  await addMany("PENDING");
  await put("scheduled", { send_at: new Date(Date.now() + 3_600_000).toISOString() });
  await sql`
    update messaging.message m set not_before = scheduled.not_before, held_until = scheduled.held_until
    from messaging.message scheduled where scheduled.id = 'scheduled'`;
  await analyze();
  expect(await countRead(look)).toBeLessThan(50);
  await put("next");
  expect(await countRead(async () => expect((await look())?.id).toBe("next"))).toBeLessThan(50);
});

test("without room for new contacts, what waits for them costs nothing, and known contacts are found", async () => {
  await addMany("PENDING");
  await sql`update messaging.message set priority = 3`;
  const isFull = { newContactsUpTo: 1, poolUpTo: 1 };
  await sql`insert into messaging.route (pool, phone, account) values ('city', '6281300000001', ${firstAccount})`;
  await sql`insert into messaging.contact (number, phone) values (${number}, '6281300000001')`;
  await sql`update messaging.account set number = ${number}`;
  await analyze();
  const read = await countRead(async () => {
    expect(await look(isFull)).toBeUndefined();
    await put("code", { class: "one-time-code" });
    await put("known", { class: "bulk", phone: "6281300000001" });
    expect((await look(isFull))?.id).toBe("code");
    expect((await look(isFull))?.id).toBe("known");
  });
  expect(read).toBeLessThan(200);
});

test("messages behind one of their number that waits are passed over without a lookup for each, also by the next leader", async () => {
  await sql`
    insert into messaging.message (id, sender, kind, phone, content, expires_at)
    select 'M' || i, 'api:test', 'text', '6281200000001', '{}', now() + interval '1 day' from generate_series(1, ${many}) i`;
  await returnToQueue(sql, await take(), { cost: "nothing", delaySeconds: 3_600 });
  const { resting } = await loadHistory(sql, number);
  const look = () => takeAny(sql, epoch, { resting: resting.map(({ phone }) => phone) });
  expect(await countRead(look)).toBeLessThan(1.5 * many);
});

test("the next message is found without reading those of a lane that is not free", async () => {
  await addMany("PENDING");
  const [media] = await sql`
    insert into messaging.media (sender, content_type) values ('api:test', 'image/png') returning id`;
  await sql`update messaging.message set media_id = ${media?.id}`;
  await put("text", { class: "bulk" });
  const read = await countRead(async () => {
    expect(await takeAny(sql, epoch, { lanes: ["code", "other"] })).toMatchObject({ id: "text" });
    expect(await takeAny(sql, epoch, { lanes: ["code", "other"] })).toBeUndefined();
  });
  expect(read).toBeLessThan(100);
});

test("what runs every few seconds reads no message that is over", async () => {
  await addMany("READ");
  await put("waiting");
  await analyze();
  const read = await countRead(() =>
    Promise.all([expire(sql), recover(sql, epoch), listDepths(sql), takeAny(sql, epoch)]),
  );
  expect(read).toBeLessThan(50);
});

test.each(["PENDING", "FAILED"] as const)(
  "a page of those that are %s reads few of the others",
  async (state) => {
    await addMany("READ");
    await put("last");
    if (state === "FAILED") await sql`update messaging.message set state = 'FAILED' where id = 'last'`;
    await analyze();
    const encryption = encryptionWith(secretTable["messenger-key"].mint());
    const query = { sender: "api:test", state, limit: 50 };
    const read = await countRead(async () => {
      const { messages } = await listMessages(sql, encryption, query, 20);
      expect(messages).toHaveLength(state === "PENDING" ? 1 : 0);
    });
    expect(read).toBeLessThan(50);
  },
);

test("what waits for an account that cannot send is found without reading what waits for others", async () => {
  await addMany("PENDING");
  await sql`insert into messaging.account (name, state) values ('former', 'retired')`;
  await put("given", { sender: "api:other" });
  await sql`update messaging.message set account = 2 where id = 'given'`;
  await analyze();
  const read = await countRead(async () => {
    expect(await releaseMessages(sql)).toBe(1);
    expect(await releaseMessages(sql)).toBe(0);
  });
  expect(read).toBeLessThan(100);
});

/** Puts texts to recipients that know the account, which can send. */
const putMany = async (count: number) => {
  await sql`update messaging.account set number = ${number}`;
  await sql`
    insert into messaging.route (pool, phone, account)
    select 'city', 62812000000 + n, ${firstAccount} from generate_series(0, ${count}::integer - 1) n`;
  for (let n = 0; n < count; n++) await put(`M${n}`, { phone: String(62_812_000_000 + n) });
};

/** The changes by a piece of work, and those of them that write no index entry. */
const countChanges = async (work: () => Promise<unknown>) => {
  const before = await readCounters();
  await work();
  const after = await readCounters();
  return { changes: after.updated - before.updated, hot: after.hot - before.hot };
};

// Both need no room of dead versions: how soon it can be used depends on transactions anywhere on the server.

test("of the changes in the life of a message to a known recipient only its end writes index entries", async () => {
  const messages = 5;
  await putMany(messages);
  const counted = await countChanges(async () => {
    for (let n = 0; n < messages; n++) {
      const message = await take();
      await prepare(message);
      await markSent(sql, message);
      await applyReceipt(sql, firstAccount, message.id, "DELIVERED");
      await applyReceipt(sql, firstAccount, message.id, "READ");
    }
  });
  expect(counted).toEqual({ changes: 4 * messages, hot: 3 * messages });
});

test("a page that is filled with messages has room for their changes", async () => {
  await putMany(100);
  const counted = await countChanges(async () => {
    for (let n = 0; n < 4; n++)
      await returnToQueue(sql, await take(), { cost: "nothing", delaySeconds: 3_600 });
  });
  expect(counted).toEqual({ changes: 8, hot: 8 });
});

test("what expires, or is to go on to the next channel, is found without reading all that waits", async () => {
  await database.admin`update messaging.account set number = ${number}`;
  await database.admin`
    insert into messaging.account (name, channel, number) values ('gateway', 'sms', 'sms:gateway')`;
  await addMany("PENDING");
  await sql`update messaging.message set expires_at = now() where id = 'PENDING7'`;
  await sql`
    update messaging.message set due_at = now() - interval '1 day', expires_at = now() + interval '5 minutes'
    where id = 'PENDING8'`;
  await analyze();
  const read = await countRead(async () => expect([await expire(sql), await moveLate(sql)]).toEqual([1, 1]));
  expect(read).toBeLessThan(50);
});

test("while no account can send, the next channel is not searched for each message that waits", async () => {
  await database.admin`update messaging.account set number = ${number}, hold_code = 403`;
  await database.admin`
    insert into messaging.account (name, channel, number, hold_code) values ('gateway', 'sms', 'sms:gateway', 403)`;
  await addMany("PENDING");
  const readAccounts = async () => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await database.admin<{ read: number }[]>`
      select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
      from pg_stat_user_tables where relid = 'messaging.account'::regclass`;
    return row?.read ?? expect.fail("there are no counters");
  };
  const before = await readAccounts();
  expect(await moveLate(sql)).toBe(0);
  expect((await readAccounts()) - before).toBeLessThan(100);
});
