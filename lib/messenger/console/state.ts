import type postgres from "postgres";
import { awaitWithin } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { type Depth, listDepths } from "../outbox/depth.ts";
import type { Listed } from "../outbox/message.ts";
import { isPaused } from "../outbox/pause.ts";
import { listShownRuns, type ShownRun } from "./runs.ts";

/** A database that takes longer is away: the page is to say so, not to wait. */
const maxWaitMs = 2_000;
const shownMessages = 50;

/** The connection to the platform. */
export interface Connection {
  /** `replaced`: another program has opened the connection. `pairing`: no phone is linked. */
  readonly kind: "closed" | "connecting" | "pairing" | "open" | "replaced";
  /** ISO 8601 with zone. */
  readonly since: string;
  /** The linked number, masked. */
  readonly phone?: string | undefined;
  /** What the QR code says, while pairing. */
  readonly qr?: string | undefined;
  /** The pairing code that was asked for last, while it is valid. */
  readonly code?: string | undefined;
}

/** Everything the console shows. */
export interface ConsoleState {
  readonly connection: Connection;
  /** Whether this task leads. */
  readonly leader: boolean;
  readonly paused: boolean;
  readonly queue: readonly Depth[];
  /** The last ones, newest first. */
  readonly messages: readonly Listed[];
  /** The last ones of notification jobs that had something to do, newest first. */
  readonly runs: readonly ShownRun[];
  /** When true, `paused`, `queue`, `messages` and `runs` are not known. */
  readonly databaseAway?: boolean | undefined;
}

type Outbox = Pick<ConsoleState, "paused" | "queue" | "messages" | "runs">;

/** The text is not even read, and the number leaves the database masked. */
const listLatest = (sql: postgres.Sql) => sql<Listed[]>`
  select id, kind, state, reason, attempts, accepted_at as "acceptedAt", changed_at as "changedAt",
    left(phone, 4) || repeat('•', length(phone) - 6) || right(phone, 2) as phone
  from messaging.message order by seq desc limit ${shownMessages}`;

const readOutbox = async (sql: postgres.Sql): Promise<Outbox> => {
  const [paused, queue, messages, runs] = await Promise.all([
    ...([isPaused(sql), listDepths(sql), listLatest(sql), listShownRuns(sql)] as const),
  ]);
  return { paused, queue, messages, runs };
};

/** A database that hangs is not asked again by a page that is left open. */
const underWay = new WeakMap<postgres.Sql, Promise<Outbox>>();

const readOnce = (sql: postgres.Sql): Promise<Outbox> => {
  const reading = underWay.get(sql) ?? readOutbox(sql).finally(() => underWay.delete(sql));
  underWay.set(sql, reading);
  return reading;
};

/** What the console shows; without the database, what the task knows by itself. */
export const readConsoleState = async (
  sql: postgres.Sql,
  own: Pick<ConsoleState, "connection" | "leader">,
): Promise<ConsoleState> => {
  try {
    return { ...own, ...(await awaitWithin(maxWaitMs, readOnce(sql))) };
  } catch (error) {
    log.warn("the console cannot read the outbox", { error });
    return { ...own, paused: false, queue: [], messages: [], runs: [], databaseAway: true };
  }
};
