import type postgres from "postgres";
import { listTerms, type SenderTerms } from "#lib/sender/limits.ts";

interface Credentials {
  /** How many are active; a user of the secret messaging-basic has none here. */
  readonly credentials: number;
  /** When the last of them expires; null for never. */
  readonly expiresAt: Date | null;
}

/** A sender, without what its credentials say. */
export type SenderSummary = SenderTerms & Credentials;

/** Those that are active by messaging.is_active, which needs the right to read their digests. */
const listCredentials = (sql: postgres.ISql) => sql<(Credentials & { sender: string })[]>`
  select sender, count(*)::int as credentials, nullif(max(until), 'infinity') as "expiresAt"
  from (
    select sender, coalesce(least(expires_at, retires_at), 'infinity') as until
    from messaging.sender_credential where revoked_at is null) held
  where now() < until group by sender`;

/** Lists the senders of the messaging API, by name. */
export const listSenderSummaries = async (sql: postgres.ISql): Promise<SenderSummary[]> => {
  const [terms, credentials] = await Promise.all([listTerms(sql), listCredentials(sql)]);
  const bySender = new Map(credentials.map((one) => [one.sender, one]));
  const none: Credentials = { credentials: 0, expiresAt: null };
  return terms.map((one) => ({ ...none, ...bySender.get(one.sender), ...one }));
};
