import { type Html, html } from "#lib/html.ts";
import { messageClasses } from "#lib/messaging/submission.ts";
import type { SenderSummary } from "../state/senders.ts";
import { formatTime, hiddenUnless, renderTable, type View } from "./view.ts";

const format = { style: "unit", unit: "megabyte", maximumFractionDigits: 1 } as const;

// explicit roles as in outbox-section.ts
const renderSender = (one: SenderSummary, { words, now }: View): Html => {
  const { sender, classes, messagesToday, perDay, bytesToday, bytesPerDay, credentials, expiresAt } = one;
  const { columns, every, used, none, active, until } = words.senders;
  const number = (count: number) => count.toLocaleString(words.locale);
  const size = (bytes: number) => (bytes / 1_000_000).toLocaleString(words.locale, format);
  const expiry =
    credentials > 0 ? [active(credentials), expiresAt && until(formatTime(expiresAt, now, words))] : [none];
  return html`<tr id="sender-${encodeURIComponent(sender)}" role="row">
<td role="cell" class="long">${sender}</td>
<td role="cell" data-label="${columns.classes}">${classes.length === messageClasses.length ? every : classes.join(", ")}</td>
<td role="cell" data-label="${columns.messages}">${used(number(messagesToday), perDay === null ? null : number(perDay))}</td>
<td role="cell" data-label="${columns.bytes}">${used(size(bytesToday), bytesPerDay === null ? null : size(bytesPerDay))}</td>
<td role="cell" data-label="${columns.credentials}">${expiry.filter(Boolean).join(", ")}</td>
</tr>`;
};

/** Renders what each sender may send and has sent today. `npm run city -- sender` changes it. */
export const renderSenders = (view: View): Html => {
  const { columns, heading, unavailable, nobody } = view.words.senders;
  const { terms = [], unread = !view.state } = view.state ?? {};
  const rows = terms.map((one) => renderSender(one, view));
  return html`<section id="senders" class="card" aria-labelledby="senders-title">
<h2 id="senders-title">${heading}</h2>
<p class="muted"${hiddenUnless(terms.length === 0)}>${unread ? unavailable : nobody}</p>
${renderTable("senders", columns, rows)}
</section>`;
};
