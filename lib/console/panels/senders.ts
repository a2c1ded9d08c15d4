import type postgres from "postgres";
import { type Html, html } from "#lib/html.ts";
import { messageClasses } from "#lib/messaging/submission.ts";
import { listTerms, type SenderTerms } from "#lib/sender/limits.ts";
import { formatTime, hiddenUnless, renderTable, type View } from "../view.ts";

interface Credentials {
  /** How many are active; a user of the secret messaging-basic has none here. */
  readonly credentials: number;
  /** When the last of them expires; null for never. */
  readonly expiresAt: Date | null;
}

/** A sender, without what its credentials say. */
export type SenderSummary = SenderTerms & Credentials;

/** Those that are active by messaging.is_active, which needs the right to read their digests. */
const listCredentials = (sql: postgres.ISql) => sql<(Credentials & { sender: string })[]>`
  select sender, count(*)::int as credentials, nullif(max(until), 'infinity') as "expiresAt"
  from (
    select sender, coalesce(least(expires_at, retires_at), 'infinity') as until
    from messaging.sender_credential where revoked_at is null) held
  where now() < until group by sender`;

/** Lists the senders of the messaging API, by name. */
export const listSenderSummaries = async (sql: postgres.ISql): Promise<SenderSummary[]> => {
  const [terms, credentials] = await Promise.all([listTerms(sql), listCredentials(sql)]);
  const bySender = new Map(credentials.map((one) => [one.sender, one]));
  const none: Credentials = { credentials: 0, expiresAt: null };
  return terms.map((one) => ({ ...none, ...bySender.get(one.sender), ...one }));
};

const format = { style: "unit", unit: "megabyte", maximumFractionDigits: 1 } as const;

// explicit roles as in messages.ts
const renderSender = (one: SenderSummary, { say, now }: View): Html => {
  const { sender, classes, messagesToday, perDay, bytesToday, bytesPerDay, credentials, expiresAt } = one;
  const number = (count: number) => count.toLocaleString(say("locale"));
  const size = (bytes: number) => (bytes / 1_000_000).toLocaleString(say("locale"), format);
  const used = (amount: string, limit: string | null) =>
    limit === null ? amount : say("senders.used", { amount, limit });
  const until = expiresAt && say("senders.until", { time: formatTime(expiresAt, now, say) });
  const held =
    credentials > 0 ? [say("senders.active", { count: credentials }), until] : [say("senders.none")];
  return html`<tr id="sender-${encodeURIComponent(sender)}" role="row">
<td role="cell" class="long">${sender}</td>
<td role="cell" data-label="${say("senders.columns.classes")}">${classes.length === messageClasses.length ? say("senders.every") : classes.join(", ")}</td>
<td role="cell" data-label="${say("senders.columns.messages")}">${used(number(messagesToday), perDay === null ? null : number(perDay))}</td>
<td role="cell" data-label="${say("senders.columns.bytes")}">${used(size(bytesToday), bytesPerDay === null ? null : size(bytesPerDay))}</td>
<td role="cell" data-label="${say("senders.columns.credentials")}">${held.filter(Boolean).join(", ")}</td>
</tr>`;
};

/** Renders what each sender may send and has sent today. `npm run city -- sender` changes it. */
export const renderSenders = (view: View): Html => {
  const { say } = view;
  const { terms = [], unread = !view.state } = view.state ?? {};
  const rows = terms.map((one) => renderSender(one, view));
  return html`<section id="senders" class="card" aria-labelledby="senders-title">
<h2 id="senders-title">${say("senders.heading")}</h2>
<p class="muted"${hiddenUnless(terms.length === 0)}>${say(unread ? "senders.unavailable" : "senders.nobody")}</p>
${renderTable("senders", say, rows)}
</section>`;
};
