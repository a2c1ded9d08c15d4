import type postgres from "postgres";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { setPaused } from "#lib/messenger/outbox/depth.ts";
import { listAwaited, OpenFrom } from "#lib/messenger/outbox/next.ts";
import { Wakeup } from "#lib/messenger/outbox/wakeup.ts";
import { runWatch } from "#lib/messenger/send/watch.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";
import { putMessage } from "../../fleet/outbox-rows.ts";

let sql: postgres.Sql;
let database: Awaited<ReturnType<typeof createMessengerDatabase>>;
/** By their names: `main` and `other` are of one pool, `spare` too, `clinic` is of another. */
const ids: Record<string, number> = {};

beforeEach(async () => {
  database = await createMessengerDatabase();
  const { admin, connect } = database;
  sql = connect(2);
  await admin`insert into messaging.account (name, pool, state) values
    ('other', 'city', 'active'), ('spare', 'city', 'spare'), ('clinic', 'health', 'active')`;
  await admin`insert into messaging.sender (name, pool) values ('clinic', 'health')`;
  for (const { name, id } of await admin<
    { name: string; id: number }[]
  >`select name, id from messaging.account`)
    ids[name] = id;
});

const awaited = async () => {
  const found = await listAwaited(sql, Object.values(ids), 0);
  return Object.keys(ids)
    .filter((name) => found.includes(ids[name] ?? 0))
    .toSorted();
};

test("a message awaits the active accounts of its pool, and one that was given to an account only that one", async () => {
  expect(await awaited()).toEqual([]);
  await putMessage(sql, "one");
  expect(await awaited()).toEqual(["main", "other"]);
  await sql`update messaging.message set account = ${ids.spare ?? 0}`;
  expect(await awaited()).toEqual(["spare"]);
  await putMessage(sql, "two", { sender: "api:clinic" });
  expect(await awaited()).toEqual(["clinic", "spare"]);
});

test("a message that is under way, has a later time or is paused awaits nobody", async () => {
  await putMessage(sql, "one");
  await sql`update messaging.message set state = 'SENDING'`;
  expect(await awaited()).toEqual([]);
  await sql`update messaging.message set state = 'PENDING', not_before = now() + interval '1 hour'`;
  expect(await awaited()).toEqual([]);
  await sql`update messaging.message set not_before = now()`;
  await setPaused(sql, true);
  expect(await awaited()).toEqual([]);
  await setPaused(sql, false);
  expect(await awaited()).toEqual(["main", "other"]);
});

test("the watch wakes a sender for a message that another task has accepted, and no sender for which none waits", async () => {
  const woken: string[] = [];
  const first = Promise.withResolvers<void>();
  const ending = new AbortController();
  const note = (name: string) => ({
    notify() {
      woken.push(name);
      first.resolve();
    },
  });
  const senders = new Map(Object.keys(ids).map((name) => [ids[name] ?? 0, note(name)]));
  const watching = runWatch({
    ...{ sql, senders: () => senders, openFrom: new OpenFrom() },
    ...{ wakeup: new Wakeup(), signal: ending.signal },
  });
  onTestFinished(() => {
    ending.abort();
    return watching;
  });
  await putMessage(sql, "one", { sender: "api:clinic" });
  await first.promise;
  expect(new Set(woken)).toEqual(new Set(["clinic"]));
  await database.admin`delete from messaging.message`;
  woken.length = 0;
  await putMessage(sql, "later", { send_at: new Date(Date.now() + 1_500).toISOString() });
  expect(await awaited()).toEqual([]);
  await expect.poll(() => woken).toEqual(expect.arrayContaining(["main", "other"]));
});
