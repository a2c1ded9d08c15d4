import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { awaitWithin } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import type { ConnectionState } from "./channels/whatsapp/whatsapp.ts";
import type { Pacing } from "./send/pacing.ts";

/** What the queue holds. Ages are those of the oldest message, from when it was due; 0 when there is none. */
interface QueueFigures {
  readonly pending: number;
  readonly sending: number;
  readonly oldest_seconds: number;
  /** Of one-time codes and transactional messages alone: reminders and bulk may wait for the pace. */
  readonly oldest_urgent_seconds: number;
  readonly paused: 0 | 1;
}

/** What became of sends, since the figures before. */
interface SendFigures {
  readonly sent: number;
  readonly failed: number;
  readonly retried: number;
}

/**
 * How the messenger is, for the alarms: what the task that leads writes to its log once a minute. That the line
 * is not written is told too: no task leads. No number, text or id is among them.
 */
export interface Figures extends SendFigures, Partial<QueueFigures> {
  /** 1 while messages can be sent. */
  readonly connected: 0 | 1;
  /** 1 while no phone is linked. */
  readonly unlinked: 0 | 1;
  /** 1 while the platform refuses new contacts. */
  readonly limited: 0 | 1;
}

const everyMs = 60_000;
/** A database that takes longer is away: the rest is told without it. */
const maxWaitMs = 2_000;
const bit = (yes: boolean) => (yes ? 1 : 0);

const readQueue = async (sql: postgres.Sql): Promise<QueueFigures | undefined> => {
  const [row] = await sql<QueueFigures[]>`
    with due as (
      select state, priority, extract(epoch from now() - greatest(accepted_at, not_before))::float8 as age
      from messaging.message where is_open and not_before <= now()
    )
    select count(*) filter (where state = 'PENDING')::int as pending,
      count(*) filter (where state = 'SENDING')::int as sending,
      coalesce(round(max(age)), 0)::int as oldest_seconds,
      coalesce(round(max(age) filter (where priority <= 1)), 0)::int as oldest_urgent_seconds,
      (select paused::int from messaging.control) as paused
    from due`;
  return row;
};

/** Counts sends by outcome from one reading to the next. */
export class SendTally {
  #counts = { sent: 0, failed: 0, retried: 0 };

  note(outcome: keyof SendFigures): void {
    this.#counts[outcome] += 1;
  }

  /** Begins again at 0. */
  take(): SendFigures {
    const taken = this.#counts;
    this.#counts = { sent: 0, failed: 0, retried: 0 };
    return taken;
  }
}

export interface FigureSources {
  readonly sql: postgres.Sql;
  readonly platform: { state(): ConnectionState };
  readonly pacing: Pacing;
  readonly tally: SendTally;
}

/** The figures as they are now; without those of the queue while the database is away. */
export const readFigures = async ({ sql, platform, pacing, tally }: FigureSources): Promise<Figures> => {
  const queue = await awaitWithin(maxWaitMs, readQueue(sql)).catch(() => undefined);
  const { kind } = platform.state();
  return {
    connected: bit(kind === "open"),
    unlinked: bit(kind === "pairing" || kind === "unpaired"),
    limited: bit(pacing.isLimited(Date.now())),
    ...tally.take(),
    ...queue,
  };
};

/** Writes the figures at once and then every minute, until the signal ends it. */
export const reportFigures = async (sources: FigureSources, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    log.info("figures", { ...(await readFigures(sources)) });
    await setTimeout(everyMs, undefined, { signal }).catch(() => {});
  }
};
