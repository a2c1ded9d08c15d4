import type postgres from "postgres";

/** One hour of the chart. */
export interface Hour {
  readonly at: Date;
  readonly accepted: number;
  readonly sent: number;
  /** Failed, expired or uncertain. */
  readonly failed: number;
  /** At the end of the hour. */
  readonly waiting: number;
}

/** Counts the messages of the last 24 hours by hour, from the database: the memory of a task ends with it. */
export const listHours = async (sql: postgres.ISql): Promise<Hour[]> => {
  const count = (time: "accepted_at" | "sent_at") => sql`
    select date_trunc('hour', ${sql(time)}, 'UTC') as at, count(*) from messaging.message
    where ${sql(time)} >= date_trunc('hour', now(), 'UTC') - interval '23 hours' group by 1`;
  const rows = await sql<(Omit<Hour, "waiting"> & { cancelled: number; open: number })[]>`
    select hour.at, coalesce(accepted.count, 0)::int as accepted, coalesce(sent.count, 0)::int as sent,
      coalesce(failed, 0)::int as failed, coalesce(cancelled, 0)::int as cancelled,
      (select count(*)::int from messaging.message where is_open) as open
    from generate_series(date_trunc('hour', now(), 'UTC') - interval '23 hours', now(), interval '1 hour') hour (at)
    left join (${count("accepted_at")}) accepted using (at)
    left join (${count("sent_at")}) sent using (at)
    left join (
      select hour as at, sum(count) filter (where outcome = 'failed') as failed,
        sum(count) filter (where outcome = 'cancelled') as cancelled
      from messaging.ending group by 1) ended using (at)
    order by at`;
  // backwards from those that wait now
  let waiting = rows[0]?.open ?? 0;
  const hours = rows.toReversed().map(({ open: _, cancelled, ...hour }) => {
    const row = { ...hour, waiting: Math.max(0, waiting) };
    waiting += hour.sent + hour.failed + cancelled - hour.accepted;
    return row;
  });
  return hours.reverse();
};
