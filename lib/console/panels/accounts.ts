import type postgres from "postgres";
import { type Html, html } from "#lib/html.ts";
import { channels as ofChannel } from "#lib/messaging/channel.ts";
import { maskPhone } from "#lib/messaging/phone.ts";
import { type AccountSummary, summarizeAccounts } from "#lib/messenger/account/account-admin.ts";
import { renderTable, type View } from "../view.ts";
import { findCondition } from "./status.ts";

/** Lists the accounts that connect, as they stand in the database: any task may lead them. Their numbers are masked. */
export const listAccountRows = async (sql: postgres.ISql): Promise<AccountSummary[]> => {
  const accounts = await summarizeAccounts(sql, sql`state <> 'retired'`);
  return accounts.map((one) => ({ ...one, number: one.number && maskPhone(one.number) }));
};

const describe = (account: AccountSummary, view: View): string => {
  const { state, words } = view;
  const { accounts, conditions } = words;
  if (account.name === state?.account && state.leader) return conditions[findCondition(view).name].label;
  if (account.holdCode !== null) return accounts.held(account.holdCode);
  if (!ofChannel[account.channel].isLinked)
    return account.number === null ? accounts.unchecked : accounts.usable;
  return account.number === null ? accounts.unlinked : accounts.linked;
};

// explicit roles as in messages.ts
const renderAccount = (account: AccountSummary, view: View): Html => {
  const { words, state } = view;
  const { columns, channels, states, show, shown } = words.accounts;
  const { name, channel, department, pool, number, waiting } = account;
  const isShown = name === state?.account;
  const button = isShown
    ? html`<span class="muted">${shown}</span>`
    : html`<form method="post" action="/console/account?account=${name}" data-live><button class="quiet">${show(name)}</button></form>`;
  return html`<tr id="account-${name}" role="row">
<td role="cell" class="long">${name}${department && html` <span class="muted">${department}</span>`}</td>
<td role="cell" data-label="${columns.channel}">${channels[channel]}</td>
<td role="cell" data-label="${columns.pool}">${pool}</td>
<td role="cell" data-label="${columns.state}">${states[account.state]}</td>
<td role="cell" data-label="${columns.number}" class="phone">${(ofChannel[channel].hasNumber && number) || "–"}</td>
<td role="cell" data-label="${columns.connection}">${describe(account, view)}</td>
<td role="cell" data-label="${columns.waiting}">${waiting.toLocaleString(words.locale)}</td>
<td role="cell" data-label="${columns.page}">${button}</td>
</tr>`;
};

/** Renders the city's accounts. The other pages show one of them. `npm run city -- account` changes them. */
export const renderAccounts = (view: View): Html => {
  const { columns, heading, hint } = view.words.accounts;
  const { accounts = [] } = view.state ?? {};
  const rows = accounts.map((account) => renderAccount(account, view));
  return html`<section id="accounts" class="card" aria-labelledby="accounts-title">
<h2 id="accounts-title">${heading}</h2>
<p class="muted">${hint}</p>
${renderTable("accounts", columns, rows)}
</section>`;
};
