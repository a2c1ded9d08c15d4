import type postgres from "postgres";
import { expect, test } from "vitest";
import { firstAccount, releaseMessages } from "#lib/messenger/account/account.ts";
import { cancelRun } from "#lib/messenger/outbox/cancel.ts";
import { deferUntilQuietEnd, expire, recover } from "#lib/messenger/outbox/lifecycle.ts";
import { moveLate } from "#lib/messenger/outbox/next-channel.ts";
import { untilBlocked } from "../../fleet/blocked-connections.ts";
import { number } from "../../fleet/outbox-rows.ts";
import { database, epoch, put, sql, take, useOutbox } from "./outbox-steps.ts";

useOutbox(4);

const ids = ["A", "B", "C", "D"];
const quiet_hours = { from: "00:00", to: "23:59", time_zone: "UTC" };
const set = (columns: postgres.Fragment) => sql`update messaging.message set ${columns}`;

const cancelIt = async () => {
  const [run] = await database.admin<{ id: string }[]>`
    insert into notification.run (job, template, scheduled_at) values ('bulk:march', 'reminder', now()) returning id`;
  await set(sql`run = ${run?.id ?? null}`);
  return () => cancelRun(sql, "march");
};

/** Each prepares the four messages, and returns the statement that changes them all. */
const statements: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
  "a run is cancelled": cancelIt,
  "they expire": async () => {
    await set(sql`expires_at = now()`);
    return () => expire(sql);
  },
  "an interrupted leader is followed": async () => {
    await set(sql`state = 'SENDING', epoch = ${epoch}, account = ${firstAccount}`);
    return () => recover(sql, epoch);
  },
  "their account cannot send": async () => {
    await sql`insert into messaging.account (name, state) values ('former', 'retired')`;
    await set(sql`account = 2`);
    return () => releaseMessages(sql);
  },
  "they go on to the next channel": async () => {
    await database.admin`update messaging.account set number = ${number}, hold_code = 403`;
    await database.admin`insert into messaging.account (name, channel, number) values ('gateway', 'sms', 'sms:gateway')`;
    return () => moveLate(sql);
  },
  "the quiet hours of one begin": async () => {
    await set(sql`quiet_hours = ${JSON.stringify(quiet_hours)}::text::jsonb`);
    await put("taken", { class: "one-time-code" });
    const taken = await take();
    await sql`update messaging.message set quiet_hours = ${JSON.stringify(quiet_hours)}::text::jsonb where id = 'taken'`;
    return () => deferUntilQuietEnd(sql, { ...taken, quietUntil: new Date(Date.now() + 60_000) });
  },
  "their recipient opts out": async () => {
    await set(sql`priority = 2`);
    return async () => sql`select messaging.end_unwanted(array['6281200000001'])`;
  },
};

test.each(Object.keys(statements))(
  "when %s, messages are locked in the order of acceptance, so that nothing that changes many deadlocks",
  async (name) => {
    for (const id of ids) await put(id);
    const change = await statements[name]?.();
    // the first message is now the last in the table
    await sql`update messaging.message set content = content where id = 'A'`;
    let changed: Promise<unknown> | undefined;
    await sql.begin(async (held) => {
      await held`select from messaging.message where id = 'A' for update`;
      changed = change?.();
      await untilBlocked(sql);
      const free = await held<{ id: string }[]>`
        select id from messaging.message where id = any(string_to_array('B,C,D', ',')) order by id for update skip locked`;
      expect(free.map(({ id }) => id)).toEqual(["B", "C", "D"]);
    });
    await changed;
  },
);
