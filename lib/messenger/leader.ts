import { hostname } from "node:os";
import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { deadline } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";

const lockKey = 7_206_304;
const retryMs = 1_000;
const checkMs = 1_000;
const handoverMs = 300;
/** A connection that does not respond for this long counts as lost: another task may get the lock soon. */
const timeoutMs = 2_000;

export interface LeaderOptions {
  /**
   * Opens a dedicated connection: the lock is released when it closes.
   *
   * @param onClose is called as soon as it is closed, such as by a server shutdown: then another task may lead.
   */
  readonly connect: (onClose: () => void) => Promise<postgres.Sql>;
  /** Does the leader's work until the signal is aborted; then it must stop at once. */
  readonly lead: (epoch: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

interface Term {
  readonly epoch: number;
  /** The server process of the connection: it changes when the driver reconnects. */
  readonly pid: number;
}

/** Takes the lock, if it is free, and starts a term. */
const beginTerm = async (sql: postgres.Sql): Promise<Term | undefined> => {
  const [lock] = await sql<{ taken: boolean; pid: number }[]>`
    select pg_try_advisory_lock(${lockKey}) as taken, pg_backend_pid() as pid`;
  if (!lock?.taken) return undefined;
  // the server detects a dead connection, and releases the lock, within 7 s
  await sql`set tcp_keepalives_idle = 3`;
  await sql`set tcp_keepalives_interval = 2`;
  await sql`set tcp_keepalives_count = 2`;
  const [row] = await sql<{ epoch: number }[]>`
    insert into messaging.leadership as held (epoch, holder) values (1, ${hostname()})
    on conflict (only_row) do update set epoch = held.epoch + 1, holder = excluded.holder, since = now()
    returning epoch`;
  const term = row && { epoch: row.epoch, pid: lock.pid };
  return term && (await holdsLock(sql, term)) ? term : undefined;
};

/** Whether the connection that took the lock is still open. */
const holdsLock = (sql: postgres.Sql, { pid }: Term): Promise<boolean> =>
  deadline(sql<{ same: boolean }[]>`select pg_backend_pid() = ${pid} as same`, timeoutMs).then(
    ([row]) => row?.same === true,
    () => false,
  );

/** Resolves when the connection, and with it the lock, is lost. */
const untilLost = async (sql: postgres.Sql, term: Term, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted && (await holdsLock(sql, term)))
    await setTimeout(checkMs, undefined, { signal }).catch(() => {});
};

/** Leads for one term, if the lock is free. */
const tryToLead = async ({ connect, lead, signal }: LeaderOptions): Promise<void> => {
  const lost = new AbortController();
  const end = () => lost.abort();
  const sql = await connect(end);
  try {
    const term = await beginTerm(sql);
    if (!term) return;
    const { epoch } = term;
    // the former leader is notified of its closed connection when the lock is released, not before
    if (epoch > 1) await setTimeout(handoverMs);
    log.info("leading", { epoch });
    const ended = AbortSignal.any([signal, lost.signal]);
    const watching = untilLost(sql, term, ended).then(end);
    try {
      if (!ended.aborted) await lead(epoch, ended);
    } finally {
      end();
      await watching;
      log.info("no longer leading", { epoch });
    }
  } finally {
    // closing the connection releases the lock, so only after the leader's work has stopped
    await sql.end({ timeout: 0 }).catch(() => {});
  }
};

/** Tries to become the leader, again after each term, until the signal is aborted. */
export const runLeaderElection = async (options: LeaderOptions): Promise<void> => {
  while (!options.signal.aborted) {
    await tryToLead(options).catch((error: unknown) => log.warn("cannot lead", { error }));
    await setTimeout(retryMs, undefined, { signal: options.signal }).catch(() => {});
  }
};
