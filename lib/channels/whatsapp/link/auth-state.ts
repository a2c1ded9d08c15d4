import * as baileys from "baileys";
import type postgres from "postgres";
import { inTime } from "#lib/db/outage.ts";
import { firstAccount } from "#lib/messenger/account/account.ts";
import type { Encryption } from "#lib/messenger/outbox/encryption.ts";
import { openLoginHolds } from "./login-holds.ts";

export interface AuthStateOptions {
  readonly sql: postgres.Sql;
  readonly encryption: Encryption;
  /** By default that of a new stage. */
  readonly account?: number;
  /**
   * The term of the leader that writes. Writes by a former leader are rejected: they would reset a ratchet
   * that the new leader has advanced, and phones could not decrypt its next messages.
   */
  readonly epoch?: number;
  /** How long a write of keys waits for the database; by default as long as any query. */
  readonly writeTimeoutMs?: number;
}

/** Credentials and keys for the lifetime of one connection. */
export interface Lease {
  readonly state: baileys.AuthenticationState;
  /** Stores the credentials as they are now. */
  saveCreds(): Promise<void>;
  /** Rejects every later write and waits for those in progress. */
  release(): Promise<void>;
}

/** The credentials and Signal keys of the WhatsApp link in the database, each value encrypted. */
export interface AuthState {
  /** Whether a phone has linked this device, so that a login can be tried. */
  isPaired(): boolean;
  /** Leases credentials and keys to a connection; the previous lease must have been released. */
  acquire(): Lease;
  /**
   * Deletes credentials and keys: the next lease is unlinked.
   *
   * @param holdCode the platform's answer, if logins are held because of it.
   */
  clear(holdCode?: number): Promise<void>;
}

interface Change {
  type: string;
  id: string;
  /** Base64 of the encrypted value; null deletes it. */
  value: string | null;
}

const credsKey = { type: "creds", id: "creds" };

const accountOf = ({ account = firstAccount }: AuthStateOptions) => account;
/** Keys of one account cannot be exchanged for those of another. */
const contextOf = (options: AuthStateOptions, type: string, id: string) =>
  `auth_key/${accountOf(options)}/${type}/${id}`;

const notLeader = () => new Error("another leader owns the auth keys");

/** Writes all changes or none, in one statement: once it resolves they survive a crash. */
const write = async (options: AuthStateOptions, changes: readonly Change[]): Promise<void> => {
  if (changes.length === 0) return;
  const { sql, epoch, writeTimeoutMs } = options;
  const account = accountOf(options);
  const leader =
    epoch === undefined
      ? sql`select`
      : sql`select from messaging.leadership where epoch = ${epoch} for share`;
  const writing = sql<{ written: boolean }[]>`
    with leader as materialized (${leader}),
    change as materialized (
      select c.* from jsonb_to_recordset(${JSON.stringify(changes)}::text::jsonb)
        as c (type text, id text, value text), leader
    ),
    removed as (
      -- a join might read the whole table
      delete from messaging.auth_key where ctid = any(array(
        select former.ctid from change c cross join lateral (
          select k.ctid from messaging.auth_key k
          where k.account = ${account} and k.type = c.type and k.id = c.id
          order by version desc limit case when c.value is not null then 1 end) former))
    ),
    stored as (
      insert into messaging.auth_key (account, type, id, value)
      select ${account}, type, id, decode(value, 'base64') from change where value is not null
    )
    select exists (select from leader) as written`;
  const [row] = await inTime(writing, writeTimeoutMs);
  if (!row?.written) throw notLeader();
};

const toValue = (options: AuthStateOptions, type: string, id: string, stored: Buffer): unknown =>
  JSON.parse(
    options.encryption.decrypt(contextOf(options, type, id), stored).toString("utf8"),
    baileys.BufferJSON.reviver,
  );

const read = async (
  options: AuthStateOptions,
  type: string,
  ids: readonly string[],
): Promise<Record<string, unknown>> => {
  if (ids.length === 0) return {};
  const { sql } = options;
  const rows = await inTime(sql<{ id: string; value: Buffer }[]>`
    select asked.id, newest.value from jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb) asked (id)
    cross join lateral (
      select value from messaging.auth_key
      where account = ${accountOf(options)} and type = ${type} and auth_key.id = asked.id
      order by version desc limit 1) newest`);
  return Object.fromEntries(rows.map(({ id, value }) => [id, toValue(options, type, id, value)]));
};

const toChange = (options: AuthStateOptions, type: string, id: string, value: unknown): Change => {
  if (value === null || value === undefined) return { type, id, value: null };
  const plaintext = Buffer.from(JSON.stringify(value, baileys.BufferJSON.replacer));
  const encrypted = options.encryption.encrypt(contextOf(options, type, id), plaintext);
  return { type, id, value: encrypted.toString("base64") };
};

const readKeys = async <T extends keyof baileys.SignalDataTypeMap>(
  options: AuthStateOptions,
  type: T,
  ids: readonly string[],
): Promise<Record<string, baileys.SignalDataTypeMap[T]>> => {
  const values = await read(options, type, ids);
  if (type === "app-state-sync-key")
    for (const [id, value] of Object.entries(values))
      values[id] = baileys.proto.Message.AppStateSyncKeyData.fromObject(value as Record<string, unknown>);
  return values as Record<string, baileys.SignalDataTypeMap[T]>;
};

const readCreds = async (options: AuthStateOptions): Promise<baileys.AuthenticationCreds> => {
  const stored = await read(options, credsKey.type, [credsKey.id]);
  return (stored[credsKey.id] as baileys.AuthenticationCreds | undefined) ?? baileys.initAuthCreds();
};

/** Performs all changes or none, unless another leader owns the keys. */
const asLeader = ({ sql, epoch }: AuthStateOptions, work: (tx: postgres.TransactionSql) => Promise<void>) =>
  sql.begin(async (tx) => {
    if (epoch !== undefined) {
      const held = await tx`select from messaging.leadership where epoch = ${epoch} for share`;
      if (held.length === 0) throw notLeader();
    }
    return work(tx);
  });

/**
 * Loads the credentials of the WhatsApp link, or creates those of an unlinked device.
 *
 * @throws Error when the stored credentials cannot be decrypted: they are never silently replaced.
 */
export const openAuthState = async (options: AuthStateOptions): Promise<AuthState> => {
  let creds = await readCreds(options);
  const account = accountOf(options);

  const acquire = (): Lease => {
    const leased = creds;
    const pending = new Set<Promise<void>>();
    let isReleased = false;
    const change = (changes: readonly Change[]): Promise<void> => {
      if (isReleased) return Promise.reject(new Error("the lease of the auth keys was released"));
      const written = write(options, changes).finally(() => pending.delete(written));
      pending.add(written);
      return written;
    };
    let saved = Promise.resolve();
    return {
      state: {
        creds: leased,
        keys: {
          get: (type, ids) => readKeys(options, type, ids),
          set: (data: baileys.SignalDataSet) =>
            change(
              Object.entries(data).flatMap(([type, values]) =>
                Object.entries(values).map(([id, value]) => toChange(options, type, id, value)),
              ),
            ),
        },
      },
      saveCreds() {
        // one after the other, so that the last state wins
        saved = saved
          .catch(() => {})
          .then(() => change([toChange(options, credsKey.type, credsKey.id, leased)]));
        return saved;
      },
      async release() {
        await saved.catch(() => {});
        isReleased = true;
        await Promise.allSettled(pending);
      },
    };
  };

  return {
    isPaired: () => creds.me !== undefined && creds.account !== undefined,
    acquire,
    async clear(holdCode) {
      await asLeader(options, async (tx) => {
        await tx`delete from messaging.auth_key where account = ${account}`;
        // until it connects with a number again, the account is given no messages
        await tx`update messaging.account set number = null where id = ${account}`;
        if (holdCode !== undefined) await openLoginHolds(tx, account).hold(holdCode, undefined);
      });
      creds = baileys.initAuthCreds();
    },
  };
};
