import { expect, test } from "vitest";
import { sweep } from "#lib/messenger/outbox/retention.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";

test("the payload of a one-time code is dropped when it expires, and its reference is kept for reports", async () => {
  const sql = (await createMessengerDatabase()).connect(2);
  await sql`
    insert into messaging.message (id, sender, kind, phone, content, state, priority, expires_at)
    select 'p' || p || '-' || s, 'api:test', 'text', '6281200000001', '{}', 'SENT', p, now() + s * interval '1 minute'
    from unnest(array[0, 1]) p, unnest(array[-1, 1]) s`;
  await sql`
    insert into messaging.payload (seq, channel, bytes, reference, drop_at)
    select seq, 'cloud-api', 'p', 'wamid', case when priority = 0 then expires_at end from messaging.message`;
  await sweep(sql, new AbortController().signal);
  const dropped = await sql`
    select id, reference from messaging.message join messaging.payload using (seq) where bytes = ''`;
  expect(dropped).toEqual([{ id: "p0--1", reference: "wamid" }]);
});

test("a backlog of several batches of media is deleted at once", async () => {
  const sql = (await createMessengerDatabase()).connect(2);
  await sql`
    insert into messaging.media (sender, content_type, created_at)
    select 'api:test', 'x/y', now() - interval '2 hours' from generate_series(1, 50) i`;
  await sweep(sql, new AbortController().signal);
  expect(await sql`select from messaging.media`).toHaveLength(0);
});
