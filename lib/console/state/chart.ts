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

/** What was accepted and sent in hours that are over, by their beginning in ms: it changes no more. */
export type ClosedHours = Map<number, Pick<Hour, "accepted" | "sent">>;

const hourMs = 3_600_000;
/** What is being accepted or sent at the end of an hour is committed by then. */
const settledMs = 300_000;

/** Remembers the hours that are over, and forgets those that the chart no longer shows. */
const remember = (closed: ClosedHours, hours: readonly Hour[]): void => {
  const [first, last] = [hours[0], hours.at(-1)].map((hour) => hour?.at.getTime() ?? 0) as [number, number];
  for (const at of closed.keys()) if (at < first) closed.delete(at);
  for (const { at, accepted, sent } of hours)
    if (at.getTime() + hourMs <= Math.min(last, Date.now() - settledMs))
      closed.set(at.getTime(), { accepted, sent });
};

/**
 * Counts the messages of the last 24 hours by hour, from the database: the memory of a task ends with it.
 *
 * @param closed of an earlier call, which is not counted again.
 */
export const listHours = async (sql: postgres.ISql, closed: ClosedHours = new Map()): Promise<Hour[]> => {
  const known = new Date(closed.size > 0 ? Math.max(...closed.keys()) + hourMs : 0);
  const count = (time: "accepted_at" | "sent_at") => sql`
    select date_trunc('hour', ${sql(time)}, 'UTC') as at, count(*) from messaging.message
    where ${sql(time)} >= greatest(date_trunc('hour', now(), 'UTC') - interval '23 hours', ${known}) group by 1`;
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
  const hours = rows.toReversed().map(({ open: _, cancelled, ...counted }) => {
    const hour = { ...counted, ...closed.get(counted.at.getTime()) };
    const row = { ...hour, waiting: Math.max(0, waiting) };
    waiting += hour.sent + hour.failed + cancelled - hour.accepted;
    return row;
  });
  hours.reverse();
  remember(closed, hours);
  return hours;
};
