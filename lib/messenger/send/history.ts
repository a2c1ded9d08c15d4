import type postgres from "postgres";
import type { History } from "./pacing.ts";

const dayMs = 24 * 60 * 60 * 1_000;

export const loadHistory = async (sql: postgres.Sql): Promise<History> => {
  const sent = await sql<{ at: Date }[]>`
    select sent_at as at from messaging.message where sent_at > now() - interval '1 day' order by sent_at`;
  const contacts = await sql<{ at: Date }[]>`
    select since as at from messaging.contact where since > now() - interval '1 day' order by since`;
  const [first] = await sql<{ at: Date | null }[]>`select min(since) as at from messaging.contact`;
  return {
    sentAt: sent.map(({ at }) => at.getTime()),
    newContactsAt: contacts.map(({ at }) => at.getTime()),
    daysOfUse: first?.at ? Math.floor((Date.now() - first.at.getTime()) / dayMs) : 0,
  };
};
