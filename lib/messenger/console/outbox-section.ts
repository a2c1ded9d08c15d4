import { type Html, html } from "#lib/html.ts";
import type { State } from "#lib/messaging/submission.ts";
import type { MessageSummary } from "../outbox/message.ts";
import { formatSeconds, renderAge } from "./age.ts";
import type { ConsoleState } from "./state.ts";

const queueNames: Record<string, string> = { PENDING: "Waiting", SENDING: "Sending" };

const tones: Record<State, string> = {
  PENDING: "neutral",
  SENDING: "waiting",
  SENT: "good",
  DELIVERED: "good",
  READ: "good",
  FAILED: "bad",
  EXPIRED: "bad",
  UNCERTAIN: "bad",
};

const renderDepth = (state: ConsoleState | undefined, name: string): Html => {
  const isKnown = state && !state.databaseUnavailable;
  const { count, oldestSeconds } = state?.queue.find((depth) => depth.state === name) ?? {
    count: 0,
    oldestSeconds: 0,
  };
  const age = count > 0 ? `oldest ${formatSeconds(oldestSeconds)}` : "none";
  return html`<div><dt>${queueNames[name]}</dt>
<dd><span class="number">${isKnown ? count : "–"}</span> <span class="muted">${isKnown ? age : "unknown"}</span></dd></div>`;
};

export const renderQueue = (state: ConsoleState | undefined): Html =>
  html`<section id="queue" class="card" aria-labelledby="queue-title">
<h2 id="queue-title">Queue</h2>
<dl class="tiles">${Object.keys(queueNames).map((name) => renderDepth(state, name))}</dl>
</section>`;

// explicit roles: on a narrow page `display: block` removes the roles of table elements
const renderMessage = (message: MessageSummary, now: Date): Html => {
  const { id, kind, phone, state, reason, attempts, acceptedAt, changedAt } = message;
  // a message that is SENT has a reason only if the phone could not decrypt it
  const tone = reason && tones[state] === "good" ? "bad" : tones[state];
  return html`<tr id="message-${id}" role="row">
<td role="cell"><span class="state ${tone}">${state}</span>${reason && html` <span class="reason">${reason}</span>`}</td>
<td role="cell" data-label="To" class="phone">${phone}</td>
<td role="cell" data-label="Kind">${kind}</td>
<td role="cell" data-label="Sends">${attempts}</td>
<td role="cell" data-label="Accepted">${renderAge(acceptedAt, now)}</td>
<td role="cell" data-label="Changed">${renderAge(changedAt, now)}</td>
<td role="cell" data-label="Id"><code>${id}</code></td>
</tr>`;
};

const columns = ["State", "To", "Kind", "Sends", "Accepted", "Changed", "Id"];

/** Renders the latest messages, without their text. */
export const renderMessages = (state: ConsoleState | undefined, now: Date): Html => {
  const { messages = [], databaseUnavailable = !state } = state ?? {};
  const empty = databaseUnavailable ? "Messages are unavailable." : "No messages yet.";
  return html`<section id="messages" class="card" aria-labelledby="messages-title">
<h2 id="messages-title">Latest messages</h2>
<p class="muted"${messages.length > 0 ? html` hidden` : undefined}>${empty}</p>
<table role="table" aria-labelledby="messages-title"${messages.length > 0 ? undefined : html` hidden`}>
<thead role="rowgroup"><tr role="row">${columns.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">${messages.map((message) => renderMessage(message, now))}</tbody>
</table>
</section>`;
};
