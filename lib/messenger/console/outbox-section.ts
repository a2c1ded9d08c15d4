import { type Html, html } from "#lib/html.ts";
import type { State } from "#lib/messaging/submission.ts";
import type { Listed } from "../outbox/message.ts";
import { describeSeconds } from "./age.ts";
import type { ConsoleState } from "./state.ts";
import { renderTime } from "./time.ts";

const queueNames: Record<string, string> = { PENDING: "Waiting", SENDING: "Being sent" };

const tones: Record<State, string> = {
  ...{ PENDING: "neutral", SENDING: "waiting", SENT: "good", DELIVERED: "good", READ: "good" },
  ...{ FAILED: "bad", EXPIRED: "bad", UNCERTAIN: "bad" },
};

const renderDepth = (state: ConsoleState | undefined, name: string): Html => {
  const isKnown = state && !state.databaseAway;
  const { count, oldestSeconds } = state?.queue.find((depth) => depth.state === name) ?? {
    count: 0,
    oldestSeconds: 0,
  };
  const age = count > 0 ? `oldest ${describeSeconds(oldestSeconds)}` : "none";
  return html`<div><dt>${queueNames[name]}</dt>
<dd><span class="number">${isKnown ? count : "–"}</span> <span class="muted">${isKnown ? age : "not known"}</span></dd></div>`;
};

/** How many messages wait, and for how long. */
export const renderQueue = (state: ConsoleState | undefined): Html =>
  html`<section id="queue" class="card" aria-labelledby="queue-title">
<h2 id="queue-title">Queue</h2>
<dl class="tiles">${Object.keys(queueNames).map((name) => renderDepth(state, name))}</dl>
</section>`;

// the roles stand here since a narrow page shows the rows as blocks, which takes the table's own roles away
const renderMessage = (message: Listed, now: Date): Html => {
  const { id, kind, phone, state, reason, attempts, acceptedAt, changedAt } = message;
  return html`<tr id="message-${id}" role="row">
<td role="cell"><span class="state ${tones[state]}">${state}</span>${reason && html` <span class="reason">${reason}</span>`}</td>
<td role="cell" data-label="To" class="phone">${phone}</td>
<td role="cell" data-label="Kind">${kind}</td>
<td role="cell" data-label="Sends">${attempts}</td>
<td role="cell" data-label="Accepted">${renderTime(acceptedAt, now)}</td>
<td role="cell" data-label="Changed">${renderTime(changedAt, now)}</td>
<td role="cell" data-label="Id"><code>${id}</code></td>
</tr>`;
};

const columns = ["State", "To", "Kind", "Sends", "Accepted", "Changed", "Id"];

/** The last messages, never what they say. */
export const renderMessages = (state: ConsoleState | undefined, now: Date): Html => {
  const { messages = [], databaseAway = !state } = state ?? {};
  const empty = databaseAway ? "The messages cannot be shown just now." : "No messages yet.";
  return html`<section id="messages" class="card" aria-labelledby="messages-title">
<h2 id="messages-title">Last messages</h2>
<p class="muted"${messages.length > 0 ? html` hidden` : undefined}>${empty}</p>
<table role="table" aria-labelledby="messages-title"${messages.length > 0 ? undefined : html` hidden`}>
<thead role="rowgroup"><tr role="row">${columns.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">${messages.map((message) => renderMessage(message, now))}</tbody>
</table>
</section>`;
};
