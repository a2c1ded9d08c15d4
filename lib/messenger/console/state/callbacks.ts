import type postgres from "postgres";
import { usernameOf } from "#lib/messaging/submission.ts";

/** Where the changes of a sender's messages are sent, and what waits for it. */
export interface CallbackSummary {
  readonly id: number;
  readonly sender: string;
  /** Without its path, which may contain a token. */
  readonly host: string;
  /** Failures in a row; 0 while the address accepts events. */
  readonly failures: number;
  /** Of the last attempt that failed; null without an answer, and for none. */
  readonly lastStatus: number | null;
  readonly waiting: number;
  /** When the oldest change that waits was. */
  readonly oldest: Date | null;
  readonly dead: number;
}

const maxCallbacks = 100;

type Row = Omit<CallbackSummary, "host"> & { url: string };

/** Lists the callbacks by sender. */
export const listCallbacks = async (sql: postgres.ISql): Promise<CallbackSummary[]> => {
  const rows = await sql<Row[]>`
    select callback.id::float8 as id, sender, url, failures, waiting, oldest, dead, (
        select last_status from messaging.callback_event
        -- not an attempt that has no outcome yet
        where callback_id = callback.id and given_up_at is null and attempts > 0
          and (due_at <= now() or last_status is not null)
        order by due_at desc limit 1) as "lastStatus"
    from messaging.callback cross join lateral (
      select count(*) filter (where given_up_at is null)::int as waiting,
        count(*) filter (where given_up_at is not null)::int as dead,
        min(at) filter (where given_up_at is null) as oldest
      from messaging.callback_event where callback_id = callback.id) counted
    order by sender, url limit ${maxCallbacks}`;
  return rows.map(({ url, sender, ...row }) => ({
    ...row,
    sender: usernameOf(sender),
    host: new URL(url).host,
  }));
};
