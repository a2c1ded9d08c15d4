import postgres from "postgres";
import { describe, expect, test } from "vitest";
import type { ConnectionState } from "#lib/channels/channel.ts";
import { steadyNow } from "#lib/deadline.ts";
import { Counts, type Metrics, readMetrics, reportMetrics } from "#lib/messenger/metrics.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { Pacing } from "#lib/messenger/send/pacing.ts";
import { captureLog } from "../console/console-browser.ts";
import { createMessengerDatabase } from "../fleet/messenger-database.ts";
import { unusedAccount } from "../fleet/unused-account.ts";

const open: ConnectionState = { kind: "open", as: "6281200000001", since: new Date() };
const account = { name: "main", channel: "whatsapp" as const };
const newPacing = () => new Pacing(noPace, unusedAccount);

interface Sources {
  state?: ConnectionState;
  pacing?: Pacing;
  counts?: Counts;
}

const read = (
  sql: postgres.Sql,
  { state = open, pacing = newPacing(), counts = new Counts() }: Sources = {},
) => readMetrics({ sql, account, link: { state: () => state, on: () => () => {} }, pacing, counts });

const connect = async () => (await createMessengerDatabase()).connect(2);

describe("the metrics of the queue", () => {
  test("count due messages, with a separate age for urgent ones", async () => {
    const sql = await connect();
    await sql`
      insert into messaging.message (id, sender, kind, phone, content, state, priority, accepted_at, not_before, expires_at)
      select id, 'api:test', 'text', '6281200000001', '{}', state, priority, now() - accepted, now() - due, now() + interval '1 day'
      from (values
        ('code', 'PENDING', 0, interval '90 seconds', interval '90 seconds'),
        ('sending', 'SENDING', 1, interval '30 seconds', interval '30 seconds'),
        ('bulk', 'PENDING', 3, interval '2 hours', interval '2 hours'),
        ('deferred until now', 'PENDING', 1, interval '9 hours', interval '1 second'),
        ('deferred', 'PENDING', 1, interval '9 hours', interval '-1 hour'),
        ('done', 'SENT', 0, interval '3 days', interval '3 days')
      ) row (id, state, priority, accepted, due)`;
    expect(await read(sql)).toMatchObject({
      pending: 3,
      sending: 1,
      paused: 0,
      oldest_seconds: 7_200,
      oldest_urgent_seconds: 90,
    });
  });

  test("are 0 for an empty queue, and show a pause", async () => {
    const sql = await connect();
    await sql`update messaging.control set paused = true`;
    expect(await read(sql)).toMatchObject({
      pending: 0,
      sending: 0,
      paused: 1,
      oldest_seconds: 0,
      oldest_urgent_seconds: 0,
    });
  });

  test("are missing while the database is unavailable; the others are present", async () => {
    const down = postgres("postgres://u:p@127.0.0.1:1/d", { connect_timeout: 1 });
    expect(await read(down)).toEqual({
      account: "main",
      connected: 1,
      unlinked: 0,
      rejected: 0,
      disconnected: 0,
      passkey: 0,
      limited: 0,
      sent: 0,
      failed: 0,
      retried: 0,
      undecryptable: 0,
      reconnects: 0,
    });
  });
});

test.each([
  ["open", open, [1, 0]],
  ["waiting for a phone", { kind: "pairing", qr: "q", since: new Date() }, [0, 1]],
  ["unlinked by the phone", { kind: "unpaired", since: new Date() }, [0, 1]],
  ["closed", { kind: "closed", since: new Date() }, [0, 0]],
  ["asked for a passkey", { kind: "pairing", qr: "q", passkey: true, since: new Date() }, [0, 1, 0, 1]],
  ["removed by the platform", { kind: "stopped", code: 401, since: new Date() }, [0, 1]],
  ["banned for a time", { kind: "closed", code: 402, since: new Date() }, [0, 0, 1]],
  ["locked", { kind: "stopped", code: 403, since: new Date() }, [0, 0, 1]],
  ["too old", { kind: "stopped", code: 405, since: new Date() }, [0, 0, 1]],
] satisfies [string, ConnectionState, number[]][])(
  "a connection that is %s is one of connected, unlinked, rejected and disconnected, and may need a passkey",
  async (_, state, [connected = 0, unlinked = 0, rejected = 0, passkey = 0]) => {
    const disconnected = 1 - connected - unlinked - rejected;
    const link = { connected, unlinked, rejected, disconnected, passkey };
    expect(await read(await connect(), { state })).toMatchObject(link);
  },
);

test.each([
  ["stopped", { kind: "stopped", code: 403, since: new Date() }, "rejected"],
  ["asked for a passkey", { kind: "pairing", qr: "q", passkey: true, since: new Date() }, "passkey"],
] satisfies [string, ConnectionState, keyof Metrics][])(
  "the figures are logged at once when the connection is %s, not only every minute",
  async (_, state, figure) => {
    const sql = await connect();
    const lines = captureLog();
    const figures = () =>
      lines.map((line) => JSON.parse(line)).filter(({ message }) => message === "metrics");
    let current: ConnectionState = open;
    let change = (_: ConnectionState) => {};
    const whatsApp = {
      state: () => current,
      on: (_: string, listener: never) => {
        change = listener;
        return () => {};
      },
    };
    const end = new AbortController();
    const reporting = reportMetrics(
      { sql, account, link: whatsApp as never, pacing: newPacing(), counts: new Counts() },
      end.signal,
    );
    await expect.poll(() => figures().length).toBe(1);
    current = state;
    change(state);
    await expect.poll(() => figures().at(-1)).toMatchObject({ [figure]: 1 });
    end.abort();
    await reporting;
  },
);

test("limited is 1 until the pause of new contacts ends", async () => {
  const sql = await connect();
  const pacing = newPacing();
  pacing.pauseNewContacts(Date.now() + 60_000);
  expect(await read(sql, { pacing })).toMatchObject({ limited: 1 });
  const over = newPacing();
  over.pauseNewContacts(Date.now() - 1);
  expect(await read(sql, { pacing: over })).toMatchObject({ limited: 0 });
});

test("what is left of the platform's cap on new contacts is reported, and 0 makes the account limited", async () => {
  const sql = await connect();
  const pacing = newPacing();
  expect(await read(sql, { pacing })).not.toHaveProperty("new_contacts_left");
  const endsAt = steadyNow() + 60_000;
  pacing.capNewContacts({ total: 10, used: 7, endsAt });
  expect(await read(sql, { pacing })).toMatchObject({ limited: 0, new_contacts_left: 3 });
  pacing.capNewContacts({ total: 10, used: 12, endsAt });
  expect(await read(sql, { pacing })).toMatchObject({ limited: 1, new_contacts_left: 0 });
});

test("sends are counted between two reports", async () => {
  const sql = await connect();
  const counts = new Counts();
  for (const outcome of ["sent", "sent", "failed", "retried"] as const) counts.count(outcome);
  expect(await read(sql, { counts })).toMatchObject({ sent: 2, failed: 1, retried: 1 });
  expect(await read(sql, { counts })).toMatchObject({ sent: 0, failed: 0, retried: 0 });
});
