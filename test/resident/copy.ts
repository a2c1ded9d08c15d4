import type postgres from "postgres";
import { expect } from "vitest";
import { type Cursor, readStep } from "../steps/residents/walk-step.ts";

/** What a partner makes of the guide: a copy of all residents, by their ids. */
export class Copy {
  readonly residents = new Map<string, Readonly<Record<string, string>>>();
  /** Ids in the order in which the last walk returned them. */
  returned: string[] = [];
  #next: Cursor = { after: "start" };
  readonly #sql: postgres.Sql;

  constructor(sql: postgres.Sql) {
    this.#sql = sql;
  }

  /** Applies one step. @returns whether it was the last one. */
  async step(size: number): Promise<boolean> {
    const { residents, ids, removed, after, changed_since } = await readStep(this.#sql, this.#next, size);
    expect([ids.length, residents.length <= size]).toEqual([residents.length, true]);
    for (const id of removed) this.residents.delete(id);
    for (const [i, id] of ids.entries()) this.residents.set(id, residents[i] ?? {});
    this.returned.push(...ids);
    expect([after, changed_since]).toContain(null);
    this.#next = after === null ? { changed_since: changed_since ?? "" } : { after };
    return after === null;
  }

  /** Walks to the end: at first all residents, later what has changed. */
  async walk(findSize: () => number): Promise<void> {
    this.returned = [];
    while (!(await this.step(findSize())));
  }

  async expectEqual(): Promise<void> {
    const stored = await this.#sql<{ shown: Readonly<Record<string, string>> }[]>`
      select row_to_json(resident.mask(r, null)) as shown from resident.resident r`;
    const sorted = (rows: Iterable<Readonly<Record<string, string>>>) =>
      [...rows].map((row) => JSON.stringify(row)).sort();
    expect(sorted(this.residents.values())).toEqual(sorted(stored.map(({ shown }) => shown)));
  }
}

/** Resolves once no transaction runs that is older than now, in any database of the server: walks wait for those. */
export const untilSettled = async (sql: postgres.Sql): Promise<void> => {
  const [now] = await sql<{ xid: string }[]>`select pg_current_xact_id()::text as xid`;
  const isSettled = async () => {
    const [row] = await sql<{ is: boolean }[]>`
      select pg_snapshot_xmin(pg_current_snapshot()) > ${now?.xid ?? ""}::text::xid8 as is`;
    return row?.is;
  };
  await expect.poll(isSettled, { timeout: 120_000 }).toBe(true);
};
