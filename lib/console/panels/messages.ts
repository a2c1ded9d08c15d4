import type postgres from "postgres";
import { findRejection, rejectedWith } from "#lib/channels/codes.ts";
import { type Html, html } from "#lib/html.ts";
import { maskPhone, readLocalNumber } from "#lib/messaging/phone.ts";
import { readPhone } from "#lib/messaging/phone-reading.ts";
import type { State } from "#lib/messaging/submission.ts";
import { priorities } from "#lib/messaging/submission.ts";
import {
  type MessageSummary,
  type Obstacle,
  type ReasonName,
  reasons,
} from "#lib/messenger/outbox/message.ts";
import type { MessageFilter } from "../login/operator-login.ts";
import { formatSeconds, formatTime, hiddenUnless, renderAge, renderTable, type View } from "../view.ts";
import { translate } from "../words.ts";

const maxMessages = 50;

/**
 * Reads the search field: a number, also as people write it, or the id of a message, which has letters. What
 * has none may be any number of a person, and is treated as a phone number.
 */
export const readFilter = (query: string, sender: string): MessageFilter => {
  const text = query.trim();
  const read = readPhone(text);
  const phone = "phone" in read ? read.phone : readLocalNumber(text);
  const wanted = /^\d+$/.test(phone) ? { phone } : text ? { id: text } : {};
  return { ...wanted, ...(sender && { sender }) };
};

/** The code with which the platform has rejected a message `m`: of one that has failed with the first, the reason alone has it. */
const codeOf = (sql: postgres.ISql) =>
  sql`coalesce(m.rejections ->> 'code', substring(m.reason from ${`^${rejectedWith("(.+?)")}`}))`;

/** Lists the latest messages, newest first. Reads no text, and only masked numbers. */
export const listMessages = (sql: postgres.ISql, { id, phone, sender }: MessageFilter) => sql<
  MessageSummary[]
>`
  select id, sender, kind, state, reason, attempts,
    ${codeOf(sql)} as code,
    coalesce((select channel from messaging.account a where a.id = m.account), 'whatsapp') as channel, accepted_at as "acceptedAt",
    changed_at as "changedAt", left(phone, 4) || repeat('•', length(phone) - 6) || right(phone, 2) as phone
  from messaging.message m
  where true ${id === undefined ? sql`` : sql`and id = ${id}`}
    ${phone === undefined ? sql`` : sql`and phone = ${phone}`}
    ${sender === undefined ? sql`` : sql`and sender = ${sender}`}
  ${
    // for one message the planner would walk the order instead of looking up the id
    id === undefined ? sql`order by seq desc limit ${maxMessages}` : sql``
  }`;

/** What became of the latest messages. */
export interface Failures {
  /** Of the last ten whose outcome the account decides, at most an hour ago: not of those to numbers without the platform. */
  readonly ended: number;
  readonly failed: number;
  /** Codes of the platform, or reasons; the most frequent first. */
  readonly codes: readonly string[];
  readonly senders: readonly string[];
  readonly accounts: readonly string[];
  readonly since: Date | undefined;
}

const ofNumbers = [reasons.notRegistered, reasons.noDevice, reasons.optedOut];

export const countFailures = async (sql: postgres.ISql): Promise<Failures> => {
  const rows = await sql<{ failed: boolean; code: string; sender: string; account: string; at: Date }[]>`
    select m.state <> all ('{SENT,DELIVERED,READ}') as failed, coalesce(${codeOf(sql)}, m.reason, '-') as code, m.sender,
      coalesce(a.name, '-') as account, m.changed_at as at
    from (
      -- thousands of a bulk run, accepted later, may wait or be cancelled
      select seq, state, rejections, reason, sender, account, changed_at
      from messaging.message
      -- a reminder that expires is a matter of the queue
      where (state in ('SENT', 'DELIVERED', 'READ', 'FAILED') or state = 'EXPIRED' and priority <= ${priorities.transactional})
        and not is_open
      order by seq desc limit 200
    ) m left join messaging.account a on a.id = m.account
    where m.changed_at > now() - interval '1 hour'
      and not (m.state <> 'SENT' and coalesce(m.reason, '') = any(string_to_array(${ofNumbers.join("|")}, '|')))
    order by m.seq desc limit 10`;
  const failed = rows.filter((row) => row.failed);
  const listMost = (of: "code" | "sender" | "account") =>
    [...Map.groupBy(failed, (row) => row[of])]
      .toSorted(([, one], [, other]) => other.length - one.length)
      .map(([name]) => name);
  return {
    ended: rows.length,
    failed: failed.length,
    codes: listMost("code"),
    senders: listMost("sender"),
    accounts: listMost("account"),
    since: failed.at(-1)?.at,
  };
};

const queueNames = { PENDING: "waiting", SENDING: "sending" } as const;

const tones: Record<State, string> = {
  PENDING: "neutral",
  SENDING: "waiting",
  SENT: "good",
  DELIVERED: "good",
  READ: "good",
  FAILED: "bad",
  EXPIRED: "bad",
  UNCERTAIN: "bad",
  CANCELLED: "neutral",
};

const renderDepth = ({ state, say }: View, name: keyof typeof queueNames): Html => {
  const isKnown = state && !state.unread;
  const { count, oldestSeconds } = state?.queue.find((depth) => depth.state === name) ?? {
    count: 0,
    oldestSeconds: 0,
  };
  const age = count > 0 ? say("queue.oldest", { age: formatSeconds(oldestSeconds, say) }) : say("queue.none");
  return html`<div><dt>${say(`queue.${queueNames[name]}`)}</dt>
<dd><span class="number">${isKnown ? count : "–"}</span> <span class="muted">${isKnown ? age : say("queue.unknown")}</span></dd></div>`;
};

export const renderQueue = (view: View): Html =>
  html`<section id="queue" class="card" aria-labelledby="queue-title">
<h2 id="queue-title">${view.say("queue.heading")}</h2>
<dl class="tiles">${(["PENDING", "SENDING"] as const).map((name) => renderDepth(view, name))}</dl>
</section>`;

const renderObstacle = ({ name, until }: Obstacle, { say, now }: View): Html => {
  const end = until && html`, ${say("messages.until", { time: formatTime(until, now, say) })}`;
  return html`<li>${say(`messages.obstacles.${name}`)}${end}</li>`;
};

/** Renders why a message waits. */
const renderObstacles = (obstacles: readonly Obstacle[], view: View): Html => {
  const { say } = view;
  if (obstacles.length === 0) return html`<div class="reason">${say("messages.next")}</div>`;
  return html`<div class="reason">${say("messages.waits")}<ul>${obstacles.map((one) => renderObstacle(one, view))}</ul></div>`;
};

const reasonNames = Object.keys(reasons) as ReasonName[];

/** Translates the reason of a message as it is stored. */
const describeReason = ({ reason, code, channel }: MessageSummary, { say, language }: View): string => {
  const says = code === null ? "" : translate(findRejection(channel, code).says, language);
  if (code !== null && reason?.startsWith(rejectedWith(code)))
    return say("messages.rejected", { code, says });
  const name = reasonNames.find((one) => reason?.startsWith(reasons[one]));
  const said = name ? translate(reasons[name], language) : reason;
  return [said, code !== null && say("messages.rejectedBefore", { code, says })].filter(Boolean).join("; ");
};

// explicit roles: on a narrow page `display: block` removes the roles of table elements
const renderMessage = (message: MessageSummary, view: View): Html => {
  const {
    id,
    kind,
    phone,
    sender,
    state,
    reason,
    code,
    channel,
    attempts,
    acceptedAt,
    changedAt,
    obstacles,
  } = message;
  const { say, now, language } = view;
  // a message that is SENT has a reason only if the phone could not decrypt it
  const tone = reason && tones[state] === "good" ? "bad" : tones[state];
  const said = tones[state] === "good" && !reason ? "" : describeReason(message, view);
  const meaning = say(`messages.states.${state}`);
  const advice = said && code && translate(findRejection(channel, code).operator, language);
  return html`<tr id="message-${id}" role="row">
<td role="cell"><span class="state ${tone}">${state}</span>${meaning === state ? undefined : html` <span class="muted">${meaning}</span>`}${said && html` <span class="reason">${said}</span>`}${advice && html` <span class="reason">${say("messages.advice")} ${advice}</span>`}${obstacles && renderObstacles(obstacles, view)}</td>
<td role="cell" data-label="${say("messages.columns.to")}" data-cell="to" class="phone">${phone}</td>
<td role="cell" data-label="${say("messages.columns.sender")}" data-cell="sender" class="long">${sender}</td>
<td role="cell" data-label="${say("messages.columns.kind")}">${say(`messages.kinds.${kind}`)}</td>
<td role="cell" data-label="${say("messages.columns.sends")}">${attempts}</td>
<td role="cell" data-label="${say("messages.columns.accepted")}">${renderAge(acceptedAt, now, say)}</td>
<td role="cell" data-label="${say("messages.columns.changed")}">${renderAge(changedAt, now, say)}</td>
<td role="cell" data-label="${say("messages.columns.id")}" data-cell="id"><code>${id}</code></td>
</tr>`;
};

const describeFilter = ({ filter: { id, phone, sender }, say }: View): string[] => [
  ...(phone === undefined ? [] : [say("messages.ofNumber", { phone: maskPhone(phone) })]),
  ...(id === undefined ? [] : [say("messages.ofId", { id })]),
  ...(sender === undefined ? [] : [say("messages.ofSender", { sender })]),
];

/** What was typed is not shown again: it may be a number. */
const renderSearch = (view: View): Html => {
  const { state, filter, say } = view;
  const described = describeFilter(view);
  const options = (state?.senders ?? []).map(
    (name) => html`<option${name === filter.sender ? html` selected` : undefined}>${name}</option>`,
  );
  return html`<form method="post" action="/console/search" class="search" role="search" data-live>
<div><label for="query">${say("messages.query")}</label>
<input id="query" name="query" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="60" aria-describedby="query-hint"></div>
<div><label for="sender">${say("messages.sender")}</label>
<select id="sender" name="sender"><option value="">${say("messages.everySender")}</option>${options}</select></div>
<button class="plain">${say("messages.search")}</button>
<p id="query-hint" class="muted">${say("messages.queryHint")}</p>
</form>
<form method="post" action="/console/search" class="shown" data-live${hiddenUnless(described.length > 0)}>
<p id="filter">${described.length > 0 ? say("messages.shown", { what: described.join(", ") }) : undefined}</p>
<button class="quiet">${say("messages.clear")}</button>
</form>`;
};

/** Renders the latest messages, or those that match the search, without their text. */
export const renderMessages = (view: View): Html => {
  const { say, filter } = view;
  const { messages = [], unread = !view.state } = view.state ?? {};
  const isFiltered = Object.keys(filter).length > 0;
  const empty = unread ? "messages.unavailable" : isFiltered ? "messages.noneFound" : "messages.none";
  const rows = messages.map((message) => renderMessage(message, view));
  return html`<section id="messages" class="card" aria-labelledby="messages-title">
<h2 id="messages-title">${say(isFiltered ? "messages.found" : "messages.heading")}</h2>
${renderSearch(view)}
<p class="muted"${hiddenUnless(messages.length === 0)}>${say(empty)}</p>
${renderTable("messages", say, rows, "messages")}
</section>`;
};
