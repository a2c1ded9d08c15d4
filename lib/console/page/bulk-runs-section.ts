import { type Html, html } from "#lib/html.ts";
import type { BulkRunSummary } from "../state/runs.ts";
import type { BulkView } from "./bulk-page.ts";
import { inOrder, renderCancel, renderCounts, renderReportLink, tones } from "./runs-section.ts";
import { hiddenUnless, renderAge, renderTable } from "./view.ts";

const renderProgress = (run: BulkRunSummary, { words }: BulkView): Html => {
  const { bulk, lines, accepted, opted_out, refused } = run;
  const done = accepted + opted_out + refused;
  const all = Math.max(lines ?? 0, done);
  const number = (count: number) => count.toLocaleString(words.locale);
  const said = words.bulk.runs.progress(number(done), number(all));
  return html`<progress id="progress-${bulk}" max="${Math.max(all, 1)}" value="${done}" aria-label="${said}"></progress>
<span>${said}</span>`;
};

const recipientCounts = ["accepted", "opted_out", "refused"] as const;

// explicit roles as in outbox-section.ts
const renderRun = (run: BulkRunSummary, view: BulkView): Html => {
  const { words, now } = view;
  const { id, bulk, template, state, reason, isInterrupted, scheduledAt } = run;
  const { columns, interrupted } = words.bulk.runs;
  const { counts, noCounts, states } = words.runs;
  const recipients = Object.fromEntries(recipientCounts.map((name) => [counts[name], run[name]]));
  return html`<tr id="bulk-${id}" role="row">
<td role="cell"><span class="state ${isInterrupted ? "bad" : tones[state]}">${states[state]}</span>${isInterrupted ? html` <span class="reason">${interrupted}</span>` : undefined}${reason && html` <span class="reason" lang="en">${reason}</span>`}</td>
<td role="cell" data-label="${columns.run}"><code>${bulk}</code><span class="muted long">${template}</span></td>
<td role="cell" data-label="${columns.started}">${renderAge(scheduledAt, now, words)}</td>
<td role="cell" data-label="${columns.progress}">${renderProgress(run, view)}${renderCounts(recipients, noCounts)}</td>
<td role="cell" data-label="${columns.messages}">${renderCounts(inOrder(run.messages, words), noCounts)}
${renderReportLink(bulk, words)}${renderCancel(run, view, "?page=bulk")}</td>
</tr>`;
};

/** Renders the latest bulk runs with their progress, cancelling and report. */
export const renderBulkRuns = (view: BulkView): Html => {
  const { heading, none, columns } = view.words.bulk.runs;
  const runs = view.state?.runs ?? [];
  return html`<section id="bulk-runs" class="card" aria-labelledby="bulk-runs-title">
<h2 id="bulk-runs-title">${heading}</h2>
<p class="muted"${hiddenUnless(runs.length === 0)}>${view.state ? none : view.words.bulk.unavailable}</p>
${renderTable(
  "bulk-runs",
  columns,
  runs.map((run) => renderRun(run, view)),
)}
</section>`;
};
