import { type Html, html } from "#lib/html.ts";
import { states } from "#lib/messaging/submission.ts";
import { renderAge } from "./age.ts";
import type { RunSummary } from "./runs.ts";
import type { ConsoleState } from "./state.ts";

const tones: Record<RunSummary["state"], string> = { running: "waiting", done: "good", failed: "bad" };

const renderCounts = (counts: Readonly<Record<string, number>>): Html => {
  const present = Object.entries(counts).filter(([, count]) => count > 0);
  if (present.length === 0) return html`<span class="muted">none</span>`;
  return html`<ul class="counts">${present.map(([name, count]) => html`<li>${count} ${name}</li>`)}</ul>`;
};

const inOrder = (messages: RunSummary["messages"]) =>
  Object.fromEntries(states.map((state) => [state, messages[state] ?? 0]));

// explicit roles as in outbox-section.ts
const renderRun = (run: RunSummary, now: Date): Html => {
  const { id, job, scheduledAt, state, reason, accepted, opted_out, refused, expired, messages } = run;
  const recipients = { accepted, "opted out": opted_out, rejected: refused, expired };
  return html`<tr id="run-${id}" role="row">
<td role="cell"><span class="state ${tones[state]}">${state}</span>${reason && html` <span class="reason">${reason}</span>`}</td>
<td role="cell" data-label="Job">${job}</td>
<td role="cell" data-label="Scheduled">${renderAge(scheduledAt, now)}</td>
<td role="cell" data-label="Recipients">${renderCounts(recipients)}</td>
<td role="cell" data-label="Messages">${renderCounts(inOrder(messages))}</td>
</tr>`;
};

const columns = ["State", "Job", "Scheduled", "Recipients", "Messages"];

/** Renders the latest runs of the notification jobs. `npm run notify -- report` lists recipients not reached. */
export const renderRuns = (state: ConsoleState | undefined, now: Date): Html => {
  const { runs = [], databaseUnavailable = !state } = state ?? {};
  const empty = databaseUnavailable ? "Runs are unavailable." : "No runs with recipients yet.";
  return html`<section id="runs" class="card" aria-labelledby="runs-title">
<h2 id="runs-title">Notification jobs</h2>
<p class="muted"${runs.length > 0 ? html` hidden` : undefined}>${empty}</p>
<table role="table" class="runs" aria-labelledby="runs-title"${runs.length > 0 ? undefined : html` hidden`}>
<thead role="rowgroup"><tr role="row">${columns.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">${runs.map((run) => renderRun(run, now))}</tbody>
</table>
</section>`;
};
