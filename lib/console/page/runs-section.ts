import { type Html, html } from "#lib/html.ts";
import { states } from "#lib/messaging/submission.ts";
import type { RunSummary } from "../state/runs.ts";
import { hiddenUnless, may, renderAge, renderTable, type View } from "./view.ts";

/** The colours of states. */
export const tones: Record<RunSummary["state"], string> = {
  running: "waiting",
  done: "good",
  failed: "bad",
  cancelled: "bad",
};
const recipientCounts = ["accepted", "opted_out", "refused", "expired"] as const;

/** Quotes a name of the database for a command, unless it is as plain as ours. */
export const quote = (name: string) => (/^[\w-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);

/** The command that retries those whom a run has not reached. */
export const replayCommand = (job: string, scheduledAt: Date): string =>
  `npm run city -- notify replay ${quote(job)} --at ${scheduledAt.toISOString()}`;

/** Renders what there is of each kind. */
export const renderCounts = (counts: Readonly<Record<string, number>>, none: string): Html => {
  const present = Object.entries(counts).filter(([, count]) => count > 0);
  if (present.length === 0) return html`<span class="muted">${none}</span>`;
  return html`<ul class="counts">${present.map(([name, count]) => html`<li>${count} ${name}</li>`)}</ul>`;
};

/** Names the states of messages, in the order in which a message goes through them. */
export const inOrder = (
  messages: RunSummary["messages"],
  { messages: { states: meanings } }: View["words"],
) =>
  Object.fromEntries(
    states.map((state) => [meanings ? `${state} (${meanings[state]})` : state, messages[state] ?? 0]),
  );

/** Links to what became of each line of a bulk run. */
export const renderReportLink = (bulk: string, { bulk: { runs } }: View["words"]): Html =>
  html`<a href="/console/bulk/report?run=${bulk}" download aria-label="${runs.reportOf(bulk)}">${runs.report}</a>`;

/** Renders the form that cancels what waits of a bulk run. @param query of the action: the page that it leads to. */
export const renderCancel = (
  { bulk, messages, state }: RunSummary,
  view: Pick<View, "operator" | "words">,
  query = "",
): Html => {
  const { cancel } = view.words.runs;
  const waiting = messages.PENDING ?? 0;
  const mayWait = waiting > 0 || state === "running";
  return html`<details${hiddenUnless(mayWait && may(view, "operator"))}>
<summary>${cancel.summary}</summary>
<form method="post" action="/console/cancel-run${query}" class="stack" data-live>
<input type="hidden" name="run" value="${bulk}">
<label class="tick"><input type="checkbox" name="confirmed" value="yes" required> ${cancel.confirm}</label>
<div class="buttons"><button class="danger">${cancel.button(waiting)}</button></div>
</form>
</details>`;
};

const hasMissed = ({ state, refused, expired }: RunSummary) => state === "failed" || refused + expired > 0;

// explicit roles as in outbox-section.ts
const renderRun = (run: RunSummary, view: View): Html => {
  const { words, now } = view;
  const { id, job, bulk, scheduledAt, state, reason, messages } = run;
  const { columns, counts, noCounts, states: names } = words.runs;
  const recipients = Object.fromEntries(recipientCounts.map((name) => [counts[name], run[name]]));
  const remedy =
    bulk === null ? html`<code>${replayCommand(job, scheduledAt)}</code>` : renderReportLink(bulk, words);
  const missed = hasMissed(run) ? remedy : undefined;
  return html`<tr id="run-${id}" role="row">
<td role="cell"><span class="state ${tones[state]}">${names[state]}</span>${reason && html` <span class="reason">${reason}</span>`}</td>
<td role="cell" data-label="${columns.job}">${job}</td>
<td role="cell" data-label="${columns.scheduled}">${renderAge(scheduledAt, now, words)}</td>
<td role="cell" data-label="${columns.recipients}">${renderCounts(recipients, noCounts)}${missed}</td>
<td role="cell" data-label="${columns.messages}">${renderCounts(inOrder(messages, words), noCounts)}${bulk === null ? undefined : renderCancel(run, view)}</td>
</tr>`;
};

/** The task has no right to read the recipients of jobs (schema audience): it shows what to run where there is one. */
const renderCommands = ({ state, words: { runs } }: View): Html => {
  const lines = (job: string) =>
    [
      [`npm run city -- notify run ${job} --dry-run`, runs.preview],
      [`npm run city -- notify run ${job}`, runs.run],
      [`npm run city -- notify replay ${job}`, runs.replay],
    ].map(([command, text]) => html`<li><code>${command}</code> <span class="muted">${text}</span></li>`);
  return html`<details>
<summary>${runs.commands}</summary>
<p class="muted">${runs.why}</p>
${(state?.jobs ?? []).map((job) => html`<h3>${job}</h3><ul class="commands">${lines(job)}</ul>`)}
</details>`;
};

/** Renders the latest runs of the notification jobs, and the bulk runs. `npm run city -- notify report` lists recipients not reached. */
export const renderRuns = (view: View): Html => {
  const { columns, heading, unavailable, none } = view.words.runs;
  const { runs = [], unread = !view.state } = view.state ?? {};
  const rows = runs.map((run) => renderRun(run, view));
  return html`<section id="runs" class="card" aria-labelledby="runs-title">
<h2 id="runs-title">${heading}</h2>
<p class="muted"${hiddenUnless(runs.length === 0)}>${unread ? unavailable : none}</p>
${renderTable("runs", columns, rows)}
<p><a href="/console/bulk">${view.words.bulk.open}</a></p>
${renderCommands(view)}
</section>`;
};
