import type postgres from "postgres";
import { inTime } from "#lib/db/outage.ts";
import { deadline } from "#lib/deadline.ts";
import { type Html, html } from "#lib/html.ts";
import { log } from "#lib/log.ts";
import type { Operator, Role } from "../login/roles.ts";
import { hiddenUnless, renderAge, renderTable, type View } from "../view.ts";
import { sayIfKnown } from "../words.ts";

/** What an operator did. */
export interface Act {
  readonly id: number;
  readonly at: Date;
  /** Who did it: see `id` of Operator. */
  readonly operator: string;
  readonly name: string;
  readonly role: Role;
  readonly action: string;
  /** Such as a masked number. */
  readonly subject: string | null;
  /** Null while the outcome is unknown: the action has not ended, or the messenger ended before. */
  readonly result: "done" | "failed" | "denied" | null;
}

export type Result = NonNullable<Act["result"]>;

const maxActs = 20;
/** Twice with an action and the state that follows it: less than the timeout of the page, 30 s. */
const timeoutMs = 2_000;

/** The record of what operators did. The messenger's role may only add to it and read it. */
export const openActs = (sql: postgres.Sql) => {
  /** Records an action before it is performed. @returns its id. */
  const begin = async (operator: Operator, action: string, subject?: string): Promise<number> => {
    const { id, name, role } = operator;
    const inserting = sql<{ id: number }[]>`
      insert into messaging.operator_act (operator, name, role, action, subject)
      values (${id}, ${name}, ${role}, ${action}, ${subject ?? null}) returning id`;
    // "not recorded" must remain true
    const [row] = await inTime(inserting, timeoutMs);
    if (!row) throw new Error("the action was not recorded");
    return row.id;
  };
  /** Records the result of an action. */
  const end = async (id: number, result: Result): Promise<void> => {
    const inserting = sql`insert into messaging.operator_result (act, result) values (${id}, ${result})`;
    await deadline(inserting, timeoutMs).catch((error: unknown) =>
      log.error("the result of a console action could not be recorded", { id, result, error }),
    );
  };
  /** Records what takes no time. */
  const record = async (operator: Operator, action: string, subject?: string): Promise<void> =>
    end(await begin(operator, action, subject), "done");
  return { begin, end, record };
};

export type Acts = ReturnType<typeof openActs>;

/** Lists the latest, newest first. */
export const listActs = (sql: postgres.ISql) => sql<Act[]>`
  select a.id, a.at, a.operator, a.name, a.role, a.action, a.subject, r.result
  from messaging.operator_act a left join messaging.operator_result r on r.act = a.id
  order by a.id desc limit ${maxActs}`;

const tones = { done: "good", failed: "bad", denied: "bad", unfinished: "waiting" };

// explicit roles as in messages.ts
const renderAct = (
  { id, at, operator, name, role, action, subject, result }: Act,
  { say, now }: View,
): Html => {
  const outcome = result ?? "unfinished";
  return html`<tr id="act-${id}" role="row">
<td role="cell">${sayIfKnown(say, `acts.names.${action}`) ?? action}${subject && html` <span class="phone">${subject}</span>`}</td>
<td role="cell" data-label="${say("acts.columns.result")}"><span class="state ${tones[outcome]}">${say(`acts.results.${outcome}`)}</span></td>
<td role="cell" data-label="${say("acts.columns.operator")}">${name} <span class="muted">${say(`page.roles.${role}`)}</span>${operator === name ? undefined : html` <span class="muted long">${operator}</span>`}</td>
<td role="cell" data-label="${say("acts.columns.at")}">${renderAge(at, now, say)}</td>
</tr>`;
};

/** Renders what operators did, newest first. */
export const renderActs = (view: View): Html => {
  const { say } = view;
  const { acts = [], unread = !view.state } = view.state ?? {};
  const rows = acts.map((act) => renderAct(act, view));
  return html`<section id="acts" class="card" aria-labelledby="acts-title">
<h2 id="acts-title">${say("acts.heading")}</h2>
<p class="muted"${hiddenUnless(acts.length === 0)}>${say(unread ? "acts.unavailable" : "acts.none")}</p>
${renderTable("acts", say, rows)}
</section>`;
};
