import { type Html, html } from "#lib/html.ts";
import { states } from "#lib/messaging/submission.ts";
import { renderAge } from "./age.ts";
import type { RunSummary } from "./runs.ts";
import { hiddenUnless, type View } from "./view.ts";

const tones: Record<RunSummary["state"], string> = { running: "waiting", done: "good", failed: "bad" };
const recipientCounts = ["accepted", "opted_out", "refused", "expired"] as const;

/** Quotes a name of the database for a command, unless it is as plain as ours. */
export const quote = (name: string) => (/^[\w-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);

/** The command that retries those whom a run has not reached. */
export const replayCommand = (job: string, scheduledAt: Date): string =>
  `npm run notify -- replay ${quote(job)} --at ${scheduledAt.toISOString()}`;

const renderCounts = (counts: Readonly<Record<string, number>>, none: string): Html => {
  const present = Object.entries(counts).filter(([, count]) => count > 0);
  if (present.length === 0) return html`<span class="muted">${none}</span>`;
  return html`<ul class="counts">${present.map(([name, count]) => html`<li>${count} ${name}</li>`)}</ul>`;
};

const inOrder = (messages: RunSummary["messages"], { messages: { states: meanings } }: View["words"]) =>
  Object.fromEntries(
    states.map((state) => [meanings ? `${state} (${meanings[state]})` : state, messages[state] ?? 0]),
  );

const hasMissed = ({ state, refused, expired }: RunSummary) => state === "failed" || refused + expired > 0;

// explicit roles as in outbox-section.ts
const renderRun = (run: RunSummary, { words, now }: View): Html => {
  const { id, job, scheduledAt, state, reason, messages } = run;
  const { columns, counts, noCounts, states: names } = words.runs;
  const recipients = Object.fromEntries(recipientCounts.map((name) => [counts[name], run[name]]));
  return html`<tr id="run-${id}" role="row">
<td role="cell"><span class="state ${tones[state]}">${names[state]}</span>${reason && html` <span class="reason">${reason}</span>`}</td>
<td role="cell" data-label="${columns.job}">${job}</td>
<td role="cell" data-label="${columns.scheduled}">${renderAge(scheduledAt, now, words)}</td>
<td role="cell" data-label="${columns.recipients}">${renderCounts(recipients, noCounts)}${hasMissed(run) ? html`<code>${replayCommand(job, scheduledAt)}</code>` : undefined}</td>
<td role="cell" data-label="${columns.messages}">${renderCounts(inOrder(messages, words), noCounts)}</td>
</tr>`;
};

/** The task has no right to read the recipients: it shows what to run where there is one. */
const renderCommands = ({ state, words: { runs } }: View): Html => {
  const lines = (job: string) =>
    [
      [`npm run notify -- run ${job} --dry-run`, runs.preview],
      [`npm run notify -- run ${job}`, runs.run],
      [`npm run notify -- replay ${job}`, runs.replay],
    ].map(([command, text]) => html`<li><code>${command}</code> <span class="muted">${text}</span></li>`);
  return html`<details>
<summary>${runs.commands}</summary>
<p class="muted">${runs.why}</p>
${(state?.jobs ?? []).map((job) => html`<h3>${job}</h3><ul class="commands">${lines(job)}</ul>`)}
</details>`;
};

/** Renders the latest runs of the notification jobs. `npm run notify -- report` lists recipients not reached. */
export const renderRuns = (view: View): Html => {
  const { columns, heading, unavailable, none } = view.words.runs;
  const { runs = [], unread = !view.state } = view.state ?? {};
  return html`<section id="runs" class="card" aria-labelledby="runs-title">
<h2 id="runs-title">${heading}</h2>
<p class="muted"${hiddenUnless(runs.length === 0)}>${unread ? unavailable : none}</p>
<table role="table" class="plain" aria-labelledby="runs-title"${hiddenUnless(runs.length > 0)}>
<thead role="rowgroup"><tr role="row">${Object.values(columns).map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">${runs.map((run) => renderRun(run, view))}</tbody>
</table>
${renderCommands(view)}
</section>`;
};
