import { hostname } from "node:os";
import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { advisoryLocks } from "#lib/db/advisory-locks.ts";
import { deadline } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { type Account, listAccounts } from "./account/account.ts";

/**
 * An account's leader holds one, with the account as the second key. Each task holds one, with its connection's process as the
 * second key: so they count each other.
 */
const { accountLeader: leaderKey, messengerTask: taskKey } = advisoryLocks;
/** In place of an account, for the work that one task does for all. */
const upkeep = 0;

export const leaderTiming = {
  retryMs: 1_000,
  checkMs: 1_000,
  handoverMs: 300,
  /** A connection that does not respond for this long counts as lost: another task may get the locks soon. */
  timeoutMs: 2_000,
};

export interface LeaderOptions {
  /**
   * Opens a dedicated connection: the locks are released when it closes.
   *
   * @param onClose is called as soon as it is closed, such as by a server shutdown: then other tasks may lead.
   */
  readonly connect: (onClose: () => void) => Promise<postgres.Sql>;
  /** Does the work of an account's leader until the signal is aborted; then it must stop at once. */
  readonly lead: (account: Account, epoch: number, signal: AbortSignal) => Promise<void>;
  /** Does what only one task may do, whatever it leads, until the signal is aborted. */
  readonly keepUp: (signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
  readonly timing?: typeof leaderTiming;
}

interface Seats {
  /** Those to lead. */
  readonly accounts: readonly Account[];
  /** Tasks that live, this one included. */
  readonly tasks: number;
}

interface Term {
  readonly end: () => void;
  /** Whether it was asked to end. */
  readonly isEnding: () => boolean;
  readonly ended: Promise<void>;
}

/** Counts among the tasks. @returns the server process of the connection: it changes when the driver reconnects. */
const join = async (sql: postgres.Sql): Promise<number> => {
  // the server detects a dead connection, and releases its locks, within 7 s
  await sql`set tcp_keepalives_idle = 3`;
  await sql`set tcp_keepalives_interval = 2`;
  await sql`set tcp_keepalives_count = 2`;
  const [own] = await sql<{ pid: number }[]>`
    select pg_backend_pid() as pid, pg_advisory_lock(${taskKey}, pg_backend_pid())`;
  return own?.pid ?? 0;
};

/**
 * @returns undefined once the connection that took the locks is no longer open, or its server only reads: another one is the
 * primary then, and has other locks.
 */
const findSeats = async (sql: postgres.Sql, pid: number, timeoutMs: number): Promise<Seats | undefined> => {
  const read = async () => {
    const [row] = await sql<{ same: boolean; tasks: number }[]>`
      select pg_backend_pid() = ${pid} and current_setting('transaction_read_only') = 'off' as same, (
        select count(*)::int from pg_locks
        where locktype = 'advisory' and classid = ${taskKey} and objsubid = 2 and granted
          and database = (select oid from pg_database where datname = current_database())) as tasks`;
    return row?.same ? { accounts: await listAccounts(sql), tasks: row.tasks } : undefined;
  };
  return deadline(read(), timeoutMs).catch(() => undefined);
};

const takeLock = async (sql: postgres.Sql, seat: number, timeoutMs: number): Promise<boolean> => {
  const taking = sql<{ taken: boolean }[]>`select pg_try_advisory_lock(${leaderKey}, ${seat}) as taken`;
  const [lock] = await deadline(taking, timeoutMs);
  return lock?.taken === true;
};

const giveLock = async (sql: postgres.Sql, seat: number): Promise<void> => {
  await sql`select pg_advisory_unlock(${leaderKey}, ${seat})`;
};

/** Starts a term, on the connection that took the lock. @returns its epoch, and whether there was a term before. */
const beginTerm = async (sql: postgres.Sql, pid: number, { id }: Account, timeoutMs: number) => {
  const beginning = sql<{ epoch: number; isNext: boolean }[]>`
    insert into messaging.leadership (account, holder) select ${id}, ${hostname()} where pg_backend_pid() = ${pid}
    on conflict (account) do update set epoch = excluded.epoch, holder = excluded.holder, since = now()
    returning epoch, xmax <> 0 as "isNext"`;
  const [row] = await deadline(beginning, timeoutMs);
  if (!row) throw new Error("the connection with the lock was lost");
  return row;
};

/** The terms of one connection. */
class Terms {
  readonly #options: Required<LeaderOptions>;
  readonly #sql: postgres.Sql;
  readonly #pid: number;
  readonly #lost: AbortSignal;
  readonly #terms = new Map<number, Term>();

  constructor(options: Required<LeaderOptions>, sql: postgres.Sql, pid: number, lost: AbortSignal) {
    this.#options = options;
    this.#sql = sql;
    this.#pid = pid;
    this.#lost = lost;
  }

  /**
   * Leads its share of the accounts: those that nobody leads, until it has as many as any other task. Of more than its share
   * it ends the newest terms, and those of accounts that are retired. It does not wait for their end: whether the connection
   * still has the locks must be checked meanwhile.
   */
  async balance({ accounts, tasks }: Seats): Promise<void> {
    if (!this.#terms.has(upkeep) && (await this.#take(upkeep)))
      this.#begin(upkeep, (signal) => this.#options.keepUp(signal));
    const share = Math.ceil(accounts.length / Math.max(1, tasks));
    const led = this.#listLed();
    const kept = led.filter((seat) => accounts.some(({ id }) => id === seat)).slice(0, share);
    for (const seat of led) if (!kept.includes(seat)) this.#terms.get(seat)?.end();
    for (const account of accounts) {
      if (this.#lost.aborted || this.#listLed().length >= share) return;
      if (!this.#terms.has(account.id) && (await this.#take(account.id)))
        this.#begin(account.id, (signal) => this.#lead(account, signal));
    }
  }

  #take(seat: number): Promise<boolean> {
    return takeLock(this.#sql, seat, this.#options.timing.timeoutMs);
  }

  #listLed(): number[] {
    const led = [...this.#terms].filter(([seat, { isEnding }]) => seat !== upkeep && !isEnding());
    return led.map(([seat]) => seat);
  }

  /** Resolves when the work of all terms has stopped. */
  async end(): Promise<void> {
    for (const { end } of this.#terms.values()) end();
    await Promise.all([...this.#terms.values()].map(({ ended }) => ended));
  }

  async #lead(account: Account, signal: AbortSignal): Promise<void> {
    const { name } = account;
    const { timeoutMs, handoverMs } = this.#options.timing;
    const { epoch, isNext } = await beginTerm(this.#sql, this.#pid, account, timeoutMs);
    // the former leader is notified of its closed connection when the lock is released, not before
    if (isNext) await setTimeout(handoverMs);
    log.info("leading", { account: name, epoch });
    if (!signal.aborted) await this.#options.lead(account, epoch, signal);
    log.info("no longer leading", { account: name, epoch });
  }

  #begin(seat: number, work: (signal: AbortSignal) => Promise<void>): void {
    const own = new AbortController();
    const signal = AbortSignal.any([own.signal, this.#lost]);
    const ended = work(signal)
      .catch((error: unknown) => log.warn("cannot lead", { error }))
      // one that ended by itself begins again
      .then(() => (this.#lost.aborted ? undefined : giveLock(this.#sql, seat)))
      .catch(() => {})
      .then(() => void this.#terms.delete(seat));
    this.#terms.set(seat, { end: () => own.abort(), isEnding: () => signal.aborted, ended });
  }
}

/** Leads accounts for as long as one connection lives. */
const serve = async (options: Required<LeaderOptions>): Promise<void> => {
  const { timeoutMs, checkMs } = options.timing;
  const lost = new AbortController();
  const end = () => lost.abort();
  const sql = await options.connect(end);
  const ended = AbortSignal.any([options.signal, lost.signal]);
  let terms: Terms | undefined;
  try {
    const pid = await deadline(join(sql), timeoutMs);
    terms = new Terms(options, sql, pid, ended);
    while (!ended.aborted) {
      const seats = await findSeats(sql, pid, timeoutMs);
      if (!seats) break;
      if (!ended.aborted) await terms.balance(seats);
      await setTimeout(checkMs, undefined, { signal: ended }).catch(() => {});
    }
  } finally {
    end();
    await terms?.end();
    // closing the connection releases the locks, so only after the leader's work has stopped
    await sql.end({ timeout: 0 }).catch(() => {});
  }
};

/** Leads this task's share of the accounts, one leader for each, until the signal is aborted. */
export const runLeaderElection = async ({
  timing = leaderTiming,
  ...options
}: LeaderOptions): Promise<void> => {
  while (!options.signal.aborted) {
    await serve({ ...options, timing }).catch((error: unknown) => log.warn("cannot lead", { error }));
    await setTimeout(timing.retryMs, undefined, { signal: options.signal }).catch(() => {});
  }
};
