import type postgres from "postgres";
import { type Html, html } from "#lib/html.ts";
import { usernameOf } from "#lib/messaging/submission.ts";
import { lastStatus } from "#lib/messenger/callback/event.ts";
import { isRedirect } from "#lib/messenger/callback/post.ts";
import { quoteWord } from "#lib/shell-word.ts";
import { hiddenUnless, renderAge, renderTable, type View } from "../view.ts";

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
  readonly undelivered: number;
}

const maxCallbacks = 100;

/** More are not counted: an address that fails for a day may have hundreds of thousands. */
export const mostCounted = 10_000;

/** Lists the callbacks by sender. */
export const listCallbacks = async (sql: postgres.ISql): Promise<CallbackSummary[]> => {
  const rows = await sql<Omit<CallbackSummary, "redirects">[]>`
    select callback.id::float8 as id, sender, host, failures, waiting, oldest, undelivered,
      ${lastStatus(sql)} as "lastStatus", disabled_at as "disabledAt"
    from messaging.callback cross join lateral (
      select count(*)::int as waiting, min(at) as oldest from (
        select at from messaging.callback_event
        where callback_id = callback.id and given_up_at is null order by retry_until limit ${mostCounted + 1}) waiting
    ) counted cross join lateral (
      select count(*)::int as undelivered from (
        select from messaging.callback_event
        where callback_id = callback.id and given_up_at is not null limit ${mostCounted + 1}) undelivered
    ) given_up
    order by sender, host, callback.id limit ${maxCallbacks}`;
  return rows.map((row) => ({
    ...row,
    sender: usernameOf(row.sender),
    redirects: row.lastStatus !== null && isRedirect(row.lastStatus),
  }));
};

const renderState = ({ failures, lastStatus, disabledAt }: CallbackSummary, { say }: View): Html => {
  if (disabledAt) return html`<span class="state bad">${say("callbacks.disabled")}</span>`;
  if (failures === 0 && lastStatus === null)
    return html`<span class="state good">${say("callbacks.accepts")}</span>`;
  const status = lastStatus ?? say("callbacks.noAnswer");
  return failures === 0
    ? html`<span class="state waiting">${say("callbacks.rejects", { status })}</span>`
    : html`<span class="state bad">${say("callbacks.fails", { count: failures, status })}</span>`;
};

const renderCount = (count: number): string => (count > mostCounted ? `${mostCounted}+` : `${count}`);

// explicit roles as in messages.ts
const renderCallback = (one: CallbackSummary, view: View): Html => {
  const { id, sender, host, waiting, oldest, undelivered } = one;
  const { say, now } = view;
  return html`<tr id="callback-${id}" role="row">
<td role="cell" class="long">${host}</td>
<td role="cell" data-label="${say("callbacks.columns.sender")}" class="long">${sender}</td>
<td role="cell" data-label="${say("callbacks.columns.state")}">${renderState(one, view)}</td>
<td role="cell" data-label="${say("callbacks.columns.waiting")}">${renderCount(waiting)}${oldest && html` <span class="muted">${say("callbacks.since")} ${renderAge(oldest, now, say)}</span>`}</td>
<td role="cell" data-label="${say("callbacks.columns.undelivered")}">${renderCount(undelivered)}${undelivered > 0 ? html`<code>npm run city -- callback replay ${quoteWord(sender)}</code>` : undefined}</td>
</tr>`;
};

/** Renders where changes of messages' states are sent. `npm run city -- callback` changes it. */
export const renderCallbacks = (view: View): Html => {
  const { say } = view;
  const { callbacks = [], unread = !view.state } = view.state ?? {};
  const rows = callbacks.map((one) => renderCallback(one, view));
  return html`<section id="callbacks" class="card" aria-labelledby="callbacks-title">
<h2 id="callbacks-title">${say("callbacks.heading")}</h2>
<p class="muted"${hiddenUnless(callbacks.length === 0)}>${say(unread ? "callbacks.unavailable" : "callbacks.none")}</p>
${renderTable("callbacks", say, rows)}
</section>`;
};
