import type postgres from "postgres";

/** What the console shows of a run of a notification job: counts, no recipients. */
export interface RunSummary {
  readonly id: string;
  readonly job: string;
  readonly scheduledAt: Date;
  readonly state: "running" | "done" | "failed";
  readonly reason: string | null;
  readonly accepted: number;
  readonly opted_out: number;
  readonly refused: number;
  readonly expired: number;
  /** Whether it has failed and the job has had no successful run since. */
  readonly isUnresolved: boolean;
  /** Messages by state in the outbox. */
  readonly messages: Readonly<Record<string, number>>;
}

const maxRuns = 10;

/** Lists the latest runs that had recipients or failed. Most have none: jobs run every few minutes. */
export const listRuns = (sql: postgres.ISql) => sql<RunSummary[]>`
  select id, job, scheduled_at as "scheduledAt", state, reason, accepted, opted_out, refused, expired,
    state = 'failed' and not exists (
      select from notification.run later
      where later.job = shown.job and later.scheduled_at > shown.scheduled_at and later.state = 'done') as "isUnresolved",
    (select coalesce(jsonb_object_agg(counted.state, counted.count), '{}') from (
      select m.state, count(*) from messaging.message m where m.run = shown.id group by m.state) counted) as messages
  from notification.run shown
  where state = 'failed' or accepted + opted_out + refused + expired > 0
  order by scheduled_at desc, job limit ${maxRuns}`;
