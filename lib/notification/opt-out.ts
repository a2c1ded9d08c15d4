import type postgres from "postgres";
import type { NotifyContext } from "./context.ts";

type Pepper = NotifyContext["pepper"];

export const digestOf = ({ digest }: Pepper, phone: string): Buffer => digest(phone) ?? Buffer.alloc(32);

export const listOptedOut = async (
  { sql, pepper }: Pick<NotifyContext, "sql" | "pepper">,
  phones: readonly string[],
): Promise<Set<string>> => {
  const byDigest = new Map(phones.map((phone) => [digestOf(pepper, phone).toString("hex"), phone]));
  const rows = await sql<{ digest: string }[]>`
    select encode(digest, 'hex') as digest from notification.list_opted_out(array(
      select decode(hex, 'hex') from unnest(string_to_array(${[...byDigest.keys()].join()}, ',')) hex)) digest`;
  return new Set(rows.map(({ digest }) => byDigest.get(digest) ?? ""));
};

/** Whether a number gets no reminders and no bulk messages. */
export const isOptedOut = async (sql: postgres.Sql, pepper: Pepper, phone: string): Promise<boolean> => {
  const [row] = await sql<{ isOut: boolean }[]>`
    select notification.is_opted_out(${digestOf(pepper, phone)}) as "isOut"`;
  return row?.isOut === true;
};

/** Whether a person wants no reminders and bulk messages, or wants them again. */
export type Wish = "out" | "in";

/**
 * Stores whether a person gets reminders and bulk messages, for all numbers of the person, and ends those that wait for one
 * who opts out. In the transaction of its caller.
 *
 * @returns false if nothing has changed.
 */
export const setPreference = async (
  sql: postgres.TransactionSql,
  pepper: Pepper,
  phone: string,
  wish: Wish,
): Promise<boolean> => {
  const numbers = (
    await sql<{ number: string }[]>`
    select number from messaging.list_numbers(${phone}) number`
  ).map(({ number }) => number);
  let isChanged = false;
  for (const number of numbers) {
    const digest = digestOf(pepper, number);
    const [row] = await sql<{ isNew: boolean }[]>`
      select ${wish === "out" ? sql`notification.add_opt_out(${digest}, ${pepper.version})` : sql`notification.remove_opt_out(${digest})`} as "isNew"`;
    isChanged ||= row?.isNew === true;
  }
  if (wish === "out") await sql`select messaging.end_unwanted(string_to_array(${numbers.join()}, ','))`;
  return isChanged;
};
