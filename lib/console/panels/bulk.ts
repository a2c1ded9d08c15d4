import { type Html, html } from "#lib/html.ts";
import type { BulkState, ShownPreview } from "../bulk-state.ts";
import { renderFrame } from "../page.ts";
import { hiddenUnless, renderAge, renderTable, type View } from "../view.ts";
import {
  type BulkRunSummary,
  describeState,
  inOrder,
  renderCancel,
  renderCounts,
  renderReportLink,
} from "./runs.ts";
import { renderTemplates } from "./templates.ts";
import { renderPreview, renderUpload } from "./upload.ts";

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

// explicit roles as in messages.ts
const renderRun = (run: BulkRunSummary, view: BulkView): Html => {
  const { words, now } = view;
  const { id, bulk, template, reason, isInterrupted, scheduledAt } = run;
  const { columns, interrupted } = words.bulk.runs;
  const { counts, noCounts } = words.runs;
  const { name, tone } = describeState(run, words);
  const recipients = Object.fromEntries(recipientCounts.map((name) => [counts[name], run[name]]));
  return html`<tr id="bulk-${id}" role="row">
<td role="cell"><span class="state ${isInterrupted ? "bad" : tone}">${name}</span>${isInterrupted ? html` <span class="reason">${interrupted}</span>` : undefined}${reason && html` <span class="reason" lang="en">${reason}</span>`}</td>
<td role="cell" data-label="${columns.run}"><code>${bulk}</code><span class="muted long">${template}</span></td>
<td role="cell" data-label="${columns.started}">${renderAge(scheduledAt, now, words)}</td>
<td role="cell" data-label="${columns.progress}">${renderProgress(run, view)}${renderCounts(recipients, noCounts)}</td>
<td role="cell" data-label="${columns.messages}">${renderCounts(inOrder(run.messages, words), noCounts)}
${renderReportLink(bulk, words)}${renderCancel(run, view)}</td>
</tr>`;
};

/** Renders the latest bulk runs with their progress, cancelling and report. */
const renderBulkRuns = (view: BulkView): Html => {
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

/** What the page of bulk notifications shows, and to whom. */
export interface BulkView extends Pick<View, "operator" | "notice" | "now" | "language" | "words"> {
  /** Undefined if it cannot be read. */
  readonly state: BulkState | undefined;
  readonly preview: ShownPreview | undefined;
  /** What the form had that this page answers; an empty text for what it had not. */
  readonly field: (name: string) => string;
  readonly maxFileBytes: number;
}

export const bulkHome = "/console/bulk";

const renderContent = (view: BulkView): Html => {
  const { bulk } = view.words;
  return html`<p><a href="/console/runs">${bulk.back}</a></p>
${view.state ? undefined : html`<p class="banner bad">${bulk.unavailable}</p>`}
${renderUpload(view)}
${renderPreview(view)}
${renderBulkRuns(view)}
${renderTemplates(view)}`;
};

/** Renders the page of bulk notifications. It works without the script, by reloading. */
export const renderBulkPage = (view: BulkView): string => {
  const { bulk, title } = view.words;
  return renderFrame(view, bulkHome, "runs", `${bulk.title} · ${title}`, renderContent(view));
};
