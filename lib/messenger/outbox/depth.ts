import type postgres from "postgres";

export interface Depth {
  readonly state: string;
  readonly count: number;
  /** Since it was accepted, or since it was due; 0 while all are scheduled for later. */
  readonly oldestSeconds: number;
}

/** Counts pending and sending messages; a state without messages has no row. */
export const listDepths = (sql: postgres.ISql) => sql<Depth[]>`
  select state, count(*)::int as count,
    greatest(0, extract(epoch from now() - min(greatest(accepted_at, least(not_before, now())))))::float8
      as "oldestSeconds"
  from messaging.message where is_open group by state order by state`;

/** The state of the queue. Ages are those of the oldest message since it was due; 0 for an empty queue. */
export interface QueueMetrics {
  readonly pending: number;
  readonly sending: number;
  readonly oldest_seconds: number;
  /** Of one-time codes and transactional messages only: the pace may delay reminders and bulk. */
  readonly oldest_urgent_seconds: number;
  readonly paused: 0 | 1;
  /** Age of the oldest change that its sender's address has not accepted, or of an address that ended its callbacks; or 0. */
  readonly callback_seconds: number;
}

/**
 * Ages from which an operator is needed. Urgent messages wait seconds, others expire after three days; callbacks are given
 * up after one.
 */
export const tooOldSeconds = { urgent: 600, any: 86_400, callback: 3_600 };

export const readQueue = async (sql: postgres.ISql): Promise<QueueMetrics | undefined> => {
  const [row] = await sql<QueueMetrics[]>`
    with due as (
      select state, priority, extract(epoch from now() - greatest(accepted_at, not_before))::float8 as age
      from messaging.message where is_open and not_before <= now()
    )
    select count(*) filter (where state = 'PENDING')::int as pending,
      count(*) filter (where state = 'SENDING')::int as sending,
      coalesce(round(max(age)), 0)::int as oldest_seconds,
      coalesce(round(max(age) filter (where priority <= 1)), 0)::int as oldest_urgent_seconds,
      (select paused::int from messaging.control) as paused,
      round(extract(epoch from greatest(interval '0',
        now() - (select at from messaging.callback_event where given_up_at is null order by seq limit 1),
        now() - (select min(disabled_at) from messaging.callback))))::int as callback_seconds
    from due`;
  return row;
};

interface Pause {
  readonly paused: boolean;
  readonly pausedSince: Date | null;
  /** The operator who paused it in the console; null for a restored database. */
  readonly pausedBy: string | null;
}

export const findPause = async (sql: postgres.ISql): Promise<Pause> => {
  const [row] = await sql<Pause[]>`
    select paused, paused_at as "pausedSince", case when paused then (
      -- recorded just before
      select name from messaging.operator_act
      where action = 'pause' and at between paused_at - interval '1 minute' and paused_at
      order by id desc limit 1) end as "pausedBy"
    from messaging.control`;
  return row ?? { paused: false, pausedSince: null, pausedBy: null };
};

/** Pauses or resumes sending, for every task. */
export const setPaused = async (sql: postgres.Sql, paused: boolean): Promise<void> => {
  await sql`
    update messaging.control
    set paused = ${paused}, paused_at = case when ${paused} then coalesce(paused_at, now()) end`;
};
