import { expect, test } from "vitest";
import { runRetention, sweep } from "#lib/messenger/outbox/retention.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";

test("deletes messages after 30 days, payloads after 7 days, keys after 25 hours, number lookups after 30 days, counts of senders after 90, of the chart after one", async () => {
  const sql = (await createMessengerDatabase()).connect(2);
  await sql`
    insert into messaging.message (id, sender, kind, phone, content, state, accepted_at, not_before, expires_at)
    select state || age, 'api:test', 'text', '6281200000001', '{}', state, at, at, now() + interval '1 day'
    from unnest(array[0, 8, 31]) age cross join lateral (select now() - age * interval '1 day' as at) accepted, unnest(array['SENT', 'PENDING', 'SENDING']) state`;
  await sql`insert into messaging.payload (seq, bytes, composed_at) select seq, 'p', accepted_at from messaging.message`;
  await sql`
    insert into messaging.idempotency (key_digest, payload_digest, created_at)
    select sha256(h::text::bytea), sha256('p'), now() - h * interval '1 hour' from unnest(array[1, 24.5, 26]) h`;
  await sql`
    insert into messaging.number_check (account, phone, address, checked_at)
    select 1, '62812' || days, 'address', now() - days * interval '1 day' from unnest(array[29, 31]) days`;
  await sql`
    insert into messaging.sender_day (sender, day, slot, messages, bytes)
    select 'api:test', messaging.today() - days, 0, 1, 1 from unnest(array[0, 90, 91]) days`;
  await sql`
    insert into messaging.ending (hour, outcome, count)
    select now() - h * interval '1 hour', 'failed', 1 from unnest(array[23, 25]) h`;
  const end = new AbortController();
  const done = runRetention(sql, end.signal);
  const rows = () => sql`
    select id, p.seq is not null as payload from messaging.message left join messaging.payload p using (seq) order by id`;
  await expect.poll(rows).toEqual([
    { id: "PENDING0", payload: true },
    { id: "PENDING31", payload: true },
    { id: "PENDING8", payload: true },
    { id: "SENDING0", payload: true },
    { id: "SENDING31", payload: true },
    { id: "SENDING8", payload: true },
    { id: "SENT0", payload: true },
    { id: "SENT8", payload: false },
  ]);
  const count = async (table: string) => (await sql`select from ${sql(`messaging.${table}`)}`).length;
  await expect.poll(() => count("sender_day")).toBe(2); // deleted last
  const left = ["idempotency", "number_check", "ending"].map(count);
  expect(await Promise.all(left)).toEqual([2, 1, 1]);
  end.abort();
  await done;
});

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

test("deletes a backlog of several batches at once", async () => {
  const sql = (await createMessengerDatabase()).connect(2);
  const rows = 2_500;
  await sql`
    insert into messaging.message (id, sender, kind, phone, content, state, accepted_at, not_before, expires_at)
    select i, 'api:test', 'text', '6281200000001', '{}', 'SENT', now() - interval '31 days', now() - interval '31 days', now()
    from generate_series(1, ${rows}) i`;
  await sql`
    insert into messaging.message (id, sender, kind, phone, content, state, accepted_at, expires_at)
    select 'young' || i, 'api:test', 'text', '6281200000001', '{}', 'SENT', now() - interval '8 days', now()
    from generate_series(1, ${rows}) i`;
  await sql`insert into messaging.payload (seq, bytes, composed_at) select seq, 'p', accepted_at from messaging.message`;
  await sql`
    insert into messaging.idempotency (key_digest, payload_digest, created_at)
    select sha256(i::text::bytea), sha256('p'), now() - interval '26 hours' from generate_series(1, ${rows}) i`;
  await sql`
    insert into messaging.number_check (account, phone, address, checked_at)
    select 1, i, 'address', now() - interval '31 days' from generate_series(1, ${rows}) i`;
  await sql`
    insert into messaging.media (sender, content_type, created_at)
    select 'api:test', 'x/y', now() - interval '2 hours' from generate_series(1, ${rows}) i`;
  await sweep(sql, new AbortController().signal);
  const count = async (table: string) => (await sql`select from ${sql(`messaging.${table}`)}`).length;
  const left = ["message", "payload", "idempotency", "number_check", "media"].map(async (table) => [
    table,
    await count(table),
  ]);
  expect(Object.fromEntries(await Promise.all(left))).toEqual({
    message: rows,
    payload: 0,
    idempotency: 0,
    number_check: 0,
    media: 0,
  });
});
