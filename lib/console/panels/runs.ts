import type postgres from "postgres";
import { type Html, html } from "#lib/html.ts";
import { states } from "#lib/messaging/submission.ts";
import { outcomes, type Run, runColumns } from "#lib/notification/run.ts";
import { quoteWord } from "#lib/shell-word.ts";
import { hiddenUnless, may, renderAge, renderTable, type View } from "../view.ts";
import type { Say } from "../words.ts";

/** What the console shows of a run of a notification job, or of a bulk run: counts, no recipients. */
export interface RunSummary extends Run {
  /** The name of a bulk run. */
  readonly bulk: string | null;
  /** Messages by state in the outbox. */
  readonly messages: Readonly<Record<string, number>>;
}

const maxRuns = 10;

const summaryColumns = (sql: postgres.ISql) => sql`
  ${runColumns(sql)}, case when template is not null then split_part(job, ':', 2) end as bulk,
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
  /** Whether it hands over no more although it has not ended: its task or command was killed. */
  readonly isInterrupted: boolean;
}

/** Longer than any batch takes. */
const silenceMs = 60_000;

/** Lists the latest bulk runs, newest first. */
export const listBulkRuns = (sql: postgres.ISql) => sql<BulkRunSummary[]>`
  select ${summaryColumns(sql)},
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

/** The colours of states. */
const tones: Record<RunSummary["state"], string> = {
  running: "waiting",
  done: "good",
  failed: "bad",
  cancelled: "bad",
};

/** What a run is to those who wait for its messages: one that is done has handed them over. */
export const describeState = ({ state, messages }: Pick<RunSummary, "state" | "messages">, say: Say) => {
  const waiting = (messages.PENDING ?? 0) + (messages.SENDING ?? 0);
  if (state !== "done" || waiting === 0) return { name: say(`runs.states.${state}`), tone: tones[state] };
  const all = Object.values(messages).reduce((sum, count) => sum + count, 0);
  const number = (count: number) => count.toLocaleString(say("locale"));
  const { SENT = 0, DELIVERED = 0, READ = 0 } = messages;
  const sent = number(SENT + DELIVERED + READ);
  return { name: say("runs.handedOver", { sent, all: number(all) }), tone: "waiting" };
};

/** The command that retries those whom a run has not reached. */
export const replayCommand = (job: string, scheduledAt: Date): string =>
  `npm run city -- notify replay ${quoteWord(job)} --at ${scheduledAt.toISOString()}`;

/** Renders what there is of each kind. */
export const renderCounts = (counts: Readonly<Record<string, number>>, none: string): Html => {
  const present = Object.entries(counts).filter(([, count]) => count > 0);
  if (present.length === 0) return html`<span class="muted">${none}</span>`;
  return html`<ul class="counts">${present.map(([name, count]) => html`<li>${count} ${name}</li>`)}</ul>`;
};

/** Names the states of messages, in the order in which a message goes through them. */
export const inOrder = (messages: RunSummary["messages"], say: Say) =>
  Object.fromEntries(
    states.map((state) => {
      const meaning = say(`messages.states.${state}`);
      return [meaning === state ? state : `${state} (${meaning})`, messages[state] ?? 0];
    }),
  );

/** Links to what became of each line of a bulk run. */
export const renderReportLink = (bulk: string, say: Say): Html =>
  html`<a href="/console/bulk/report?run=${bulk}" download aria-label="${say("bulk-runs.reportOf", { run: bulk })}">${say("bulk-runs.report")}</a>`;

/** Renders the form that cancels what waits of a bulk run. */
export const renderCancel = (
  { bulk, messages, state }: RunSummary,
  view: Pick<View, "operator" | "say">,
): Html => {
  const { say } = view;
  const waiting = messages.PENDING ?? 0;
  const mayWait = waiting > 0 || state === "running";
  return html`<details${hiddenUnless(mayWait && may(view, "operator"))}>
<summary>${say("runs.cancel.summary")}</summary>
<form method="post" action="/console/cancel-run" class="stack" data-live>
<input type="hidden" name="run" value="${bulk}">
<label class="tick"><input type="checkbox" name="confirmed" value="yes" required> ${say("runs.cancel.confirm")}</label>
<div class="buttons"><button class="danger">${say("runs.cancel.button", { count: waiting })}</button></div>
</form>
</details>`;
};

const hasMissed = ({ state, refused, expired }: RunSummary) => state === "failed" || refused + expired > 0;

// explicit roles as in messages.ts
const renderRun = (run: RunSummary, view: View): Html => {
  const { say, now } = view;
  const { id, job, bulk, scheduledAt, reason, messages } = run;
  const { name, tone } = describeState(run, say);
  const recipients = Object.fromEntries(outcomes.map((name) => [say(`runs.counts.${name}`), run[name]]));
  const remedy =
    bulk === null ? html`<code>${replayCommand(job, scheduledAt)}</code>` : renderReportLink(bulk, say);
  const missed = hasMissed(run) ? remedy : undefined;
  return html`<tr id="run-${id}" role="row">
<td role="cell"><span class="state ${tone}">${name}</span>${reason && html` <span class="reason">${reason}</span>`}</td>
<td role="cell" data-label="${say("runs.columns.job")}">${job}</td>
<td role="cell" data-label="${say("runs.columns.scheduled")}">${renderAge(scheduledAt, now, say)}</td>
<td role="cell" data-label="${say("runs.columns.recipients")}">${renderCounts(recipients, say("runs.noCounts"))}${missed}</td>
<td role="cell" data-label="${say("runs.columns.messages")}">${renderCounts(inOrder(messages, say), say("runs.noCounts"))}${bulk === null ? undefined : renderCancel(run, view)}</td>
</tr>`;
};

/** The task has no right to read the recipients of jobs (schema audience): it shows what to run where there is one. */
const renderCommands = ({ state, say }: View): Html => {
  const lines = (job: string) =>
    [
      [`npm run city -- notify run ${job} --dry-run`, say("runs.preview")],
      [`npm run city -- notify run ${job}`, say("runs.run")],
      [`npm run city -- notify replay ${job}`, say("runs.replay")],
    ].map(([command, text]) => html`<li><code>${command}</code> <span class="muted">${text}</span></li>`);
  return html`<details>
<summary>${say("runs.commands")}</summary>
<p class="muted">${say("runs.why")}</p>
${(state?.jobs ?? []).map((job) => html`<h3>${job}</h3><ul class="commands">${lines(job)}</ul>`)}
</details>`;
};

/** Renders the latest runs of the notification jobs, and the bulk runs. `npm run city -- notify report` lists recipients not reached. */
export const renderRuns = (view: View): Html => {
  const { say } = view;
  const { runs = [], unread = !view.state } = view.state ?? {};
  const rows = runs.map((run) => renderRun(run, view));
  return html`<section id="runs" class="card" aria-labelledby="runs-title">
<h2 id="runs-title">${say("runs.heading")}</h2>
<p class="muted"${hiddenUnless(runs.length === 0)}>${say(unread ? "runs.unavailable" : "runs.none")}</p>
${renderTable("runs", say, rows)}
<p><a href="/console/bulk">${say("bulk.open")}</a></p>
${renderCommands(view)}
</section>`;
};
