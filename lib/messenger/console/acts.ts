import type postgres from "postgres";
import { log } from "#lib/log.ts";
import type { Operator, Role } from "./login/roles.ts";

/** What an operator did. */
export interface Act {
  readonly id: number;
  readonly at: Date;
  readonly operator: string;
  readonly role: Role;
  readonly action: string;
  /** Such as a masked number. */
  readonly subject: string | null;
  /** Null if the messenger ended before the action did. */
  readonly result: "done" | "failed" | "denied" | null;
}

export type Result = NonNullable<Act["result"]>;

const maxActs = 20;

/** The record of what operators did. The messenger's role may only add to it and read it. */
export const openActs = (sql: postgres.Sql) => {
  /** Records an action before it is performed. @returns its id. */
  const begin = async ({ name, role }: Operator, action: string, subject?: string): Promise<number> => {
    const [row] = await sql<{ id: number }[]>`
      insert into messaging.operator_act (operator, role, action, subject)
      values (${name}, ${role}, ${action}, ${subject ?? null}) returning id`;
    if (!row) throw new Error("the action was not recorded");
    return row.id;
  };
  /** Records the result of an action. */
  const end = async (id: number, result: Result): Promise<void> => {
    await sql`insert into messaging.operator_result (act, result) values (${id}, ${result})`.catch(
      (error: unknown) =>
        log.error("the result of a console action could not be recorded", { id, result, error }),
    );
  };
  /** Records what works without the database too, such as a login: the operator must see what is wrong. */
  const record = (operator: Operator, action: string, subject?: string): Promise<void> =>
    begin(operator, action, subject)
      .then((id) => end(id, "done"))
      .catch((error: unknown) => log.error("a console action could not be recorded", { action, error }));
  return { begin, end, record };
};

export type Acts = ReturnType<typeof openActs>;

/** Lists the latest, newest first. */
export const listActs = (sql: postgres.ISql) => sql<Act[]>`
  select a.id, a.at, a.operator, a.role, a.action, a.subject, r.result
  from messaging.operator_act a left join messaging.operator_result r on r.act = a.id
  order by a.id desc limit ${maxActs}`;
