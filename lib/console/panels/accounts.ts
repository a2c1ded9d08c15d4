import type postgres from "postgres";
import { type Html, html } from "#lib/html.ts";
import { channels } from "#lib/messaging/channel.ts";
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
  const { state, say } = view;
  if (account.name === state?.account && state.leader)
    return say(`conditions.${findCondition(view).name}.label`);
  if (account.holdCode !== null) return say("accounts.held", { code: account.holdCode });
  if (!channels[account.channel].isLinked)
    return say(account.number === null ? "accounts.unchecked" : "accounts.usable");
  return say(account.number === null ? "accounts.unlinked" : "accounts.linked");
};

// explicit roles as in messages.ts
const renderAccount = (account: AccountSummary, view: View): Html => {
  const { say, state } = view;
  const { name, channel, department, pool, number, waiting } = account;
  const isShown = name === state?.account;
  const button = isShown
    ? html`<span class="muted">${say("accounts.shown")}</span>`
    : html`<form method="post" action="/console/account?account=${name}" data-live><button class="quiet">${say("accounts.show", { name })}</button></form>`;
  return html`<tr id="account-${name}" role="row">
<td role="cell" class="long">${name}${department && html` <span class="muted">${department}</span>`}</td>
<td role="cell" data-label="${say("accounts.columns.channel")}">${say(`accounts.channels.${channel}`)}</td>
<td role="cell" data-label="${say("accounts.columns.pool")}">${pool}</td>
<td role="cell" data-label="${say("accounts.columns.state")}">${say(`accounts.states.${account.state}`)}</td>
<td role="cell" data-label="${say("accounts.columns.number")}" class="phone">${(channels[channel].hasNumber && number) || "–"}</td>
<td role="cell" data-label="${say("accounts.columns.connection")}">${describe(account, view)}</td>
<td role="cell" data-label="${say("accounts.columns.waiting")}">${waiting.toLocaleString(say("locale"))}</td>
<td role="cell" data-label="${say("accounts.columns.page")}">${button}</td>
</tr>`;
};

/** Renders the city's accounts. The other pages show one of them. `npm run city -- account` changes them. */
export const renderAccounts = (view: View): Html => {
  const { say } = view;
  const { accounts = [] } = view.state ?? {};
  const rows = accounts.map((account) => renderAccount(account, view));
  return html`<section id="accounts" class="card" aria-labelledby="accounts-title">
<h2 id="accounts-title">${say("accounts.heading")}</h2>
<p class="muted">${say("accounts.hint")}</p>
${renderTable("accounts", say, rows)}
</section>`;
};
