import type postgres from "postgres";

/** Of the automatic answer, in characters; the column has the same limit, and it fits into a form of the console. */
export const maxAnswerLength = 400;

/** @returns null if persons who write to the city's number are not answered. */
export const findAnswer = async (sql: postgres.ISql): Promise<string | null> => {
  const [row] = await sql<{ answer: string | null }[]>`select answer from messaging.control`;
  return row?.answer ?? null;
};

/** @param answer null for none. */
export const setAnswer = async (sql: postgres.ISql, answer: string | null): Promise<void> => {
  await sql`update messaging.control set answer = ${answer}`;
};

export interface Unresolved {
  /** Replies with a word such as STOP whose sender's number is unknown. */
  readonly unresolved: number;
  /** The last one. */
  readonly unresolvedAt: Date | null;
}

/** Counts those that no operator has settled; a week after the last one, none. */
export const findUnresolved = async (sql: postgres.ISql): Promise<Unresolved> => {
  const [row] = await sql<Unresolved[]>`
    select unresolved, unresolved_at as "unresolvedAt" from messaging.control
    where unresolved > 0 and unresolved_at > now() - interval '7 days'`;
  return row ?? { unresolved: 0, unresolvedAt: null };
};

export const countUnresolved = async (sql: postgres.ISql): Promise<void> => {
  await sql`
    update messaging.control set unresolved_at = now(),
      unresolved = case when unresolved_at > now() - interval '7 days' then unresolved else 0 end + 1`;
};

/** An operator has opted a number out: it may be that of such a reply. */
export const settleUnresolved = async (sql: postgres.ISql): Promise<void> => {
  await sql`update messaging.control set unresolved = unresolved - 1 where unresolved > 0`;
};

/** Records that a person is answered, or that a word is confirmed. @returns false if that was so in the last 24 hours. */
export const claimAnswer = async (sql: postgres.ISql, digest: Buffer): Promise<boolean> => {
  const claimed = await sql`
    insert into messaging.answered as held (digest) values (${digest})
    on conflict (digest) do update set at = now() where held.at <= now() - interval '24 hours'
    returning 1`;
  return claimed.length > 0;
};
