import type postgres from "postgres";
import { readLocalNumber } from "#lib/messaging/phone.ts";
import type { MessageSummary } from "../outbox/message.ts";
import type { MessageFilter } from "./login/operator-login.ts";

const maxMessages = 50;

/**
 * Reads the search field: a number, also as people write it in Indonesia, or the id of a message, which has letters. What
 * has none may be any number of a person, and is treated as a phone number.
 */
export const readFilter = (query: string, sender: string): MessageFilter => {
  const text = query.trim();
  const phone = readLocalNumber(text);
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
  order by seq desc limit ${maxMessages}`;

/** Lists who has sent messages. */
export const listSenders = async (sql: postgres.ISql): Promise<string[]> => {
  const rows = await sql<{ sender: string }[]>`
    with recursive senders (sender) as (
      -- from one sender to the next in the index, as in next.ts
      (select sender from messaging.message order by sender limit 1)
      union all
      select (select m.sender from messaging.message m where m.sender > s.sender order by m.sender limit 1)
      from senders s where s.sender is not null
    )
    select sender from senders where sender is not null`;
  return rows.map(({ sender }) => sender);
};
