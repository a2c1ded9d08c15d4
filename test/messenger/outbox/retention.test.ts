import { expect, test } from "vitest";
import { runRetention } from "#lib/messenger/outbox/retention.ts";
import { createMessengerDatabase } from "../messenger-database.ts";

test("keeps messages for thirty days, what was sent for seven, keys for one and what is known of numbers for thirty", async () => {
  const sql = (await createMessengerDatabase()).connect(2);
  await sql`
    insert into messaging.message (id, kind, phone, content, state, payload, accepted_at, expires_at)
    select state || age, 'text', '6281200000001', '{}', state, 'p', now() - age * interval '1 day', now() + interval '1 day'
    from unnest(array[0, 8, 31]) age, unnest(array['SENT', 'PENDING', 'SENDING']) state`;
  await sql`
    insert into messaging.idempotency (key_digest, payload_digest, created_at)
    select sha256(h::text::bytea), sha256('p'), now() - h * interval '1 hour' from unnest(array[1, 24.5, 26]) h`;
  await sql`
    insert into messaging.number_check (phone, registered, checked_at)
    select '62812' || days, true, now() - days * interval '1 day' from unnest(array[29, 31]) days`;
  const end = new AbortController();
  const done = runRetention(sql, end.signal);
  const rows = () => sql`select id, payload is not null as payload from messaging.message order by id`;
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
  await expect.poll(() => count("number_check")).toBe(1); // the last to be swept
  expect(await count("idempotency")).toBe(2);
  end.abort();
  await done;
});
