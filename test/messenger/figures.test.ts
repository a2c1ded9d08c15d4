import postgres from "postgres";
import { describe, expect, test } from "vitest";
import type { ConnectionState } from "#lib/messenger/channels/whatsapp/whatsapp.ts";
import { readFigures, SendTally } from "#lib/messenger/figures.ts";
import { noPace, Pacing } from "#lib/messenger/send/pacing.ts";
import { createMessengerDatabase } from "./messenger-database.ts";

const open: ConnectionState = { kind: "open", as: "6281200000001", since: new Date() };
const newPacing = () => new Pacing(noPace, { sentAt: [], newContactsAt: [], daysOfUse: 100 });

interface Messenger {
  state?: ConnectionState;
  pacing?: Pacing;
  tally?: SendTally;
}

const read = (
  sql: postgres.Sql,
  { state = open, pacing = newPacing(), tally = new SendTally() }: Messenger = {},
) => readFigures({ sql, platform: { state: () => state }, pacing, tally });

const connect = async () => (await createMessengerDatabase()).connect(2);

describe("of the queue", () => {
  test("count what is due, and tell the age of what must not wait apart from the rest", async () => {
    const sql = await connect();
    await sql`
      insert into messaging.message (id, kind, phone, content, state, priority, accepted_at, not_before, expires_at)
      select id, 'text', '6281200000001', '{}', state, priority, now() - accepted, now() - due, now() + interval '1 day'
      from (values
        ('code', 'PENDING', 0, interval '90 seconds', interval '90 seconds'),
        ('under way', 'SENDING', 1, interval '30 seconds', interval '30 seconds'),
        ('bulk', 'PENDING', 3, interval '2 hours', interval '2 hours'),
        ('put off until now', 'PENDING', 1, interval '9 hours', interval '1 second'),
        ('put off', 'PENDING', 1, interval '9 hours', interval '-1 hour'),
        ('done', 'SENT', 0, interval '3 days', interval '3 days')
      ) row (id, state, priority, accepted, due)`;
    expect(await read(sql)).toMatchObject({
      ...{ pending: 3, sending: 1, paused: 0 },
      ...{ oldest_seconds: 7_200, oldest_urgent_seconds: 90 },
    });
  });

  test("are 0 for an empty one, and say when it is paused", async () => {
    const sql = await connect();
    await sql`update messaging.control set paused = true`;
    expect(await read(sql)).toMatchObject({
      ...{ pending: 0, sending: 0, paused: 1 },
      ...{ oldest_seconds: 0, oldest_urgent_seconds: 0 },
    });
  });

  test("are left out while the database is away; the others are told", async () => {
    const away = postgres("postgres://u:p@127.0.0.1:1/d", { connect_timeout: 1 });
    expect(await read(away)).toEqual({
      ...{ connected: 1, unlinked: 0, limited: 0 },
      ...{ sent: 0, failed: 0, retried: 0 },
    });
  });
});

test.each([
  ["open", open, [1, 0]],
  ["waiting for a phone", { kind: "pairing", qr: "q", since: new Date() }, [0, 1]],
  ["unlinked by the phone", { kind: "unpaired", since: new Date() }, [0, 1]],
  ["closed", { kind: "closed", since: new Date() }, [0, 0]],
] satisfies [string, ConnectionState, number[]][])(
  "a connection that is %s shows so",
  async (_, state, [connected, unlinked]) => {
    expect(await read(await connect(), { state })).toMatchObject({ connected, unlinked });
  },
);

test("a number that the platform lets write to no new contacts shows so until that is over", async () => {
  const sql = await connect();
  const pacing = newPacing();
  pacing.pauseNewContacts(Date.now() + 60_000);
  expect(await read(sql, { pacing })).toMatchObject({ limited: 1 });
  const over = newPacing();
  over.pauseNewContacts(Date.now() - 1);
  expect(await read(sql, { pacing: over })).toMatchObject({ limited: 0 });
});

test("sends are counted from one reading to the next", async () => {
  const sql = await connect();
  const tally = new SendTally();
  for (const outcome of ["sent", "sent", "failed", "retried"] as const) tally.note(outcome);
  expect(await read(sql, { tally })).toMatchObject({ sent: 2, failed: 1, retried: 1 });
  expect(await read(sql, { tally })).toMatchObject({ sent: 0, failed: 0, retried: 0 });
});
