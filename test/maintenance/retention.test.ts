import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { deleteOld } from "../steps/retention.ts";
import { createDatabase } from "../steps/temporary-database.ts";

let sql: postgres.Sql;

beforeEach(async () => {
  sql = (await createDatabase()).connect("adminUrl");
});

/**
 * How long each table keeps its rows, and what inserts one for each of `aged (n, at)`: the first is 95 % of that time old, the
 * second 105 %.
 */
const kept: Readonly<Record<string, readonly [keep: string, insert: string]>> = {
  "employee.attempt": ["1 day", "(account_digest, made_at) select '\\x01', at"],
  "employee.ticket": ["1 day", "(digest, account_id, issued_at) select sha256(n::text::bytea), 'a', at"],
  "employee.known_network": [
    "30 days",
    "(account_digest, network_digest, seen_at) select '\\x01', sha256(n::text::bytea), at",
  ],
  "employee.session": ["1 day", "(account_id, name_digest, scope, expires_at) select 'a', '\\x01', 's', at"],
  "resident.failed_verification": [
    "1 day",
    "(partner_id, nik_digest, made_at) select 'p', sha256(n::text::bytea), at",
  ],
  "resident.read_count": [
    "1 day",
    "(partner_id, since, residents, look_ups, unknown_numbers) select 'p', at, 1, 0, 0",
  ],
  "messaging.message": [
    "30 days",
    `(id, sender, kind, phone, content, state, accepted_at, not_before, expires_at)
    select n, 'api:a', 'text', '6281200000001', '{}', 'SENT', at, at, at`,
  ],
  "messaging.payload": [
    "7 days",
    `(seq, channel, bytes, composed_at)
    select (select seq from messaging.message where id = '1'), ('{whatsapp,sms}'::messaging.channel[])[n], 'p', at`,
  ],
  "messaging.idempotency": [
    "25 hours",
    "(key_digest, payload_digest, created_at) select sha256(n::text::bytea), sha256('p'), at",
  ],
  "messaging.answered": ["24 hours", "(digest, at) select sha256(n::text::bytea), at"],
  "messaging.ending": ["24 hours", "(hour, outcome, count) select at, 'failed', 1"],
  "messaging.callback_event": [
    "30 days",
    `(callback_id, message_id, state, accepted_at, at, given_up_at)
    select (select id from messaging.callback), n, 'SENT', at, at, at`,
  ],
  "messaging.number_check": ["30 days", "(account, phone, address, checked_at) select 1, n, 'address', at"],
  "messaging.contact": ["24 months", "(number, phone, used_on) select '6281100000001', n, at"],
  "messaging.route": ["24 months", "(pool, phone, account, used_on) select 'city', n, 1, at"],
  "messaging.sender_day": ["90 days", "(sender, day, slot, messages, bytes) select 'api:a', at, 0, 1, 1"],
  "messaging.operator_act": [
    "5 years",
    "(at, operator, name, role, action) select at, 'sari', 'Sari', 'admin', 'pause'",
  ],
  "notification.request": ["30 days", "(id, template, outcome, changed_at) select n, 't', 'accepted', at"],
  "notification.recipient": [
    "30 days",
    "(job, occasion, dedupe_key, outcome, seen_at) select 'j', '-infinity', n, 'accepted', at",
  ],
  "notification.run": ["30 days", "(job, scheduled_at, changed_at) select 'j', at, at"],
};

test("each table keeps its rows as long as it should, and no longer", async () => {
  await sql`insert into messaging.callback (sender, url, secret) values ('api:a', 'https://city.example/', '\\x00')`;
  for (const [relation, [keep, insert]] of Object.entries(kept))
    await sql.unsafe(`
      with aged (n, at) as (
        select n, now() - interval '${keep}' * (case n when 1 then 0.95 else 1.05 end) from generate_series(1, 2) n)
      insert into ${relation} ${insert} from aged`);
  await sql`insert into messaging.operator_result (act, result) select id, 'done' from messaging.operator_act`;
  await deleteOld(sql);
  const rules = await sql<
    { relation: string; since: string }[]
  >`select relation, since from city.retention()`;
  expect(rules.map(({ relation }) => relation).toSorted()).toEqual(Object.keys(kept).toSorted());
  for (const { relation, since } of rules) {
    const left = await sql.unsafe(
      `select ${since} > now() - interval '${kept[relation]?.[0]}' as "isYoung" from ${relation}`,
    );
    expect([relation, ...left]).toEqual([relation, { isYoung: true }]);
  }
});

test("messages that wait or are being sent are kept, with what they consist of, however old they are", async () => {
  await sql`
    insert into messaging.message (id, sender, kind, phone, content, state, accepted_at, not_before, expires_at)
    select state, 'api:a', 'text', '6281200000001', '{}', state, now() - interval '40 days', now() - interval '40 days',
      now() + interval '1 day' from unnest(array['SENT', 'PENDING', 'SENDING']) state`;
  await sql`insert into messaging.payload (seq, bytes, composed_at) select seq, 'p', accepted_at from messaging.message`;
  await deleteOld(sql);
  const left = await sql`
    select id, p.seq is not null as payload from messaging.message left join messaging.payload p using (seq) order by id`;
  expect([...left]).toEqual([
    { id: "PENDING", payload: true },
    { id: "SENDING", payload: true },
  ]);
});

test("a backlog of several batches is deleted in one run", async () => {
  await sql`
    insert into messaging.message (id, sender, kind, phone, content, state, accepted_at, not_before, expires_at)
    select i, 'api:test', 'text', '6281200000001', '{}', 'SENT', at, at, at
    from generate_series(1, 2500) i, (select now() - interval '31 days' as at) accepted`;
  await deleteOld(sql);
  expect(await sql`select from messaging.message`).toHaveLength(0);
});

test("what is too old is found by an index where a table has many rows", async () => {
  await sql`
    insert into employee.attempt (account_digest, made_at, failed_at)
    select sha256(n::text::bytea), now() - n * interval '1 second', now() from generate_series(1, 5000) n`;
  await sql`analyze employee.attempt`;
  const plan = await sql`
    explain select ctid from employee.attempt r where r.made_at < now() - interval '1 day' and not coalesce(false, false)
    limit 5000 for update skip locked`;
  expect(JSON.stringify(plan)).toContain("attempt_by_age");
});
