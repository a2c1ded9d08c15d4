import type postgres from "postgres";
import { optIn, optOut } from "#lib/notification/opt-out.ts";
import type { digestTerm } from "#lib/secrets/pepper.ts";
import { endUnwanted } from "../outbox/outcome.ts";
import type { Wish } from "./words.ts";

export type Pepper = Awaited<ReturnType<typeof digestTerm>>;

/**
 * Lists a person's numbers: the platform may have another one than the senders, such as a Brazilian one without its ninth
 * digit. Sorted, so that two commits do not deadlock.
 */
const listNumbers = async (sql: postgres.ISql, phone: string): Promise<string[]> => {
  const others = await sql<{ phone: string }[]>`
    select distinct phone from messaging.number_check
    where address = ${`${phone}@s.whatsapp.net`} and address <> phone || '@s.whatsapp.net'`;
  return [phone, ...others.map((other) => other.phone)].sort();
};

/**
 * Stores whether a person gets reminders and bulk messages, and ends those that wait for one who opts out. In the
 * transaction of its caller, who may confirm it there.
 *
 * @returns false if nothing has changed.
 */
export const setPreference = async (
  sql: postgres.ISql,
  pepper: Pepper,
  phone: string,
  wish: Wish,
): Promise<boolean> => {
  const numbers = await listNumbers(sql, phone);
  let isChanged = false;
  for (const number of numbers)
    isChanged = (await (wish === "out" ? optOut : optIn)(sql, pepper, number)) || isChanged;
  if (wish === "out") await endUnwanted(sql, numbers);
  return isChanged;
};
