import type postgres from "postgres";
import { inTime } from "#lib/db/outage.ts";
import { firstAccount } from "#lib/messenger/account/account.ts";

/** Why no login is tried. */
interface Hold {
  /** Of the platform's last answer; see whatsapp/codes.ts. */
  readonly code: number;
  /** Undefined: until an operator acts. */
  readonly leftMs: number | undefined;
}

/** What must outlive a restart about logging in, besides the keys. */
export interface LoginHolds {
  findHold(): Promise<Hold | undefined>;
  /** @param forMs undefined: until an operator acts. */
  hold(code: number, forMs: number | undefined): Promise<void>;
  release(): Promise<void>;
}

/**
 * Ends are measured with the database's clock: tasks may differ.
 *
 * @param account by default that of a new stage.
 */
export const openLoginHolds = (sql: postgres.ISql, account: number = firstAccount): LoginHolds => ({
  async findHold() {
    const [row] = await inTime(sql<{ code: number; leftMs: number | null }[]>`
      select hold_code as code, (extract(epoch from hold_until - now()) * 1000)::float8 as "leftMs"
      from messaging.account
      where id = ${account} and hold_code is not null and (hold_until is null or hold_until > now())`);
    return row && { code: row.code, leftMs: row.leftMs ?? undefined };
  },
  async hold(code, forMs) {
    await inTime(sql`
      update messaging.account
      set hold_code = ${code}, hold_until = now() + ${forMs ?? null}::float8 * interval '1 millisecond'
      where id = ${account}`);
  },
  async release() {
    await inTime(sql`update messaging.account set hold_code = null, hold_until = null where id = ${account}`);
  },
});
