import type postgres from "postgres";

/** One scheduled time of a notification job, in the operator's eyes: counts, and no recipient. */
export interface ShownRun {
  readonly id: string;
  readonly job: string;
  readonly scheduledAt: Date;
  readonly state: "running" | "done" | "failed";
  /** Why it failed. */
  readonly reason: string | null;
  /** Recipients by what became of them. */
  readonly accepted: number;
  readonly opted_out: number;
  readonly refused: number;
  readonly expired: number;
  /** Its messages by state in the outbox. */
  readonly messages: Readonly<Record<string, number>>;
}

const shownRuns = 10;

/** The last runs that had somebody to tell, or failed. Most have nobody: they look every few minutes. */
export const listShownRuns = (sql: postgres.Sql) => sql<ShownRun[]>`
  select id, job, scheduled_at as "scheduledAt", state, reason, accepted, opted_out, refused, expired,
    (select coalesce(jsonb_object_agg(counted.state, counted.count), '{}') from (
      select m.state, count(*) from messaging.message m where m.run = shown.id group by m.state) counted) as messages
  from notification.run shown
  where state = 'failed' or accepted + opted_out + refused + expired > 0
  order by scheduled_at desc, job limit ${shownRuns}`;
