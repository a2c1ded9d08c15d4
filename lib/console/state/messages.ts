import type postgres from "postgres";
import { readLocalNumber } from "#lib/messaging/phone.ts";
import { readPhone } from "#lib/messaging/phone-reading.ts";
import type { MessageSummary } from "#lib/messenger/outbox/message.ts";
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
