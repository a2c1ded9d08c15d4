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

/** @returns false if the number had already opted out. */
export const optOut = async (sql: postgres.ISql, pepper: Pepper, phone: string): Promise<boolean> => {
  const [row] = await sql<{ isNew: boolean }[]>`
    select notification.add_opt_out(${digestOf(pepper, phone)}, ${pepper.version}) as "isNew"`;
  return row?.isNew === true;
};

/** @returns false if the number had not opted out. */
export const optIn = async (sql: postgres.ISql, pepper: Pepper, phone: string): Promise<boolean> => {
  const [row] = await sql<{ wasOut: boolean }[]>`
    select notification.remove_opt_out(${digestOf(pepper, phone)}) as "wasOut"`;
  return row?.wasOut === true;
};
