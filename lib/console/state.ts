import type postgres from "postgres";
import { errorCode } from "#lib/channels/channel.ts";
import { isLostConnection, tooManyConnections } from "#lib/db/outage.ts";
import { deadline } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import type { AccountSummary } from "#lib/messenger/account/account-admin.ts";
import { findAnswer, findUnresolved, type Unresolved } from "#lib/messenger/outbox/answer.ts";
import {
  type Depth,
  findPause,
  listDepths,
  type QueueMetrics,
  readQueue,
} from "#lib/messenger/outbox/depth.ts";
import { listSenders } from "#lib/messenger/outbox/list.ts";
import type { MessageSummary, Obstacle } from "#lib/messenger/outbox/message.ts";
import type { MessageFilter } from "./login/operator-login.ts";
import { listAccountRows } from "./panels/accounts.ts";
import { type Act, listActs } from "./panels/acts.ts";
import { type CallbackSummary, listCallbacks } from "./panels/callbacks.ts";
import { type ClosedHours, type Hour, listHours } from "./panels/chart.ts";
import { countFailures, type Failures, listMessages } from "./panels/messages.ts";
import { type FailedJob, listFailedJobs, listRuns, type RunSummary } from "./panels/runs.ts";
import { listSenderSummaries, type SenderSummary } from "./panels/senders.ts";

/** Of each statement and of all together: the page polls every 2 s. */
const timeoutMs = 2_000;
/** With which the server cancels a statement that takes longer. */
const tooSlow = "57014";
/** Of a database that answers others. */
const busyCodes: readonly (string | undefined)[] = [tooSlow, tooManyConnections];

export interface Connection {
  /** `replaced`: another program uses the same link. `pairing`: no phone is linked. `stopped`: see `answer`. */
  readonly kind:
    | ("closed" | "connecting" | "pairing" | "open" | "replaced" | "stopped")
    /** Of an account that is reached by requests. */
    | ("usable" | "unreachable" | "rejected");
  /** The platform's code for the last connection; see whatsapp/codes.ts. */
  readonly answer?: number | undefined;
  /** When the next login is tried. ISO 8601 with zone. */
  readonly retryAt?: string | undefined;
  /** Of one that is closed: no phone is linked. */
  readonly unlinked?: true | undefined;
  /** While pairing: WhatsApp demands a passkey. */
  readonly passkey?: true | undefined;
  /** Of one that is tried again and again, since it was last open. ISO 8601 with zone. */
  readonly since: string;
  /** The linked number, masked. */
  readonly phone?: string | undefined;
  /** The content of the QR code, while pairing. */
  readonly qr?: string | undefined;
  /** The last requested pairing code, while it is valid. */
  readonly code?: string | undefined;
}

/** How the platform limits the account, and which of its services have failed. */
interface Limits {
  readonly outages?: readonly {
    readonly service: "directory" | "media";
    /** Until it is tried again. */
    readonly seconds: number;
    readonly ageSeconds: number;
  }[];
  /** How long nothing is sent, because the account sent too fast. */
  readonly stoppedSeconds?: number;
  /** How long messages to new contacts are paused. */
  readonly pausedSeconds?: number;
  readonly cap?: { readonly total: number; readonly used: number; readonly endsInSeconds: number };
}

/** What the console shows of the database. */
interface Outbox extends Unresolved {
  readonly paused: boolean;
  readonly pausedSince: Date | null;
  readonly pausedBy: string | null;
  /** What persons are answered who write to the city's number; null if they are not. */
  readonly answer: string | null;
  /** When the platform's limit on new contacts of the linked account began. */
  readonly limitedSince: Date | null;
  /** When sending stopped because the account sent too fast. */
  readonly stoppedSince: Date | null;
  readonly queue: readonly Depth[];
  readonly due: QueueMetrics | undefined;
  /** The latest, newest first, or those that match the operator's search. */
  readonly messages: readonly MessageSummary[];
  readonly accounts: readonly AccountSummary[];
  readonly senders: readonly string[];
  readonly hours: readonly Hour[];
  /** The latest of notification jobs that had recipients or failed, newest first. */
  readonly runs: readonly RunSummary[];
  readonly failedJobs: readonly FailedJob[];
  /** What each sender may send and has sent today. */
  readonly terms: readonly SenderSummary[];
  readonly callbacks: readonly CallbackSummary[];
  /** The latest actions of operators, newest first. */
  readonly acts: readonly Act[];
  /** Undefined if they are unknown. */
  readonly failures: Failures | undefined;
}

/** What the console shows of this task. */
interface Own {
  /** The name of the account that is shown; undefined if this task leads none and none was chosen. */
  readonly account?: string | undefined;
  readonly connection: Connection;
  readonly leader: boolean;
  /** Of the platform, if this task is the leader. */
  readonly limits?: Limits | undefined;
  /** Names of the notification jobs. */
  readonly jobs: readonly string[];
}

export interface ConsoleState extends Own, Outbox {
  /** Why what comes from the database is unknown. */
  readonly unread?: "unavailable" | "slow" | undefined;
}

export interface Sources {
  readonly own: Own;
  /** The linked number, if this task is the leader. */
  readonly number?: string | undefined;
  /** Whether the database answers the messenger's other queries. */
  readonly isDatabaseUp: () => Promise<boolean>;
  /** Explains why messages wait, by id. */
  readonly explain: (
    sql: postgres.ISql,
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, readonly Obstacle[]>>;
  readonly filter: MessageFilter;
}

type LimitTimes = Pick<Outbox, "limitedSince" | "stoppedSince">;

const findLimits = async (sql: postgres.ISql, number = ""): Promise<LimitTimes> => {
  const [row] = await sql<LimitTimes[]>`
    select case when locked_until > now() then locked_at when paused_until > now() then paused_at
      -- the contact that has used up the cap
      else (select max(since) from messaging.contact c where c.number = a.phone) end as "limitedSince", stopped_at as "stoppedSince"
    from messaging.number a where phone = ${number}`;
  return row ?? { limitedSince: null, stoppedSince: null };
};

const readMessages = async (
  sql: postgres.ISql,
  { explain, filter }: Pick<Sources, "explain" | "filter">,
): Promise<MessageSummary[]> => {
  const messages = await listMessages(sql, filter);
  const obstacles = await explain(
    sql,
    messages.filter(({ state }) => state === "PENDING").map(({ id }) => id),
  );
  return messages.map((message) => ({ ...message, obstacles: obstacles.get(message.id) }));
};

const readSenders = async (
  sql: postgres.ISql,
): Promise<Pick<Outbox, "accounts" | "senders" | "terms" | "callbacks">> => {
  const [accounts, senders, terms, callbacks] = await Promise.all([
    listAccountRows(sql),
    listSenders(sql),
    listSenderSummaries(sql),
    listCallbacks(sql),
  ]);
  return { accounts, senders, terms, callbacks };
};

const readTables = async (sql: postgres.ISql, sources: Sources, closed: ClosedHours): Promise<Outbox> => {
  const [
    pause,
    answer,
    unresolved,
    limits,
    queue,
    due,
    messages,
    senders,
    hours,
    runs,
    failedJobs,
    acts,
    failures,
  ] = await Promise.all([
    findPause(sql),
    findAnswer(sql),
    findUnresolved(sql),
    findLimits(sql, sources.number),
    listDepths(sql),
    readQueue(sql),
    readMessages(sql, sources),
    readSenders(sql),
    listHours(sql, closed),
    listRuns(sql),
    listFailedJobs(sql),
    listActs(sql),
    countFailures(sql),
  ]);
  return {
    ...pause,
    answer,
    ...unresolved,
    ...limits,
    queue,
    due,
    messages,
    ...senders,
    hours,
    runs,
    failedJobs,
    acts,
    failures,
  };
};

const closedHours = new WeakMap<postgres.Sql, ClosedHours>();

/** Reads in one transaction: with the first statement that takes too long all others end. */
const readOutbox = (sql: postgres.Sql, sources: Sources) => {
  const closed = closedHours.get(sql) ?? new Map();
  closedHours.set(sql, closed);
  return sql.begin("read only", async (reading): Promise<Outbox> => {
    await reading`select set_config('statement_timeout', ${String(timeoutMs)}, true)`;
    return readTables(reading, sources, closed);
  });
};

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error ? errorCode(error) : undefined;

/** Reads again after a lost connection: that a failover has ended one is noticed only when it is used. */
const readOutboxAgain = (sql: postgres.Sql, sources: Sources): Promise<Outbox> =>
  readOutbox(sql, sources).catch((error: unknown) => {
    if (!isLostConnection(codeOf(error))) throw error;
    return readOutbox(sql, sources);
  });

/** Reads in progress, by search: polling pages add no queries to a database that hangs. */
const pending = new WeakMap<postgres.Sql, Map<string, Promise<Outbox>>>();

const readOnce = (sql: postgres.Sql, sources: Sources): Promise<Outbox> => {
  const readings = pending.get(sql) ?? new Map<string, Promise<Outbox>>();
  pending.set(sql, readings);
  const key = JSON.stringify([sources.filter, sources.number]);
  const reading = readings.get(key) ?? readOutboxAgain(sql, sources).finally(() => readings.delete(key));
  readings.set(key, reading);
  return reading;
};

const unknown: Outbox = {
  paused: false,
  pausedSince: null,
  pausedBy: null,
  answer: null,
  unresolved: 0,
  unresolvedAt: null,
  limitedSince: null,
  stoppedSince: null,
  queue: [],
  due: undefined,
  messages: [],
  accounts: [],
  senders: [],
  hours: [],
  runs: [],
  failedJobs: [],
  terms: [],
  callbacks: [],
  acts: [],
  failures: undefined,
};

/**
 * Reads the state for the console; without the database, only that of this task.
 *
 * @param sql connections that nothing else uses: these reads must not delay a message.
 * @throws Error if the database rejects a query.
 */
export const readConsoleState = async (sql: postgres.Sql, sources: Sources): Promise<ConsoleState> => {
  const { own, isDatabaseUp } = sources;
  const onTimeout = () => Object.assign(new Error(`not read within ${timeoutMs} ms`), { code: tooSlow });
  try {
    return { ...own, ...(await deadline(readOnce(sql, sources), timeoutMs, onTimeout)) };
  } catch (error) {
    log.warn("cannot read the outbox for the console", { error });
    const code = codeOf(error);
    if (isLostConnection(code) || !(await isDatabaseUp()))
      return { ...own, ...unknown, unread: "unavailable" };
    if (!busyCodes.includes(code)) throw error;
    return { ...own, ...unknown, unread: "slow" };
  }
};
