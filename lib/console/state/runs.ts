import type postgres from "postgres";

/** What the console shows of a run of a notification job, or of a bulk run: counts, no recipients. */
export interface RunSummary {
  readonly id: string;
  readonly job: string;
  /** The name of a bulk run. */
  readonly bulk: string | null;
  readonly scheduledAt: Date;
  readonly state: "running" | "done" | "failed" | "cancelled";
  readonly reason: string | null;
  readonly accepted: number;
  readonly opted_out: number;
  readonly refused: number;
  readonly expired: number;
  /** Messages by state in the outbox. */
  readonly messages: Readonly<Record<string, number>>;
}

const maxRuns = 10;

const summaryColumns = (sql: postgres.ISql) => sql`
  id, job, case when template is not null then split_part(job, ':', 2) end as bulk,
  scheduled_at as "scheduledAt", state, reason, accepted, opted_out, refused, expired,
  (select coalesce(jsonb_object_agg(counted.state, counted.count), '{}') from (
    select m.state, count(*) from messaging.message m where m.run = shown.id group by m.state) counted) as messages`;

/**
 * Lists the latest runs that had recipients or failed, after the bulk runs with messages that wait, for days. Most runs have
 * none: jobs run every few minutes.
 */
export const listRuns = (sql: postgres.ISql) => {
  const hasContent = sql`(state = 'failed' or accepted + opted_out + refused + expired > 0)`;
  return sql<RunSummary[]>`
    select ${summaryColumns(sql)}
    from notification.run shown join (
      select id, bool_or(is_waiting) as is_waiting from (
        (select id, true as is_waiting from notification.run bulk
        where template is not null and ${hasContent}
          and exists (select from messaging.message m where m.run = bulk.id and is_open))
        union all
        -- by an index
        (select id, false from notification.run where ${hasContent} order by scheduled_at desc, job limit ${maxRuns})) found
      group by id) latest using (id)
    order by is_waiting desc, scheduled_at desc, job limit ${maxRuns}`;
};

/** A bulk run on the page of bulk notifications. */
export interface BulkRunSummary extends RunSummary {
  readonly bulk: string;
  readonly template: string;
  /** Recipients in its file. */
  readonly lines: number | null;
  /** Whether it hands over no more although it has not ended: its task or command was killed. */
  readonly isInterrupted: boolean;
}

/** Longer than any batch takes. */
const silenceMs = 60_000;

/** Lists the latest bulk runs, newest first. */
export const listBulkRuns = (sql: postgres.ISql) => sql<BulkRunSummary[]>`
  select ${summaryColumns(sql)}, template, lines,
    state = 'running' and changed_at < now() - ${`${silenceMs} ms`}::text::interval as "isInterrupted"
  from notification.run shown where template is not null order by scheduled_at desc limit ${maxRuns}`;

/** A job whose runs fail. */
export interface FailedJob {
  readonly job: string;
  /** Of the last failure. */
  readonly reason: string | null;
  readonly scheduledAt: Date;
  /** The first failure after the last success. */
  readonly since: Date;
}

/** Lists the jobs that have had no successful run since they failed, however many runs of others came after. */
export const listFailedJobs = (sql: postgres.ISql) => sql<FailedJob[]>`
  select distinct on (job) job, reason, scheduled_at as "scheduledAt", min(scheduled_at) over (partition by job) as since
  from notification.run failed
  where state = 'failed' and template is null and not exists (
    select from notification.run later
    where later.job = failed.job and later.scheduled_at > failed.scheduled_at and later.state = 'done')
  order by job, scheduled_at desc`;
