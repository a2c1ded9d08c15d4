import type postgres from "postgres";
import { readLocalNumber } from "#lib/messaging/phone.ts";
import { readPhone } from "#lib/messaging/phone-reading.ts";
import { type MessageSummary, reasons } from "#lib/messenger/outbox/message.ts";
import type { MessageFilter } from "../login/operator-login.ts";

const maxMessages = 50;

/**
 * Reads the search field: a number, also as people write it, or the id of a message, which has letters. What
 * has none may be any number of a person, and is treated as a phone number.
 */
export const readFilter = (query: string, sender: string): MessageFilter => {
  const text = query.trim();
  const read = readPhone(text);
  const phone = "phone" in read ? read.phone : readLocalNumber(text);
  const wanted = /^\d+$/.test(phone) ? { phone } : text ? { id: text } : {};
  return { ...wanted, ...(sender && { sender }) };
};

/** Lists the latest messages, newest first. Reads no text, and only masked numbers. */
export const listMessages = (sql: postgres.ISql, { id, phone, sender }: MessageFilter) => sql<
  MessageSummary[]
>`
  select id, sender, kind, state, reason, refusals ->> 'code' as code, attempts, accepted_at as "acceptedAt",
    changed_at as "changedAt", left(phone, 4) || repeat('•', length(phone) - 6) || right(phone, 2) as phone
  from messaging.message
  where true ${id === undefined ? sql`` : sql`and id = ${id}`}
    ${phone === undefined ? sql`` : sql`and phone = ${phone}`}
    ${sender === undefined ? sql`` : sql`and sender = ${sender}`}
  ${
    // for one message the planner would walk the order instead of looking up the id
    id === undefined ? sql`order by seq desc limit ${maxMessages}` : sql``
  }`;

/** What became of the latest messages. */
export interface Failures {
  /** Of the last ten whose outcome the account decides, at most an hour ago: not of those to numbers without the platform. */
  readonly ended: number;
  readonly failed: number;
  /** Codes of the platform, or reasons; the most frequent first. */
  readonly codes: readonly string[];
  readonly senders: readonly string[];
  readonly accounts: readonly string[];
  readonly since: Date | undefined;
}

const ofNumbers = [reasons.notRegistered, reasons.noDevice, reasons.optedOut];

export const countFailures = async (sql: postgres.ISql): Promise<Failures> => {
  const rows = await sql<{ failed: boolean; code: string; sender: string; account: string; at: Date }[]>`
    with latest as (select seq from messaging.message order by seq desc limit 200)
    select m.state = 'FAILED' as failed, coalesce(m.refusals ->> 'code', m.reason, '-') as code, m.sender,
      coalesce(a.name, '-') as account, m.changed_at as at
    from messaging.message m left join messaging.account a on a.id = m.account
    where m.seq in (select seq from latest) and m.state in ('SENT', 'DELIVERED', 'READ', 'FAILED')
      and m.changed_at > now() - interval '1 hour'
      and not (m.state = 'FAILED' and coalesce(m.reason, '') = any(string_to_array(${ofNumbers.join("|")}, '|')))
    order by m.seq desc limit 10`;
  const failed = rows.filter((row) => row.failed);
  const listMost = (of: "code" | "sender" | "account") =>
    [...Map.groupBy(failed, (row) => row[of])]
      .toSorted(([, one], [, other]) => other.length - one.length)
      .map(([name]) => name);
  return {
    ended: rows.length,
    failed: failed.length,
    codes: listMost("code"),
    senders: listMost("sender"),
    accounts: listMost("account"),
    since: failed.at(-1)?.at,
  };
};
