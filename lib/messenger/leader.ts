import { hostname } from "node:os";
import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { deadline } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { type Account, listAccounts } from "./account/account.ts";

/** The first key of the locks; the second is the account. */
const leaderKey = 7_206_304;
/** Each task holds one, with its connection's process as the second key: so they count each other. */
const taskKey = 7_206_305;
/** In place of an account, for the work that one task does for all. */
const upkeep = 0;

const retryMs = 1_000;
const checkMs = 1_000;
const handoverMs = 300;
/** A connection that does not respond for this long counts as lost: another task may get the locks soon. */
const timeoutMs = 2_000;

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
}

interface Seats {
  /** Those to lead. */
  readonly accounts: readonly Account[];
  /** Tasks that live, this one included. */
  readonly tasks: number;
}

interface Term {
  readonly end: () => void;
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

/** @returns undefined once the connection that took the locks is no longer open. */
const findSeats = async (sql: postgres.Sql, pid: number): Promise<Seats | undefined> => {
  const read = async () => {
    const [row] = await sql<{ same: boolean; tasks: number }[]>`
      select pg_backend_pid() = ${pid} as same, (
        select count(*)::int from pg_locks
        where locktype = 'advisory' and classid = ${taskKey} and objsubid = 2 and granted
          and database = (select oid from pg_database where datname = current_database())) as tasks`;
    return row?.same ? { accounts: await listAccounts(sql), tasks: row.tasks } : undefined;
  };
  return deadline(read(), timeoutMs).catch(() => undefined);
};

const takeLock = async (sql: postgres.Sql, seat: number): Promise<boolean> => {
  const [lock] = await sql<{ taken: boolean }[]>`
    select pg_try_advisory_lock(${leaderKey}, ${seat}) as taken`;
  return lock?.taken === true;
};

const giveLock = async (sql: postgres.Sql, seat: number): Promise<void> => {
  await sql`select pg_advisory_unlock(${leaderKey}, ${seat})`;
};

/** Starts a term. @returns its epoch, and whether there was a term before. */
const beginTerm = async (sql: postgres.Sql, { id }: Account) => {
  const [row] = await sql<{ epoch: number; isNext: boolean }[]>`
    insert into messaging.leadership as held (account, holder) values (${id}, ${hostname()})
    on conflict (account) do update set epoch = excluded.epoch, holder = excluded.holder, since = now()
    returning epoch, xmax <> 0 as "isNext"`;
  if (!row) throw new Error("the term was not stored");
  return row;
};

/** The terms of one connection. */
class Terms {
  readonly #options: LeaderOptions;
  readonly #sql: postgres.Sql;
  readonly #lost: AbortSignal;
  readonly #terms = new Map<number, Term>();

  constructor(options: LeaderOptions, sql: postgres.Sql, lost: AbortSignal) {
    this.#options = options;
    this.#sql = sql;
    this.#lost = lost;
  }

  /**
   * Leads its share of the accounts: those that nobody leads, until it has as many as any other task. Of more than its share
   * it gives the newest back, one after another, and those that are retired.
   */
  async balance({ accounts, tasks }: Seats): Promise<void> {
    if (!this.#terms.has(upkeep) && (await takeLock(this.#sql, upkeep)))
      this.#begin(upkeep, (signal) => this.#options.keepUp(signal));
    const share = Math.ceil(accounts.length / Math.max(1, tasks));
    const led = this.#listLed();
    const retired = led.find((seat) => !accounts.some(({ id }) => id === seat));
    const surplus = retired ?? (led.length > share ? led.at(-1) : undefined);
    if (surplus !== undefined) return this.#giveBack(surplus);
    for (const account of accounts) {
      if (this.#lost.aborted || this.#listLed().length >= share) return;
      if (!this.#terms.has(account.id) && (await takeLock(this.#sql, account.id)))
        this.#begin(account.id, (signal) => this.#lead(account, signal));
    }
  }

  #listLed(): number[] {
    return [...this.#terms.keys()].filter((seat) => seat !== upkeep);
  }

  /** Resolves when the work of all terms has stopped. */
  async end(): Promise<void> {
    for (const { end } of this.#terms.values()) end();
    await Promise.all([...this.#terms.values()].map(({ ended }) => ended));
  }

  async #giveBack(seat: number): Promise<void> {
    const term = this.#terms.get(seat);
    term?.end();
    await term?.ended;
  }

  async #lead(account: Account, signal: AbortSignal): Promise<void> {
    const { name } = account;
    const { epoch, isNext } = await deadline(beginTerm(this.#sql, account), timeoutMs);
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
    this.#terms.set(seat, { end: () => own.abort(), ended });
  }
}

/** Leads accounts for as long as one connection lives. */
const serve = async (options: LeaderOptions): Promise<void> => {
  const lost = new AbortController();
  const end = () => lost.abort();
  const sql = await options.connect(end);
  const ended = AbortSignal.any([options.signal, lost.signal]);
  const terms = new Terms(options, sql, ended);
  try {
    const pid = await join(sql);
    while (!ended.aborted) {
      const seats = await findSeats(sql, pid);
      if (!seats) break;
      if (!ended.aborted) await terms.balance(seats);
      await setTimeout(checkMs, undefined, { signal: ended }).catch(() => {});
    }
  } finally {
    end();
    await terms.end();
    // closing the connection releases the locks, so only after the leader's work has stopped
    await sql.end({ timeout: 0 }).catch(() => {});
  }
};

/** Leads this task's share of the accounts, one leader for each, until the signal is aborted. */
export const runLeaderElection = async (options: LeaderOptions): Promise<void> => {
  while (!options.signal.aborted) {
    await serve(options).catch((error: unknown) => log.warn("cannot lead", { error }));
    await setTimeout(retryMs, undefined, { signal: options.signal }).catch(() => {});
  }
};
