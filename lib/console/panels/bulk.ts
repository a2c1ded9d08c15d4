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

const renderProgress = (run: BulkRunSummary, { say }: BulkView): Html => {
  const { bulk, lines, accepted, opted_out, refused } = run;
  const done = accepted + opted_out + refused;
  const all = Math.max(lines ?? 0, done);
  const number = (count: number) => count.toLocaleString(say("locale"));
  const said = say("bulk-runs.progress", { done: number(done), all: number(all) });
  return html`<progress id="progress-${bulk}" max="${Math.max(all, 1)}" value="${done}" aria-label="${said}"></progress>
<span>${said}</span>`;
};

const recipientCounts = ["accepted", "opted_out", "refused"] as const;

// explicit roles as in messages.ts
const renderRun = (run: BulkRunSummary, view: BulkView): Html => {
  const { say, now } = view;
  const { id, bulk, template, reason, isInterrupted, scheduledAt } = run;
  const { name, tone } = describeState(run, say);
  const recipients = Object.fromEntries(
    recipientCounts.map((name) => [say(`runs.counts.${name}`), run[name]]),
  );
  return html`<tr id="bulk-${id}" role="row">
<td role="cell"><span class="state ${isInterrupted ? "bad" : tone}">${name}</span>${isInterrupted ? html` <span class="reason">${say("bulk-runs.interrupted")}</span>` : undefined}${reason && html` <span class="reason" lang="en">${reason}</span>`}</td>
<td role="cell" data-label="${say("bulk-runs.columns.run")}"><code>${bulk}</code><span class="muted long">${template}</span></td>
<td role="cell" data-label="${say("bulk-runs.columns.started")}">${renderAge(scheduledAt, now, say)}</td>
<td role="cell" data-label="${say("bulk-runs.columns.progress")}">${renderProgress(run, view)}${renderCounts(recipients, say("runs.noCounts"))}</td>
<td role="cell" data-label="${say("bulk-runs.columns.messages")}">${renderCounts(inOrder(run.messages, say), say("runs.noCounts"))}
${renderReportLink(bulk, say)}${renderCancel(run, view)}</td>
</tr>`;
};

/** Renders the latest bulk runs with their progress, cancelling and report. */
const renderBulkRuns = (view: BulkView): Html => {
  const { say } = view;
  const runs = view.state?.runs ?? [];
  return html`<section id="bulk-runs" class="card" aria-labelledby="bulk-runs-title">
<h2 id="bulk-runs-title">${say("bulk-runs.heading")}</h2>
<p class="muted"${hiddenUnless(runs.length === 0)}>${say(view.state ? "bulk-runs.none" : "bulk.unavailable")}</p>
${renderTable(
  "bulk-runs",
  say,
  runs.map((run) => renderRun(run, view)),
)}
</section>`;
};

/** What the page of bulk notifications shows, and to whom. */
export interface BulkView extends Pick<View, "operator" | "notice" | "now" | "language" | "say"> {
  /** Undefined if it cannot be read. */
  readonly state: BulkState | undefined;
  readonly preview: ShownPreview | undefined;
  /** What the form had that this page answers; an empty text for what it had not. */
  readonly field: (name: string) => string;
  readonly maxFileBytes: number;
}

export const bulkHome = "/console/bulk";

const renderContent = (view: BulkView): Html => {
  const { say } = view;
  return html`<p><a href="/console/runs">${say("bulk.back")}</a></p>
${view.state ? undefined : html`<p class="banner bad">${say("bulk.unavailable")}</p>`}
${renderUpload(view)}
${renderPreview(view)}
${renderBulkRuns(view)}
${renderTemplates(view)}`;
};

/** Renders the page of bulk notifications. It works without the script, by reloading. */
export const renderBulkPage = (view: BulkView): string => {
  return renderFrame(
    view,
    bulkHome,
    "runs",
    `${view.say("bulk.title")} · ${view.say("title")}`,
    renderContent(view),
  );
};
