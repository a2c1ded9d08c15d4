import {
  type AuthenticationCreds,
  type AuthenticationState,
  BufferJSON,
  initAuthCreds,
  proto,
  type SignalDataSet,
  type SignalDataTypeMap,
} from "baileys";
import type postgres from "postgres";
import type { Sealing } from "#lib/encryption.ts";

export interface AuthStateOptions {
  readonly sql: postgres.Sql;
  readonly sealing: Sealing;
  /**
   * The term of the leader that writes. Once another leads, every write is refused: a late write would set a
   * ratchet back that the new leader has turned on, and its next messages could not be read.
   */
  readonly epoch?: number;
}

/** The credentials and keys for one connection. */
export interface Lease {
  readonly state: AuthenticationState;
  /** Keeps the credentials as they are now. */
  saveCreds(): Promise<void>;
  /** Refuses every later write and waits for those under way. */
  takeBack(): Promise<void>;
}

/** The session's credentials and Signal keys in the database, each value sealed. */
export interface AuthState {
  /** Whether a phone has linked this session, and a login may be tried. */
  isPaired(): boolean;
  /** Lends credentials and keys to a connection; the one before must have been taken back. */
  lend(): Lease;
  /** Forgets the session: what is lent next is unlinked. */
  clear(): Promise<void>;
}

interface Change {
  type: string;
  id: string;
  /** Base64 of the sealed value; null removes it. */
  value: string | null;
}

const credsPlace = { type: "creds", id: "creds" };
const placeOf = (type: string, id: string) => `auth_key/${type}/${id}`;

/** A database that does not answer must hold up neither a message nor the end of a connection. */
const deadlineMs = 5_000;

/** What a query gives in time. One that is late is cancelled, lest it overtake a newer one. */
const inTime = async <T extends readonly postgres.MaybeRow[]>(query: postgres.PendingQuery<T>) => {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      query.cancel();
      reject(new Error(`the database did not answer within ${deadlineMs} ms`));
    }, deadlineMs);
  });
  try {
    return await Promise.race([query, deadline]);
  } finally {
    clearTimeout(timer);
    query.catch(() => {}); // it may still fail after the deadline
  }
};

/** Writes all changes or none, in one statement: when it resolves they outlive a crash. */
const write = async ({ sql, epoch }: AuthStateOptions, changes: readonly Change[]): Promise<void> => {
  if (changes.length === 0) return;
  const leader =
    epoch === undefined
      ? sql`select`
      : sql`select from messaging.leadership where epoch = ${epoch} for share`;
  const [row] = await inTime(sql<{ written: boolean }[]>`
    with leader as materialized (${leader}),
    change as materialized (
      select c.* from jsonb_to_recordset(${JSON.stringify(changes)}::text::jsonb)
        as c (type text, id text, value text), leader
    ),
    removed as (
      delete from messaging.auth_key k using change c
      where k.type = c.type and k.id = c.id and c.value is null
    ),
    kept as (
      insert into messaging.auth_key (type, id, value)
      select type, id, decode(value, 'base64') from change where value is not null
      on conflict (type, id) do update set value = excluded.value
    )
    select exists (select from leader) as written`);
  if (!row?.written) throw new Error("the session's keys belong to another leader");
};

const read = async (
  { sql, sealing }: AuthStateOptions,
  type: string,
  ids: readonly string[],
): Promise<Record<string, unknown>> => {
  if (ids.length === 0) return {};
  const rows = await inTime(sql<{ id: string; value: Buffer }[]>`
    select id, value from messaging.auth_key
    where type = ${type} and id in (select jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb))`);
  return Object.fromEntries(
    rows.map(({ id, value }) => {
      const text = sealing.open(placeOf(type, id), value).toString("utf8");
      return [id, JSON.parse(text, BufferJSON.reviver)];
    }),
  );
};

const seal = ({ sealing }: AuthStateOptions, type: string, id: string, value: unknown): Change => {
  if (value === null || value === undefined) return { type, id, value: null };
  const clear = Buffer.from(JSON.stringify(value, BufferJSON.replacer));
  return { type, id, value: sealing.seal(placeOf(type, id), clear).toString("base64") };
};

const readKeys = async <T extends keyof SignalDataTypeMap>(
  options: AuthStateOptions,
  type: T,
  ids: readonly string[],
): Promise<Record<string, SignalDataTypeMap[T]>> => {
  const values = await read(options, type, ids);
  if (type === "app-state-sync-key")
    for (const [id, value] of Object.entries(values))
      values[id] = proto.Message.AppStateSyncKeyData.fromObject(value as Record<string, unknown>);
  return values as Record<string, SignalDataTypeMap[T]>;
};

/**
 * Reads the session's state, or begins an unlinked one.
 *
 * @throws Error when the stored credentials do not open with the key: they are never silently replaced.
 */
export const openAuthState = async (options: AuthStateOptions): Promise<AuthState> => {
  const stored = await read(options, credsPlace.type, [credsPlace.id]);
  let creds = (stored[credsPlace.id] as AuthenticationCreds | undefined) ?? initAuthCreds();

  const lend = (): Lease => {
    const lent = creds;
    const underWay = new Set<Promise<void>>();
    let isOver = false;
    const change = (changes: readonly Change[]): Promise<void> => {
      if (isOver) return Promise.reject(new Error("the connection that these keys were lent to is over"));
      const written = write(options, changes).finally(() => underWay.delete(written));
      underWay.add(written);
      return written;
    };
    let saved = Promise.resolve();
    return {
      state: {
        creds: lent,
        keys: {
          get: (type, ids) => readKeys(options, type, ids),
          set: (data: SignalDataSet) =>
            change(
              Object.entries(data).flatMap(([type, values]) =>
                Object.entries(values).map(([id, value]) => seal(options, type, id, value)),
              ),
            ),
        },
      },
      saveCreds() {
        // one after the other: the last state is the one that stays
        saved = saved
          .catch(() => {})
          .then(() => change([seal(options, credsPlace.type, credsPlace.id, lent)]));
        return saved;
      },
      async takeBack() {
        await saved.catch(() => {});
        isOver = true;
        await Promise.allSettled(underWay);
      },
    };
  };

  return {
    isPaired: () => creds.me !== undefined && creds.account !== undefined,
    lend,
    async clear() {
      const { sql, epoch } = options;
      await sql.begin(async (tx) => {
        if (epoch !== undefined) {
          const held = await tx`select from messaging.leadership where epoch = ${epoch} for share`;
          if (held.length === 0) throw new Error("the session's keys belong to another leader");
        }
        await tx`delete from messaging.auth_key`;
      });
      creds = initAuthCreds();
    },
  };
};
