import { randomBytes } from "node:crypto";
import type postgres from "postgres";
import type { MessageClass } from "#lib/messaging/submission.ts";
import { digestToken, mintToken } from "#lib/opaque-token.ts";
import { passwordPrefix } from "./basic-auth.ts";
import { listTerms } from "./limits.ts";

/** A password in plain text, which cannot be shown again. */
export interface IssuedCredential {
  readonly id: string;
  readonly password: string;
  readonly expiresAt: Date | undefined;
}

export interface CredentialSummary {
  sender: string;
  id: string;
  state: "active" | "expired" | "revoked";
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
}

/** Null removes a limit, undefined leaves it unchanged. */
export interface Limits {
  readonly pool?: string | undefined;
  readonly classes?: readonly MessageClass[] | undefined;
  readonly countries?: readonly string[] | undefined;
  readonly perDay?: number | null | undefined;
  readonly bytesPerDay?: number | null | undefined;
}

const issue = async (
  sql: postgres.ISql,
  sender: string,
  expiresAt: Date | undefined,
): Promise<IssuedCredential> => {
  const password = mintToken(passwordPrefix);
  const id = `cred_${randomBytes(5).toString("hex")}`;
  await sql`
    insert into messaging.sender_credential (id, sender, digest, expires_at)
    values (${id}, ${sender}, ${digestToken(password)}, ${expiresAt ?? null})`;
  return { id, password, expiresAt };
};

const addRow = (sql: postgres.ISql, name: string) =>
  sql`insert into messaging.sender (name) values (${name}) on conflict (name) do nothing`;

/**
 * Manages senders, their credentials and limits, for the operator.
 * @param sql connection of the role `municipal_sender_admin`.
 */
export const senderDirectory = (sql: postgres.Sql) => ({
  /** Adds a sender without limits, or another credential for an existing sender. */
  add: (name: string, expiresAt?: Date): Promise<IssuedCredential> =>
    sql.begin(async (transaction) => {
      await addRow(transaction, name);
      return issue(transaction, name, expiresAt);
    }) as Promise<IssuedCredential>,

  /** Lists all credentials with their state, by sender and age. */
  listCredentials: (): Promise<CredentialSummary[]> => sql<CredentialSummary[]>`
    select sender, id,
      case when revoked_at is not null then 'revoked' when messaging.is_active(c) then 'active' else 'expired' end
        as state,
      created_at as "createdAt", least(expires_at, retires_at) as "expiresAt", last_used_at as "lastUsedAt"
    from messaging.sender_credential c order by sender, created_at`,

  listTerms: () => listTerms(sql),

  /** Revokes one credential, or all credentials of a sender. @returns the ids of those that were active. */
  async revoke(idOrSender: string): Promise<string[]> {
    const revoked = await sql<{ id: string }[]>`
      update messaging.sender_credential c set revoked_at = now()
      where (id = ${idOrSender} or sender = ${idOrSender}) and messaging.is_active(c)
      returning id`;
    return revoked.map(({ id }) => id);
  },

  /**
   * Issues a new credential with the expiry of the newest active one, unless another is given; the old ones expire
   * after `overlapMs`.
   * @returns undefined if the sender has no active credential.
   */
  rotate: (name: string, overlapMs: number, expiresAt?: Date): Promise<IssuedCredential | undefined> =>
    sql.begin(async (transaction) => {
      const [newest] = await transaction<{ expiresAt: Date | null }[]>`
        select expires_at as "expiresAt" from messaging.sender_credential c
        where sender = ${name} and messaging.is_active(c) order by created_at desc for update`;
      if (!newest) return undefined;
      await transaction`
        update messaging.sender_credential c
        set retires_at = least(retires_at, now() + ${overlapMs} * interval '1 millisecond')
        where sender = ${name} and messaging.is_active(c)`;
      return issue(transaction, name, expiresAt ?? newest.expiresAt ?? undefined);
    }) as Promise<IssuedCredential | undefined>,

  /**
   * Changes limits. A new row limits the user of the secret with this name, or a sender that is added later.
   * @returns false if no account has the pool.
   */
  limit: (name: string, { classes, countries, perDay, bytesPerDay, pool }: Limits): Promise<boolean> =>
    sql.begin(async (transaction) => {
      const known = await transaction`
        select from messaging.account where pool = coalesce(${pool ?? null}, pool) and state <> 'retired' limit 1`;
      if (known.length === 0) return false;
      await addRow(transaction, name);
      await transaction`
        update messaging.sender set
          pool = coalesce(${pool ?? null}, pool),
          classes = coalesce(string_to_array(${classes?.join(" ") ?? null}, ' '), classes),
          countries = coalesce(string_to_array(${countries?.join(" ") ?? null}, ' '), countries),
          per_day = case when ${perDay === undefined} then per_day else ${perDay ?? null}::integer end,
          bytes_per_day = case when ${bytesPerDay === undefined} then bytes_per_day else ${bytesPerDay ?? null}::bigint end
        where name = ${name}`;
      return true;
    }) as Promise<boolean>,
});
