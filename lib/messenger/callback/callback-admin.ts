import { randomBytes } from "node:crypto";
import type postgres from "postgres";
import type { Encryption } from "../outbox/encryption.ts";
import { openSecrets, secretContext } from "./callbacks.ts";
import { lastStatus, secretsOf } from "./event.ts";
import { secretText } from "./post.ts";

/** Standard Webhooks asks for 24 to 64 bytes. */
const secretBytes = 32;

export interface CallbackSummary {
  readonly url: string;
  /** Events that wait, and those that were given up. */
  readonly waiting: number;
  readonly undelivered: number;
  /** Failures in a row, and when the next attempt may start; null while the address accepts events. */
  readonly failures: number;
  readonly retryAt: Date | null;
  /** Of the last attempt that failed; null without an answer, and for none. */
  readonly lastStatus: number | null;
  /** When the address answered 410. */
  readonly disabledAt: Date | null;
  /** The end of the previous secret, while there are two. */
  readonly previousUntil: Date | null;
}

export interface UndeliveredChange {
  readonly id: string;
  readonly messageId: string;
  readonly state: string;
  readonly at: Date;
  readonly attempts: number;
  /** Of the last attempt; null without an answer. */
  readonly lastStatus: number | null;
}

/**
 * Manages the addresses to which the changes of a sender's messages are sent.
 *
 * @param sender such as `api:<username>`.
 */
export const callbackDirectory = (sql: postgres.Sql, encryption: Encryption, sender: string) => {
  const newSecret = (url: string) => {
    const bytes = randomBytes(secretBytes);
    return { text: secretText(bytes), encrypted: encryption.encrypt(secretContext(sender, url), bytes) };
  };
  return {
    /** Adds an address, or enables it again. @returns the secret, which cannot be shown again; undefined if it is in use. */
    async add(url: string): Promise<string | undefined> {
      const { text, encrypted } = newSecret(url);
      const { count } = await sql`
        insert into messaging.callback (sender, url, secret) values (${sender}, ${url}, ${encrypted})
        on conflict (sender, url) do update
        set secret = excluded.secret, previous_secret = null, disabled_at = null, failures = 0, retry_at = now()
        where callback.disabled_at is not null`;
      return count > 0 ? text : undefined;
    },

    /** Signs with a new secret, and with the one before until the overlap ends. @returns undefined for an unknown address. */
    async rotate(url: string, overlapMs: number): Promise<string | undefined> {
      const { text, encrypted } = newSecret(url);
      const { count } = await sql`
        update messaging.callback set secret = ${encrypted}, previous_secret = secret,
          previous_until = now() + ${overlapMs} * interval '1 millisecond'
        where sender = ${sender} and url = ${url}`;
      return count > 0 ? text : undefined;
    },

    /** Removes an address and the events that wait for it. @returns false for an unknown one. */
    async remove(url: string): Promise<boolean> {
      const { count } = await sql`
        delete from messaging.callback where sender = ${sender} and url = ${url}`;
      return count > 0;
    },

    list: (): Promise<CallbackSummary[]> => sql<CallbackSummary[]>`
      select url, failures, case when failures > 0 and disabled_at is null then retry_at end as "retryAt",
        ${lastStatus(sql)} as "lastStatus", disabled_at as "disabledAt",
        case when previous_until > now() then previous_until end as "previousUntil",
        (select count(*)::int from messaging.callback_event
          where callback_id = callback.id and given_up_at is null) as waiting,
        (select count(*)::int from messaging.callback_event
          where callback_id = callback.id and given_up_at is not null) as undelivered
      from messaging.callback where sender = ${sender} order by url`,

    /** Lists the addresses with the secrets that sign now; without any if another key has encrypted them. */
    async listSecrets() {
      const rows = await sql<
        { url: string; disabledAt: Date | null; secret: Buffer; previous: Buffer | null }[]
      >`
        select url, disabled_at as "disabledAt", secret,
          case when previous_until > now() then previous_secret end as previous
        from messaging.callback where sender = ${sender} order by url`;
      return rows.map(({ url, disabledAt, ...row }) => ({
        ...{ url, disabledAt },
        secrets: openSecrets({ sender, url, secrets: secretsOf(row) }, encryption),
      }));
    },

    /** Lists the oldest events that were given up. */
    listUndelivered: (limit: number): Promise<UndeliveredChange[]> => sql<UndeliveredChange[]>`
      select event.id, message_id as "messageId", state, at, attempts, last_status as "lastStatus"
      from messaging.callback_event event join messaging.callback on callback.id = callback_id
      where sender = ${sender} and given_up_at is not null order by seq limit ${limit}`,

    /** Tries the events that were given up for another 24 hours, but for disabled addresses, and all that wait at once. @returns how many were given up. */
    async replay(): Promise<number> {
      await sql`
        with released as (update messaging.callback set retry_at = now() where sender = ${sender} returning id)
        update messaging.callback_event set due_at = least(due_at, now()) from released
        where released.id = callback_id and given_up_at is null and attempts > 0`;
      const { count } = await sql`
        update messaging.callback_event
        set given_up_at = null, attempts = 0, due_at = now(), retry_until = now() + interval '24 hours'
        from messaging.callback
        where callback.id = callback_id and sender = ${sender} and disabled_at is null and given_up_at is not null`;
      return count;
    },
  };
};
