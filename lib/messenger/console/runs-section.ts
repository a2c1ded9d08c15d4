import { type Html, html } from "#lib/html.ts";
import type { ShownRun } from "./runs.ts";
import type { ConsoleState } from "./state.ts";
import { renderTime } from "./time.ts";

const tones: Record<ShownRun["state"], string> = { running: "waiting", done: "good", failed: "bad" };

/** What is not there is not listed. */
const renderCounts = (counts: Readonly<Record<string, number>>): Html => {
  const there = Object.entries(counts).filter(([, count]) => count > 0);
  if (there.length === 0) return html`<span class="muted">none</span>`;
  return html`<ul class="counts">${there.map(([name, count]) => html`<li>${count} ${name}</li>`)}</ul>`;
};

const stateOrder = ["PENDING", "SENDING", "SENT", "DELIVERED", "READ", "FAILED", "EXPIRED", "UNCERTAIN"];
const inOrder = (messages: ShownRun["messages"]) =>
  Object.fromEntries(stateOrder.map((state) => [state, messages[state] ?? 0]));

// roles as in the table of messages
const renderRun = (run: ShownRun, now: Date): Html => {
  const { id, job, scheduledAt, state, reason, accepted, opted_out, refused, expired, messages } = run;
  const recipients = { "handed over": accepted, "opted out": opted_out, refused, "too late": expired };
  return html`<tr id="run-${id}" role="row">
<td role="cell"><span class="state ${tones[state]}">${state}</span>${reason && html` <span class="reason">${reason}</span>`}</td>
<td role="cell" data-label="Job">${job}</td>
<td role="cell" data-label="For">${renderTime(scheduledAt, now)}</td>
<td role="cell" data-label="Recipients">${renderCounts(recipients)}</td>
<td role="cell" data-label="Messages">${renderCounts(inOrder(messages))}</td>
</tr>`;
};

const columns = ["State", "Job", "For", "Recipients", "Messages"];

/** The last runs of the notification jobs; who was not reached is told by `npm run notify -- report`. */
export const renderRuns = (state: ConsoleState | undefined, now: Date): Html => {
  const { runs = [], databaseAway = !state } = state ?? {};
  const empty = databaseAway ? "The runs cannot be shown just now." : "No job had anybody to tell yet.";
  return html`<section id="runs" class="card" aria-labelledby="runs-title">
<h2 id="runs-title">Notification jobs</h2>
<p class="muted"${runs.length > 0 ? html` hidden` : undefined}>${empty}</p>
<table role="table" class="runs" aria-labelledby="runs-title"${runs.length > 0 ? undefined : html` hidden`}>
<thead role="rowgroup"><tr role="row">${columns.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">${runs.map((run) => renderRun(run, now))}</tbody>
</table>
</section>`;
};
