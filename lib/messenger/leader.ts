import { hostname } from "node:os";
import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { log } from "#lib/log.ts";

/** Whoever holds this lock leads. */
const lockKey = 7_206_304;
const tryEveryMs = 1_000;
const proveEveryMs = 1_000;
const handoverMs = 300;
/** A connection that does not answer for so long is lost: the lock may be somebody else's soon. */
const silenceMs = 2_000;

export interface LeaderOptions {
  /**
   * Opens a connection of its own: the lock lives and dies with it.
   *
   * @param onClose is told at once when it is closed, as by a server that ends: whoever waits may lead then.
   */
  readonly connect: (onClose: () => void) => Promise<postgres.Sql>;
  /** Connects to WhatsApp and sends until the signal says that this task leads no more; then it must end at once. */
  readonly lead: (epoch: number, signal: AbortSignal) => Promise<void>;
  /** Ends the candidacy. */
  readonly signal: AbortSignal;
}

interface Term {
  readonly epoch: number;
  /** The server's process behind the connection: another one after the driver has connected anew. */
  readonly pid: number;
}

const take = async (sql: postgres.Sql): Promise<Term | undefined> => {
  const [lock] = await sql<{ taken: boolean; pid: number }[]>`
    select pg_try_advisory_lock(${lockKey}) as taken, pg_backend_pid() as pid`;
  if (!lock?.taken) return undefined;
  // the server is to notice a connection that died without a word, before anybody else waits for long
  await sql`set tcp_keepalives_idle = 3`;
  await sql`set tcp_keepalives_interval = 2`;
  await sql`set tcp_keepalives_count = 2`;
  const [row] = await sql<{ epoch: number }[]>`
    insert into messaging.leadership as held (epoch, holder) values (1, ${hostname()})
    on conflict (only_row) do update set epoch = held.epoch + 1, holder = excluded.holder, since = now()
    returning epoch`;
  const term = row && { epoch: row.epoch, pid: lock.pid };
  return term && (await holds(sql, term)) ? term : undefined;
};

/** Whether the connection that took the lock is still there. */
const holds = (sql: postgres.Sql, { pid }: Term): Promise<boolean> =>
  Promise.race([
    sql<{ same: boolean }[]>`select pg_backend_pid() = ${pid} as same`.then(
      ([row]) => row?.same === true,
      () => false,
    ),
    setTimeout(silenceMs, false, { ref: false }),
  ]);

/** Resolves when the connection, and with it the lock, is lost. */
const untilLost = async (sql: postgres.Sql, term: Term, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted && (await holds(sql, term)))
    await setTimeout(proveEveryMs, undefined, { signal }).catch(() => {});
};

/** Leads once, if the lock is free. */
const attempt = async ({ connect, lead, signal }: LeaderOptions): Promise<void> => {
  const lost = new AbortController();
  const end = () => lost.abort();
  const sql = await connect(end);
  try {
    const term = await take(sql);
    if (!term) return;
    const { epoch } = term;
    // whoever led before hears that his connection was closed as soon as the lock is free, but not sooner
    if (epoch > 1) await setTimeout(handoverMs);
    log.info("leading", { epoch });
    const ended = AbortSignal.any([signal, lost.signal]);
    const watching = untilLost(sql, term, ended).then(end);
    try {
      if (!ended.aborted) await lead(epoch, ended);
    } finally {
      end();
      await watching;
      log.info("leading no more", { epoch });
    }
  } finally {
    // the lock goes with the connection, and only after the messenger has ended
    await sql.end({ timeout: 0 }).catch(() => {});
  }
};

/** Stands for leader, again and again, until the signal ends it. */
export const standForLeader = async (options: LeaderOptions): Promise<void> => {
  while (!options.signal.aborted) {
    await attempt(options).catch((error: unknown) => log.warn("cannot lead", { error }));
    await setTimeout(tryEveryMs, undefined, { signal: options.signal }).catch(() => {});
  }
};
