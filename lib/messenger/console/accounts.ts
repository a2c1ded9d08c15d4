import type postgres from "postgres";

/** An account of the city, as it stands in the database: any task may lead it. */
export interface AccountRow {
  readonly name: string;
  readonly department: string | null;
  readonly pool: string;
  readonly state: "active" | "spare" | "retired";
  /** That is linked, masked. */
  readonly number: string | null;
  /** The platform's code with which it holds logins. */
  readonly heldBy: number | null;
  /** Messages that wait for this account and no other. */
  readonly waiting: number;
}

/** Lists the accounts that connect, the oldest first. */
export const listAccountRows = (sql: postgres.ISql) => sql<AccountRow[]>`
  select name, department, pool, state, left(number, 4) || repeat('•', length(number) - 6) || right(number, 2) as number,
    case when hold_until is null or hold_until > now() then hold_code end as "heldBy",
    messaging.count_waiting(id) as waiting
  from messaging.account where state <> 'retired' order by id`;
