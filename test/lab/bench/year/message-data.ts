import type postgres from "postgres";
import { inBatches } from "./chance.ts";
import type { Parts, Sizes } from "./sizes.ts";

/** The city's numbers, by account. */
export const numbers = { 1: "6281100000001", 2: "6281100000002", 3: "6281100000003" } as const;
export const senders = ["api:desk", "api:tax", "notification"] as const;

/** The phone of the person with this number, of those who got messages before. */
export const phoneOf = (person: number): string => `62812${String(person).padStart(8, "0")}`;

/** Two accounts of the city's pool, and one of its next channel. */
const addAccounts = (owner: postgres.Sql) =>
  owner
    .unsafe(
      `update messaging.account set number = '${numbers[1]}', linked_at = now() - interval '1 year';
       insert into messaging.account (name, channel, number, linked_at)
       values ('second', 'whatsapp', '${numbers[2]}', now()), ('gateway', 'sms', '${numbers[3]}', now());
       insert into messaging.leadership (account, epoch, holder) values (1, 1, 'bench'), (2, 2, 'bench'), (3, 3, 'bench');
       insert into messaging.number (phone) values ('${numbers[1]}'), ('${numbers[2]}'), ('${numbers[3]}');
       insert into messaging.sender (name, per_day) select 'sender-' || n, 100000 from generate_series(1, 50) n;
       insert into messaging.sender (name, per_day) values ('desk', 1000000), ('tax', 1000000);
       insert into messaging.sender_credential (id, sender, digest)
       select 'cred_' || name, name, sha256(name::bytea) from messaging.sender;
       insert into messaging.sender_day (sender, day, slot, messages, bytes)
       select sender, messaging.today() - day, slot, 1000, 100000
       from unnest(array['${senders.join("','")}']) sender, generate_series(0, 95) day, generate_series(0, 15) slot`,
    )
    .simple();

/** Whom the numbers have written to in the year: each person knows the account of a half. */
const addPersons = async (owner: postgres.Sql, { persons }: Parts): Promise<void> => {
  const account = owner`(1 + person % 2)::smallint`;
  const number = owner`case person % 2 when 0 then ${numbers[1]} else ${numbers[2]} end`;
  const phone = owner`'62812' || lpad(person::text, 8, '0')`;
  await inBatches(persons, async (first, last) => {
    const [from, to] = [first - 1, last - 1];
    await owner`
      insert into messaging.contact (number, phone, since)
      select ${number}, ${phone}, now() - bench.share(person, 11) * interval '1 year'
      from generate_series(${from}::bigint, ${to}::bigint) person`;
    await owner`
      insert into messaging.route (pool, phone, account, since)
      select 'city', ${phone}, ${account}, now() - interval '30 days' from generate_series(${from}::bigint, ${to}::bigint) person`;
    // one of a hundred has another number on the platform; some checks are about to be deleted
    await owner`
      insert into messaging.number_check (account, phone, address, checked_at)
      select ${account}, ${phone}, case when person % 100 = 0 then 'user-' || person else ${phone} || '@s.whatsapp.net' end,
        now() - bench.share(person, 12) * interval '30 days 2 hours'
      from generate_series(${from}::bigint, ${to}::bigint) person`;
    await owner`
      insert into messaging.auth_key (account, type, id, value)
      select ${account}, 'session', ${phone} || '.0', decode(repeat('ab', 400), 'hex')
      from generate_series(${from}::bigint, ${to}::bigint) person`;
  });
};

/** By how it was sent: most were read or delivered. */
const state = `case when s < 0.60 then 'READ' when s < 0.90 then 'DELIVERED' when s < 0.95 then 'SENT'
  when s < 0.98 then 'FAILED' when s < 0.99 then 'EXPIRED' when s < 0.995 then 'UNCERTAIN' else 'CANCELLED' end`;

/** Messages of 30 days in the order of acceptance, and of some hours before, which are about to be deleted. */
const addMessages = (owner: postgres.Sql, { messages }: Sizes, { persons, runs }: Parts) =>
  inBatches(messages, (from, to) =>
    owner.unsafe(`
      insert into messaging.message (id, sender, kind, phone, content, uploaded, priority, state, reason, attempts, epoch,
        account, number, accepted_at, not_before, due_at, expires_at, changed_at, sent_at, run)
      select 'M' || n, sender, case when k < 0.03 then 'image' else 'text' end, '62812' || lpad(person::text, 8, '0'),
        case when is_code then '{}' else jsonb_build_object('text', repeat('Pesan ' || n || ' ', 8)) end, k < 0.03,
        case when is_code then 0 when sender = 'notification' then 2 else 1 end, state,
        case when state in ('FAILED', 'EXPIRED', 'UNCERTAIN') then 'the platform gave no answer' end, 1, 1, 1 + person % 2,
        case person % 2 when 0 then '${numbers[1]}' else '${numbers[2]}' end,
        at, at, at, at + case when is_code then interval '5 minutes' else interval '72 hours' end, at + interval '1 minute',
        case when state in ('READ', 'DELIVERED', 'SENT') then at + interval '30 seconds' end,
        case when sender = 'notification' then (select id from bench.run where place = n % ${runs}) end
      from (
        select n, now() - (1 - n::float8 / ${messages}) * interval '30 days 4 hours' as at, ${state} as state,
          floor(bench.share(n, 2) * ${persons})::bigint as person, bench.share(n, 3) as k,
          case when w < 0.6 then '${senders[0]}' when w < 0.9 then '${senders[1]}' else '${senders[2]}' end as sender,
          w between 0.5 and 0.6 as is_code
        from generate_series(${from}, ${to}) n
        cross join lateral (select bench.share(n, 1) as s, bench.share(n, 4) as w) chances) message
      order by n`),
  );

/** What was stored beside messages: payloads of seven days, keys of 25 hours, files, endings of a day, and answers. */
const addBeside = (owner: postgres.Sql, { others }: Parts) =>
  owner
    .unsafe(
      `delete from messaging.ending where hour < now() - interval '26 hours';
       insert into messaging.payload (seq, channel, bytes, composed_at, reference)
       select seq, 'whatsapp', decode(repeat('cd', 300), 'hex'), accepted_at, case when seq % 20 = 0 then 'R' || seq end
       from messaging.message where accepted_at > now() - interval '7 days 1 hour' and state <> 'CANCELLED';
       insert into messaging.idempotency (key_digest, payload_digest, message_id, created_at)
       select sha256(id::bytea), sha256(id::bytea), id, accepted_at from messaging.message
       where accepted_at > now() - interval '25 hours 10 minutes';
       insert into messaging.media (sender, content_type, size_bytes, created_at)
       select 'api:desk', 'image/jpeg', 1000, now() - n * interval '1 minute' from generate_series(1, 500) n;
       insert into messaging.media_chunk (media_id, part, bytes)
       select id, 0, decode(repeat('ef', 1000), 'hex') from messaging.media;
       update messaging.message m set media_id = media.id, kind = 'image'
       from messaging.media join (
         select seq, row_number() over (order by seq desc) as place from messaging.message order by seq desc limit 400) newest
         on newest.place = media.id
       where m.seq = newest.seq;
       insert into messaging.answered (digest, at)
       select sha256(int8send(n)), now() - n * interval '25 hours' / ${others} from generate_series(1, ${others}) n;
       insert into messaging.operator_act (at, operator, name, role, action)
       select now() - n * interval '5 years 1 day' / ${others}, 'operator', 'Operator', 'operator', 'pause'
       from generate_series(${others}, 1, -1) n;
       insert into messaging.operator_result (act, result) select id, 'done' from messaging.operator_act;
       insert into notification.opt_out (digest, pepper_version)
       select sha256(int8send(n)), 1 from generate_series(1, ${others}) n`,
    )
    .simple();

/** Changes that wait: nearly all of them for an address that fails. */
const addCallbacks = async (owner: postgres.Sql, { messages }: Sizes, { callbackEvents }: Parts) => {
  await owner
    .unsafe(`
    insert into messaging.callback (sender, url, secret, failures, retry_at)
    values ('api:desk', 'https://desk.city.example/changes', '', 0, now()),
      ('api:tax', 'https://tax.city.example/changes', '', 40, now() + interval '1 hour')`)
    .simple();
  await inBatches(callbackEvents, (from, to) =>
    owner.unsafe(`
      insert into messaging.callback_event
        (callback_id, message_id, state, accepted_at, at, attempts, due_at, retry_until, last_status)
      select case when n % 200 = 0 then 1 else 2 end, 'M' || ${messages} - n / 2,
        case n % 2 when 0 then 'DELIVERED' else 'SENT' end, at, at, 1, at, at + interval '24 hours 1 minute', 503
      from (
        select n, now() - (1 - n::float8 / ${callbackEvents}) * interval '24 hours' as at
        from generate_series(${from}, ${to}) n) event
      order by n`),
  );
};

/** Adds what the messenger has stored. Runs of notifications must be there. */
export const addMessenger = async (
  owner: postgres.Sql,
  sizes: Sizes,
  parts: Parts,
  onStep: (step: string) => void,
): Promise<void> => {
  await addAccounts(owner);
  onStep("persons");
  await addPersons(owner, parts);
  onStep(`${sizes.messages} messages`);
  await addMessages(owner, sizes, parts);
  onStep("payloads, keys and callbacks");
  await addBeside(owner, parts);
  await addCallbacks(owner, sizes, parts);
  onStep("vacuum");
  const tables = await owner<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('messaging', 'notification', 'office')`;
  for (const { name } of tables) await owner.unsafe(`vacuum (analyze) ${name}`);
};
