import type postgres from "postgres";
import { deadline } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { type Depth, listDepths } from "../outbox/depth.ts";
import type { MessageSummary } from "../outbox/message.ts";
import { isPaused } from "../outbox/pause.ts";
import { listRuns, type RunSummary } from "./runs.ts";

/** After this the page shows the database as unavailable. */
const timeoutMs = 2_000;
const maxMessages = 50;

export interface Connection {
  /** `replaced`: another program uses the same link. `pairing`: no phone is linked. `stopped`: see `answer`. */
  readonly kind: "closed" | "connecting" | "pairing" | "open" | "replaced" | "stopped";
  /** The platform's code for the last connection; see platform-codes.ts. */
  readonly answer?: number | undefined;
  /** When the next login is tried. ISO 8601 with zone. */
  readonly retryAt?: string | undefined;
  /** While pairing: WhatsApp demands a passkey. */
  readonly passkey?: true | undefined;
  /** ISO 8601 with zone. */
  readonly since: string;
  /** The linked number, masked. */
  readonly phone?: string | undefined;
  /** The content of the QR code, while pairing. */
  readonly qr?: string | undefined;
  /** The last requested pairing code, while it is valid. */
  readonly code?: string | undefined;
}

/** How the platform limits messages to new contacts, and which of its services have failed. */
interface NewContactLimits {
  readonly outages?: readonly { readonly service: "directory" | "media"; readonly seconds: number }[];
  /** How long they are paused. */
  readonly pausedSeconds?: number;
  readonly cap?: { readonly total: number; readonly used: number; readonly endsInSeconds: number };
}

export interface ConsoleState {
  readonly connection: Connection;
  readonly leader: boolean;
  /** Of the platform for new contacts, if this task is the leader. */
  readonly limits?: NewContactLimits | undefined;
  readonly paused: boolean;
  readonly queue: readonly Depth[];
  /** The latest, newest first. */
  readonly messages: readonly MessageSummary[];
  /** The latest of notification jobs that had recipients or failed, newest first. */
  readonly runs: readonly RunSummary[];
  /** If true, `paused`, `queue`, `messages` and `runs` are unknown. */
  readonly databaseUnavailable?: boolean | undefined;
}

type Outbox = Pick<ConsoleState, "paused" | "queue" | "messages" | "runs">;

/** Reads no text, and only masked numbers. */
const listLatest = (sql: postgres.Sql) => sql<MessageSummary[]>`
  select id, kind, state, reason, attempts, accepted_at as "acceptedAt", changed_at as "changedAt",
    left(phone, 4) || repeat('•', length(phone) - 6) || right(phone, 2) as phone
  from messaging.message order by seq desc limit ${maxMessages}`;

const readOutbox = async (sql: postgres.Sql): Promise<Outbox> => {
  const [paused, queue, messages, runs] = await Promise.all([
    isPaused(sql),
    listDepths(sql),
    listLatest(sql),
    listRuns(sql),
  ]);
  return { paused, queue, messages, runs };
};

/** Reads in progress: polling pages add no queries to a database that hangs. */
const pending = new WeakMap<postgres.Sql, Promise<Outbox>>();

const readOnce = (sql: postgres.Sql): Promise<Outbox> => {
  const reading = pending.get(sql) ?? readOutbox(sql).finally(() => pending.delete(sql));
  pending.set(sql, reading);
  return reading;
};

/** Reads the state for the console; without the database, only that of this task. */
export const readConsoleState = async (
  sql: postgres.Sql,
  own: Pick<ConsoleState, "connection" | "leader" | "limits">,
): Promise<ConsoleState> => {
  try {
    return { ...own, ...(await deadline(readOnce(sql), timeoutMs)) };
  } catch (error) {
    log.warn("cannot read the outbox for the console", { error });
    return { ...own, paused: false, queue: [], messages: [], runs: [], databaseUnavailable: true };
  }
};
