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

/** Records that a person is answered, or that a word is confirmed. @returns false if that was so in the last 24 hours. */
export const claimAnswer = async (sql: postgres.ISql, digest: Buffer): Promise<boolean> => {
  const claimed = await sql`
    insert into messaging.answered as held (digest) values (${digest})
    on conflict (digest) do update set at = now() where held.at <= now() - interval '24 hours'
    returning 1`;
  return claimed.length > 0;
};
