import type postgres from "postgres";
import { usernameOf } from "#lib/messaging/submission.ts";
import { lastStatus } from "#lib/messenger/callback/event.ts";
import { isRedirect } from "#lib/messenger/callback/post.ts";

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
  /** Whether that was a redirect, which is not followed. */
  readonly redirects: boolean;
  /** When the address answered 410, so that it gets nothing more. */
  readonly disabledAt: Date | null;
  /** At most one more than {@link mostCounted}, as are those below. */
  readonly waiting: number;
  /** When the oldest change that waits was. */
  readonly oldest: Date | null;
  readonly dead: number;
}

const maxCallbacks = 100;

/** More are not counted: an address that fails for a day may have hundreds of thousands. */
export const mostCounted = 10_000;

/** Lists the callbacks by sender. */
export const listCallbacks = async (sql: postgres.ISql): Promise<CallbackSummary[]> => {
  const rows = await sql<Omit<CallbackSummary, "redirects">[]>`
    select callback.id::float8 as id, sender, host, failures, waiting, oldest, dead,
      ${lastStatus(sql)} as "lastStatus", disabled_at as "disabledAt"
    from messaging.callback cross join lateral (
      select count(*)::int as waiting, min(at) as oldest from (
        select at from messaging.callback_event
        where callback_id = callback.id and given_up_at is null order by retry_until limit ${mostCounted + 1}) waiting
    ) counted cross join lateral (
      select count(*)::int as dead from (
        select from messaging.callback_event
        where callback_id = callback.id and given_up_at is not null limit ${mostCounted + 1}) dead
    ) given_up
    order by sender, host, callback.id limit ${maxCallbacks}`;
  return rows.map((row) => ({
    ...row,
    sender: usernameOf(row.sender),
    redirects: row.lastStatus !== null && isRedirect(row.lastStatus),
  }));
};
