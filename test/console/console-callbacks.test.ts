import { expect, test } from "vitest";
import { listCallbacks, mostCounted } from "#lib/console/panels/callbacks.ts";
import { createDatabase } from "../steps/temporary-database.ts";

test("of what waits for an address, and of what is undelivered, one more than the console shows is counted, and the oldest is found", async () => {
  const database = await createDatabase();
  await database.connect("adminUrl").unsafe(`
    insert into messaging.callback (sender, url, secret) values ('api:test', 'https://a.example', ''), ('api:tax', 'https://b.example', '');
    insert into messaging.callback_event (callback_id, message_id, state, accepted_at, at, retry_until, given_up_at)
    select 1, 'M' || n, 'SENT', now(), now() - n * interval '1 second', now() + n * interval '-1 second', case when n % 2 = 0 then now() end
    from generate_series(1, ${2 * mostCounted + 10}) n;
    insert into messaging.callback_event (callback_id, message_id, state, accepted_at, at) values (2, 'M', 'SENT', now(), '2026-11-01Z')`);
  const callbacks = await listCallbacks(database.connect("messengerUrl"));
  expect(callbacks).toMatchObject([
    { sender: "tax", waiting: 1, undelivered: 0, oldest: new Date("2026-11-01Z") },
    { sender: "test", waiting: mostCounted + 1, undelivered: mostCounted + 1 },
  ]);
  const [tax, many] = callbacks;
  expect(many?.oldest?.getTime()).toBeGreaterThan(tax?.oldest?.getTime() ?? Number.NaN);
  expect(Date.now() - (many?.oldest?.getTime() ?? 0)).toBeGreaterThanOrEqual(2 * mostCounted * 1_000);
});
