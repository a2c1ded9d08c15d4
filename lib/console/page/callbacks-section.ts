import { type Html, html } from "#lib/html.ts";
import { type CallbackSummary, mostCounted } from "../state/callbacks.ts";
import { quote } from "./runs-section.ts";
import { hiddenUnless, renderAge, renderTable, type View } from "./view.ts";

const renderState = ({ failures, lastStatus, disabledAt }: CallbackSummary, { words }: View): Html => {
  const { accepts, rejects, fails, noAnswer, disabled } = words.callbacks;
  if (disabledAt) return html`<span class="state bad">${disabled}</span>`;
  if (failures === 0 && lastStatus === null) return html`<span class="state good">${accepts}</span>`;
  const status = lastStatus ?? noAnswer;
  return failures === 0
    ? html`<span class="state waiting">${rejects(status)}</span>`
    : html`<span class="state bad">${fails(failures, status)}</span>`;
};

const renderCount = (count: number): string => (count > mostCounted ? `${mostCounted}+` : `${count}`);

// explicit roles as in outbox-section.ts
const renderCallback = (one: CallbackSummary, view: View): Html => {
  const { id, sender, host, waiting, oldest, dead } = one;
  const { words, now } = view;
  const { columns, since } = words.callbacks;
  return html`<tr id="callback-${id}" role="row">
<td role="cell" class="long">${host}</td>
<td role="cell" data-label="${columns.sender}" class="long">${sender}</td>
<td role="cell" data-label="${columns.state}">${renderState(one, view)}</td>
<td role="cell" data-label="${columns.waiting}">${renderCount(waiting)}${oldest && html` <span class="muted">${since} ${renderAge(oldest, now, words)}</span>`}</td>
<td role="cell" data-label="${columns.dead}">${renderCount(dead)}${dead > 0 ? html`<code>npm run city -- callback replay ${quote(sender)}</code>` : undefined}</td>
</tr>`;
};

/** Renders where changes of messages' states are sent. `npm run city -- callback` changes it. */
export const renderCallbacks = (view: View): Html => {
  const { columns, heading, unavailable, none } = view.words.callbacks;
  const { callbacks = [], unread = !view.state } = view.state ?? {};
  const rows = callbacks.map((one) => renderCallback(one, view));
  return html`<section id="callbacks" class="card" aria-labelledby="callbacks-title">
<h2 id="callbacks-title">${heading}</h2>
<p class="muted"${hiddenUnless(callbacks.length === 0)}>${unread ? unavailable : none}</p>
${renderTable("callbacks", columns, rows)}
</section>`;
};
