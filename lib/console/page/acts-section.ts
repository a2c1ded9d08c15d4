import { type Html, html } from "#lib/html.ts";
import type { Act } from "../state/acts.ts";
import { hiddenUnless, renderAge, renderTable, type View } from "./view.ts";

const tones = { done: "good", failed: "bad", denied: "bad", unfinished: "waiting" };

// explicit roles as in outbox-section.ts
const renderAct = (
  { id, at, operator, name, role, action, subject, result }: Act,
  { words, now }: View,
): Html => {
  const { columns, names, results } = words.acts;
  const outcome = result ?? "unfinished";
  return html`<tr id="act-${id}" role="row">
<td role="cell">${(names as Readonly<Record<string, string>>)[action] ?? action}${subject && html` <span class="phone">${subject}</span>`}</td>
<td role="cell" data-label="${columns.result}"><span class="state ${tones[outcome]}">${results[outcome]}</span></td>
<td role="cell" data-label="${columns.operator}">${name} <span class="muted">${words.page.roles[role]}</span>${operator === name ? undefined : html` <span class="muted long">${operator}</span>`}</td>
<td role="cell" data-label="${columns.at}">${renderAge(at, now, words)}</td>
</tr>`;
};

/** Renders what operators did, newest first. */
export const renderActs = (view: View): Html => {
  const { columns, heading, none, unavailable } = view.words.acts;
  const { acts = [], unread = !view.state } = view.state ?? {};
  const shown = [columns.action, columns.result, columns.operator, columns.at];
  const rows = acts.map((act) => renderAct(act, view));
  return html`<section id="acts" class="card" aria-labelledby="acts-title">
<h2 id="acts-title">${heading}</h2>
<p class="muted"${hiddenUnless(acts.length === 0)}>${unread ? unavailable : none}</p>
${renderTable("acts", shown, rows)}
</section>`;
};
