import type postgres from "postgres";
import { numbers, senders } from "./message-data.ts";
import type { Parts } from "./sizes.ts";

/** Why messages wait: they are due, or for new contacts when the limit of the day is reached, or not to be sent yet. */
export type Kind = "due" | "newContacts" | "scheduled" | "quiet";

/** Of the recipients: those that know an account, and others. */
const phones: Readonly<Record<Kind, string>> = {
  due: "62812",
  newContacts: "62813",
  scheduled: "62812",
  quiet: "62814",
};
const heldFor: Readonly<Record<Kind, string>> = {
  due: "null::interval",
  newContacts: "null::interval",
  scheduled: "interval '1 day' * (1 + n % 28)",
  quiet: "interval '6 hours'",
};

let made = 0;

/** Adds open messages, as they are when they have been accepted in the last hours. @returns when statistics are renewed. */
export const addOpen = async (
  owner: postgres.Sql,
  kind: Kind,
  { persons, [kind]: count }: Parts,
  more = count,
): Promise<void> => {
  const first = made;
  made += more;
  await owner.unsafe(`
    insert into messaging.message (id, sender, kind, phone, content, priority, accepted_at, not_before, due_at, held_until,
      expires_at, quiet_hours, account)
    select 'O' || n, case when n % 10 < 4 then '${senders[0]}' when n % 10 < 6 then '${senders[1]}' else '${senders[2]}' end,
      'text', phone, '{"text": "Antrean"}', case when ${kind === "due"} then (n % 4)::smallint else 3 end, at, start, start,
      now() + held, start + interval '72 hours',
      case when ${kind === "quiet"} then '{"from": "21:00", "to": "06:00", "time_zone": "Asia/Jakarta"}'::jsonb end,
      (select account from messaging.route r where r.pool = 'city' and r.phone = message.phone)
    from (
      select n, '${phones[kind]}' || lpad((n % ${kind === "due" || kind === "scheduled" ? persons : 100_000_000})::text, 8, '0') as phone,
        now() - interval '1 hour' + n * interval '1 millisecond' as at, ${heldFor[kind]} as held,
        coalesce(now() + ${heldFor[kind]}, now() - interval '1 hour') as start
      from generate_series(${first + 1}::bigint, ${made}::bigint) n) message
    order by n`);
  await owner`analyze messaging.message`;
};

/** What an account may take: all, or at the limit of the day none to new contacts. */
export const restrictions = (account: 1 | 2 | 3, newContactsUpTo: number) => ({
  ...{ account, number: numbers[account], resting: [], newContactsUpTo, reachable: undefined },
});
