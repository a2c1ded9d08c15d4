import type postgres from "postgres";
import { steadyNow } from "#lib/steady-clock.ts";
import type { History } from "./pacing.ts";

/** Loads ages, not times: the database and this process may disagree about the time. */
export const loadHistory = async (sql: postgres.Sql): Promise<History> => {
  const sent = await sql<{ age: number }[]>`
    select extract(epoch from now() - sent_at)::float8 as age from messaging.message
    where sent_at > now() - interval '1 day' order by sent_at`;
  const contacts = await sql<{ age: number }[]>`
    select extract(epoch from now() - since)::float8 as age from messaging.contact
    where since > now() - interval '1 day' order by since`;
  const [first] = await sql<{ days: number }[]>`
    select coalesce(extract(day from now() - min(since)), 0)::int as days from messaging.contact`;
  const now = steadyNow();
  return {
    sentAt: sent.map(({ age }) => now - age * 1_000),
    newContactsAt: contacts.map(({ age }) => now - age * 1_000),
    daysOfUse: first?.days ?? 0,
  };
};
